/** Lines and fields of text files, as tables and labels need them: any newline, byte order marks,
 *  comments, and numbers that do not depend on the locale. */
#include "io/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

gm_status gm_text_check(const gm_bytes *bytes, const char *path, gm_problems *problems)
{
    const char *kind = "not a text file (it holds NUL bytes)";
    const char *text = bytes->byte;
    if (!memchr(text, '\0', (size_t)bytes->n)) return GM_OK;
    if (strncmp(text, "\xff\xfe", 2) == 0 || strncmp(text, "\xfe\xff", 2) == 0)
        kind = "text in UTF-16; save it as UTF-8 or ASCII";
    else if (strncmp(text, "PK\x03\x04", 4) == 0)
        kind = "a zip archive (.npz, .xlsx, ...); save the table alone, as .npy or CSV";
    else if (strncmp(text, "MATLAB 5", 8) == 0)
        kind = "a MATLAB file of version 5; save it with '-v7.3' or as CSV";
    gm_problems_add(problems, (gm_place){path, 0, 0}, "this is %s", kind);
    return GM_E_INPUT;
}

bool gm_line_next(gm_line *line, bool end_comment)
{
    if (line->number == 0 && strncmp(line->next, "\xef\xbb\xbf", 3) == 0) line->next += 3;
    while (*line->next) {
        const char *begin = line->next;
        const char *end = begin + strcspn(begin, "\n");
        line->next = *end ? end + 1 : end;
        if (line->number < INT_MAX) line->number++;
        while (begin < end && is_blank(*begin)) begin++;
        const char *comment = memchr(begin, '#', (size_t)(end - begin));
        if (comment && (end_comment || comment == begin)) end = comment;
        while (end > begin && (is_blank(end[-1]) || end[-1] == ',')) end--;
        line->begin = begin;
        line->end = end;
        if (begin < end) return true;
    }
    return false;
}

const char *gm_field_next(const gm_line *line, const char *at, const char **begin, const char **end)
{
    if (at >= line->end) return NULL;
    while (is_blank(*at)) at++; /* a line ends in no blank */
    *begin = at;
    while (at < line->end && !is_blank(*at) && *at != ',') at++;
    *end = at;
    while (at < line->end && is_blank(*at)) at++;
    if (at < line->end && *at == ',') at++;
    return at;
}

bool gm_field_number(const char *begin, const char *end, locale_t plain, double *value)
{
    char *stop;
    if (begin == end) return false;
    *value = strtod_l(begin, &stop, plain);
    return stop == end;
}

void gm_field_show(const char *begin, const char *end, char *text, size_t size)
{
    size_t n = (size_t)(end - begin);
    if (n > size - 1) {
        n = size - 1;
        while (n > 0 && ((unsigned char)begin[n] & 0xc0) == 0x80) n--;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)begin[i];
        text[i] = c < 0x20 || c == 0x7f ? '?' : begin[i];
    }
    text[n] = '\0';
}
