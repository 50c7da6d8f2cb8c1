/** Names of the nodes: from a file of labels, or from the centres of a TVB folder. */
#include "io/table.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_SIZE = 41 };

/** A label and where it stands. */
typedef struct entry {
    char *text; /* owned */
    int line;
    int column; /* field; 0: the only one of its line */
} entry;

/** Labels as they are found. */
typedef struct list {
    const char *path;
    gm_problems *problems;
    entry *item; /* owned [n_allocated] */
    int64_t n, n_allocated;
    int n_fault;
} list;

static void list_clear(list *labels)
{
    for (int64_t i = 0; i < labels->n; i++) free(labels->item[i].text);
    free(labels->item);
    labels->item = NULL;
}

void gm_labels_destroy(char ***label, int64_t n)
{
    if (!*label) return;
    for (int64_t i = 0; i < n; i++) free((*label)[i]);
    free(*label);
    *label = NULL;
}

/* True for well-formed UTF-8 without control characters. */
static bool is_clean(const char *begin, const char *end)
{
    const unsigned char *c = (const unsigned char *)begin;
    const unsigned char *last = (const unsigned char *)end;
    while (c < last) {
        int more = *c < 0x80   ? 0
                   : *c < 0xc2 ? -1
                   : *c < 0xe0 ? 1
                   : *c < 0xf0 ? 2
                   : *c < 0xf5 ? 3
                               : -1;
        if (more < 0 || *c < 0x20 || *c == 0x7f || last - c <= more) return false;
        if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
            (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
            return false;
        for (int k = 1; k <= more; k++)
            if ((c[k] & 0xc0) != 0x80) return false;
        c += more + 1;
    }
    return true;
}

static gm_status add(list *to, const char *begin, const char *end, int line, int column)
{
    gm_place place = {to->path, line, column};
    if (begin == end || !is_clean(begin, end)) {
        if (to->n_fault++ == 0)
            gm_problems_add(to->problems, place,
                            begin == end ? "empty label" : "label is not plain text in UTF-8");
        return GM_OK;
    }
    if (to->n == to->n_allocated) {
        int64_t n = to->n_allocated ? 2 * to->n_allocated : 256;
        entry *grown = realloc(to->item, (size_t)n * sizeof *grown);
        if (!grown) return GM_FAIL(GM_E_MEMORY, "out of memory");
        to->item = grown;
        to->n_allocated = n;
    }
    char *text = strndup(begin, (size_t)(end - begin));
    if (!text) return GM_FAIL(GM_E_MEMORY, "out of memory");
    to->item[to->n++] = (entry){text, line, column};
    return GM_OK;
}

/* The next label of a line: up to a comma outside double quotes; quotes and blanks around it do
 * not belong to it. Returns the place to go on from, or NULL after the last. */
static const char *next_label(const gm_line *line, const char *at, const char **begin,
                              const char **end)
{
    bool quoted = false;
    if (at > line->end) return NULL;
    const char *stop = at;
    for (; stop < line->end && (quoted || *stop != ','); stop++) quoted ^= *stop == '"';
    const char *next = stop + 1;
    while (at < stop && (*at == ' ' || *at == '\t')) at++;
    while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
    if (stop - at >= 2 && *at == '"' && stop[-1] == '"') at++, stop--;
    *begin = at;
    *end = stop;
    return next;
}

static gm_status add_label_line(list *to, const gm_line *line, bool only_line)
{
    gm_status st = GM_OK;
    const char *begin = NULL;
    const char *end = NULL;
    const char *next = next_label(line, line->begin, &begin, &end);
    bool several = next <= line->end;
    if (several && !only_line) {
        if (to->n_fault++ == 0)
            gm_problems_add(to->problems, (gm_place){to->path, line->number, 0},
                            "a comma between labels; allowed are one label per line, or all "
                            "labels on a single line");
        return GM_OK;
    }
    for (int column = 1; next; column++) {
        GM_TRY(st, add(to, begin, end, line->number, several ? column : 0));
        next = next_label(line, next, &begin, &end);
    }
cleanup:
    return st;
}

static gm_status add_label_lines(list *to, const char *text)
{
    gm_status st = GM_OK;
    gm_line line = {.next = text};
    bool more = gm_line_next(&line, false);
    bool first = true;
    while (more) {
        gm_line now = line;
        more = gm_line_next(&line, false);
        GM_TRY(st, add_label_line(to, &now, first && !more));
        first = false;
    }
cleanup:
    return st;
}

static gm_status add_centre_lines(list *to, const char *text)
{
    gm_status st = GM_OK;
    gm_line line = {.next = text};
    locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);
    if (!plain) return GM_FAIL(GM_E_MEMORY, "out of memory");
    while (gm_line_next(&line, false)) {
        const char *begin[4] = {0};
        const char *end[4] = {0};
        const char *at = line.begin;
        double value;
        int n = 0;
        while (n < 4 && (at = gm_field_next(&line, at, &begin[n], &end[n]))) n++;
        bool good = n == 4 && at >= line.end;
        for (int k = 1; good && k < 4; k++) good = gm_field_number(begin[k], end[k], plain, &value);
        if (good)
            GM_TRY(st, add(to, begin[0], end[0], line.number, 1));
        else if (to->n_fault++ == 0)
            gm_problems_add(to->problems, (gm_place){to->path, line.number, 0},
                            "expected a label and three numbers (x, y, z)");
    }
cleanup:
    freelocale(plain);
    return st;
}

static int by_text(const void *a, const void *b)
{
    const entry *x = *(const entry *const *)a;
    const entry *y = *(const entry *const *)b;
    int order = strcmp(x->text, y->text);
    if (order != 0) return order;
    return x < y ? -1 : x > y;
}

static gm_status check_unique(list *labels)
{
    char shown[SHOWN_SIZE];
    const entry **sorted = malloc((size_t)(labels->n + 1) * sizeof *sorted);
    if (!sorted) return GM_FAIL(GM_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < labels->n; i++) sorted[i] = &labels->item[i];
    qsort(sorted, (size_t)labels->n, sizeof *sorted, by_text);
    for (int64_t i = 1; i < labels->n; i++) {
        const entry *now = sorted[i];
        const entry *before = sorted[i - 1];
        if (strcmp(now->text, before->text) != 0) continue;
        labels->n_fault++;
        gm_field_show(now->text, now->text + strlen(now->text), shown, sizeof shown);
        gm_place place = {labels->path, now->line, now->column};
        if (now->line == before->line)
            gm_problems_add(labels->problems, place, "label '%s' is also field %d", shown,
                            before->column);
        else
            gm_problems_add(labels->problems, place, "label '%s' also stands in line %d", shown,
                            before->line);
    }
    free(sorted);
    return GM_OK;
}

static gm_status hand_over(list *labels, char ***label)
{
    char **text = malloc((size_t)(labels->n + 1) * sizeof *text);
    if (!text) return GM_FAIL(GM_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < labels->n; i++) text[i] = labels->item[i].text;
    labels->n = 0;
    *label = text;
    return GM_OK;
}

static gm_status read_names(gm_place named, const char *path, int64_t n, bool is_centres,
                            gm_problems *problems, char ***label)
{
    gm_status st = GM_OK;
    gm_bytes bytes = {0};
    list labels = {.path = path, .problems = problems};
    GM_TRY(st, gm_text_load(named, path, problems, &bytes));
    if (is_centres)
        GM_TRY(st, add_centre_lines(&labels, bytes.byte));
    else
        GM_TRY(st, add_label_lines(&labels, bytes.byte));
    if (labels.n_fault == 0 && n >= 0 && labels.n != n) {
        labels.n_fault++;
        gm_problems_add(problems, named, "'%s' holds %lld label%s for %lld node%s", path,
                        (long long)labels.n, labels.n == 1 ? "" : "s", (long long)n,
                        n == 1 ? "" : "s");
    }
    GM_TRY(st, check_unique(&labels));
    if (labels.n_fault > 0)
        st = GM_E_INPUT;
    else if (n >= 0)
        GM_TRY(st, hand_over(&labels, label));
cleanup:
    list_clear(&labels);
    gm_bytes_clear(&bytes);
    return st;
}

gm_status gm_read_labels(gm_place named, const char *path, int64_t n, gm_problems *problems,
                         char ***label)
{
    return read_names(named, path, n, false, problems, label);
}

gm_status gm_read_centres(gm_place named, const char *path, int64_t n, gm_problems *problems,
                          char ***label)
{
    return read_names(named, path, n, true, problems, label);
}
