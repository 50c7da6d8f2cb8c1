#include "core/problems.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, MAX_SHOWN = 50, MAX_WORD = 63 };

struct gm_problems {
    int n;      /* found */
    int n_kept; /* with their text */
    char *text[MAX_SHOWN];
};

gm_status gm_problems_create(gm_problems **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? GM_OK : GM_FAIL(GM_E_MEMORY, "out of memory");
}

void gm_problems_destroy(gm_problems **problems)
{
    if (!*problems) return;
    for (int i = 0; i < (*problems)->n_kept; i++) free((*problems)->text[i]);
    free(*problems);
    *problems = NULL;
}

static size_t put_place(char *line, size_t size, gm_place place)
{
    int n = 0;
    if (place.file && place.line > 0 && place.column > 0)
        n = snprintf(line, size, "%s:%d:%d: ", place.file, place.line, place.column);
    else if (place.file && place.line > 0)
        n = snprintf(line, size, "%s:%d: ", place.file, place.line);
    else if (place.file)
        n = snprintf(line, size, "%s: ", place.file);
    if (n < 0) n = 0;
    return (size_t)n < size ? (size_t)n : size - 1;
}

void gm_problems_add(gm_problems *problems, gm_place place, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    problems->n++;
    if (problems->n_kept == MAX_SHOWN) return;
    size_t used = put_place(line, sizeof line, place);
    va_start(args, format);
    vsnprintf(line + used, sizeof line - used, format, args);
    va_end(args);
    char *copy = strdup(line);
    if (copy) problems->text[problems->n_kept++] = copy;
}

int gm_problems_count(const gm_problems *problems)
{
    return problems->n;
}

const char *gm_problems_text(const gm_problems *problems, int i)
{
    return i >= 0 && i < problems->n_kept ? problems->text[i] : "(not kept)";
}

gm_status gm_problems_status(const gm_problems *problems)
{
    char all[4096];
    size_t used = 0;
    if (problems->n == 0) return GM_OK;
    all[0] = '\0';
    int shown = 0;
    for (; shown < problems->n_kept; shown++) {
        const char *text = problems->text[shown];
        if (used + strlen(text) + 64 > sizeof all) break;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", shown ? "\n" : "", text);
    }
    if (shown < problems->n)
        snprintf(all + used, sizeof all - used, "\n... and %d more", problems->n - shown);
    return GM_FAIL(GM_E_INPUT, "%s", all);
}

/* Edit distance that counts a swap of neighbours as one change. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][MAX_WORD + 1];
    int n_a = (int)strlen(a);
    int n_b = (int)strlen(b);
    for (int j = 0; j <= n_b; j++) row[0][j] = j;
    for (int i = 1; i <= n_a; i++) {
        int *now = row[i % 3];
        const int *before = row[(i - 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n_b; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = before[j - 1] + !same;
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                row[(i - 2) % 3][j - 2] + 1 < best)
                best = row[(i - 2) % 3][j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n_a % 3][n_b];
}

const char *gm_nearest_name(const char *word, const char *const *candidate, int n_candidate)
{
    size_t length = strlen(word);
    if (length == 0 || length > MAX_WORD) return NULL;
    int limit = (int)(length + 2) / 3;
    const char *nearest = NULL;
    for (int i = 0; i < n_candidate; i++) {
        if (strlen(candidate[i]) > MAX_WORD) continue;
        int distance = edit_distance(word, candidate[i]);
        if (distance > limit) continue;
        nearest = candidate[i];
        limit = distance - 1;
        if (limit < 0) break;
    }
    return nearest;
}
