/** Tables as text: CSV or white space, '#' comments, one optional header line. */
#include "io/table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FAULTS = 5, SHOWN_SIZE = 41 };

/** A table as it grows line by line. */
typedef struct builder {
    const char *path;
    gm_problems *problems;
    locale_t plain; /* the "C" locale */
    double *value;  /* owned [n_allocated] */
    int64_t n_value, n_allocated;
    int64_t n_row, n_column; /* n_column 0: no row yet */
    int first_line;          /* the line that fixed n_column */
    int n_fault;
} builder;

static bool is_header(const builder *to, const gm_line *line)
{
    const char *begin = NULL;
    const char *end = NULL;
    double value;
    const char *at = line->begin;
    while ((at = gm_field_next(line, at, &begin, &end)))
        if (gm_field_number(begin, end, to->plain, &value)) return false;
    return true;
}

static gm_status push(builder *to, double value)
{
    if (to->n_value == to->n_allocated) {
        int64_t n = to->n_allocated ? 2 * to->n_allocated : 1024;
        double *grown = realloc(to->value, (size_t)n * sizeof *grown);
        if (!grown)
            return GM_FAIL(GM_E_MEMORY, "not enough memory for '%s' (%lld numbers)", to->path,
                           (long long)n);
        to->value = grown;
        to->n_allocated = n;
    }
    to->value[to->n_value++] = value;
    return GM_OK;
}

static void report_field(builder *to, int line, int64_t column, const char *begin, const char *end)
{
    char shown[SHOWN_SIZE];
    gm_place place = {to->path, line, (int)column};
    to->n_fault++;
    if (begin == end) {
        gm_problems_add(to->problems, place, "empty field, expected a number");
        return;
    }
    gm_field_show(begin, end, shown, sizeof shown);
    const char *hint = memchr(begin, ';', (size_t)(end - begin))
                           ? " (fields are separated by commas or blanks, decimals by a point)"
                           : "";
    gm_problems_add(to->problems, place, "'%s' is not a number%s", shown, hint);
}

static gm_status add_row(builder *to, const gm_line *line)
{
    gm_status st = GM_OK;
    const char *begin = NULL;
    const char *end = NULL;
    const char *at = line->begin;
    int64_t n = 0;
    double value = 0;
    while ((at = gm_field_next(line, at, &begin, &end))) {
        n++;
        if (!gm_field_number(begin, end, to->plain, &value)) {
            if (to->n_fault < MAX_FAULTS) report_field(to, line->number, n, begin, end);
            value = 0;
        }
        GM_TRY(st, push(to, value));
    }
    if (to->n_row++ == 0) {
        to->n_column = n;
        to->first_line = line->number;
    }
    if (n != to->n_column && to->n_fault++ < MAX_FAULTS)
        gm_problems_add(to->problems, (gm_place){to->path, line->number, 0},
                        "%lld field%s, expected %lld as in line %d", (long long)n,
                        n == 1 ? "" : "s", (long long)to->n_column, to->first_line);
cleanup:
    return st;
}

static gm_status add_all(builder *to, const char *text)
{
    gm_status st = GM_OK;
    gm_line line = {.next = text};
    bool first = true;
    while (to->n_fault < MAX_FAULTS && gm_line_next(&line, true)) {
        bool skip = first && is_header(to, &line);
        first = false;
        if (!skip) GM_TRY(st, add_row(to, &line));
    }
    if (to->n_fault > 0) return GM_E_INPUT;
    if (to->n_value == 0) {
        gm_problems_add(to->problems, (gm_place){to->path, 0, 0}, "holds no numbers");
        return GM_E_INPUT;
    }
cleanup:
    return st;
}

gm_status gm_table_read_text(const char *path, const gm_bytes *bytes, gm_problems *problems,
                             gm_table *out)
{
    gm_status st = GM_OK;
    builder to = {.path = path, .problems = problems};
    GM_TRY(st, gm_text_check(bytes, path, problems));
    to.plain = newlocale(LC_ALL_MASK, "C", NULL);
    if (!to.plain) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    GM_TRY(st, add_all(&to, bytes->byte));
    double *fitting = realloc(to.value, (size_t)to.n_value * sizeof *fitting);
    if (fitting) to.value = fitting;
    *out = (gm_table){to.n_row, to.n_column, to.value};
    to.value = NULL;
cleanup:
    free(to.value);
    if (to.plain) freelocale(to.plain);
    return st;
}
