#include "store_coordinates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"

/* Of values as the file holds them: whole numbers as int64, others as double. */
static uint32_t sum_of(const gm_coordinate *c)
{
    uint32_t sum = 0;
    if (!c->is_integer) return gm_checksum_add(sum, c->value, c->n * (int64_t)sizeof *c->value);
    for (int64_t i = 0; i < c->n; i++) {
        const int64_t whole = (int64_t)c->value[i];
        sum = gm_checksum_add(sum, &whole, sizeof whole);
    }
    return sum;
}

gm_status gm_coordinates_describe(const gm_layout *layout, char **text)
{
    size_t n_byte = 0;
    *text = NULL;
    FILE *out = open_memstream(text, &n_byte);
    for (int i = 0; out && i < layout->n_coordinate; i++) {
        const gm_coordinate *c = &layout->coordinate[i];
        if (!c->text)
            fprintf(out, "%s%s=%08x", ftell(out) > 0 ? " " : "", c->name, (unsigned)sum_of(c));
    }
    if (out && fclose(out) == 0) return GM_OK;
    free(*text);
    *text = NULL;
    return GM_FAIL(GM_E_MEMORY, "not enough memory for the checksums of the coordinates");
}

static gm_status sum_stored(const gm_inspection *in, const char *name, uint32_t *sum)
{
    enum { PIECE_BYTES = 1 << 20 };
    gm_status st = GM_OK;
    gm_found found;
    char *piece = malloc(PIECE_BYTES);
    *sum = 0;
    if (!piece) return GM_FAIL(GM_E_MEMORY, "not enough memory to verify '%s'", in->path);
    GM_TRY(st, gm_find_dataset(in, in->file, name, H5I_INVALID_HID, &found));
    const int64_t n_byte = in->is_trial ? 0 : found.n_element * found.size;
    for (int64_t done = 0, n = 0; done < n_byte; done += n) {
        n = n_byte - done < PIECE_BYTES ? n_byte - done : PIECE_BYTES;
        GM_TRY(st, gm_find_read(in, found.offset + done, n, piece));
        *sum = gm_checksum_add(*sum, piece, n);
    }
cleanup:
    free(piece);
    return st;
}

static gm_status add_name(char **names, const char *name)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *names ? *names : "", *names ? " " : "", name) < 0)
        return GM_FAIL(GM_E_MEMORY, "not enough memory for names of coordinates");
    free(*names);
    *names = longer;
    return GM_OK;
}

gm_status gm_coordinates_check(const gm_inspection *in, bool *known, char **changed)
{
    gm_status st = GM_OK;
    char *text = NULL, *names = NULL, *rest = NULL;
    *changed = NULL;
    *known = H5Aexists(in->group, GM_STORE_COORDINATES) > 0;
    if (!*known) return GM_OK;
    GM_TRY(st, gm_find_text(in, in->group, GM_STORE_COORDINATES, &text));
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        uint32_t sum = 0;
        char *stored = strrchr(name, '=');
        char *end = NULL;
        if (stored) *stored++ = '\0';
        const unsigned long long wanted = stored ? strtoull(stored, &end, 16) : 0;
        if (!stored || end == stored || *end != '\0') {
            st = GM_FAIL(GM_E_RESULT, "'%s': attribute '%s' is not a list of checksums", in->path,
                         GM_STORE_COORDINATES);
            goto cleanup;
        }
        GM_TRY(st, sum_stored(in, name, &sum));
        if (sum != wanted) GM_TRY(st, add_name(&names, name));
    }
    *changed = names, names = NULL;
cleanup:
    free(names);
    free(text);
    return st;
}
