/** What the readers of tables and labels share: a file's bytes, lines and fields, and the formats.
 */
#ifndef GM_IO_TABLE_H
#define GM_IO_TABLE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "io/reader.h"

/** A regular file in memory. */
typedef struct gm_bytes {
    char *byte; /* owned [n + 1], a NUL at the end */
    int64_t n;
} gm_bytes;

typedef enum { GM_FORMAT_TEXT, GM_FORMAT_NPY, GM_FORMAT_HDF5 } gm_format;

/** Open a file for reading, only if it is a regular one, and look at its first bytes.
 *  @param named  where the sweep names it, for a file that cannot be opened
 *  @return GM_OK with *fd to close by the caller; GM_E_INPUT with a problem added */
gm_status gm_file_open(gm_place named, const char *path, gm_problems *problems, int *fd,
                       gm_format *format);

/** Read all of an open file. Free with gm_bytes_clear.
 *  @return GM_OK; GM_E_INPUT with a problem added; GM_E_MEMORY */
gm_status gm_file_load(int fd, const char *path, gm_problems *problems, gm_bytes *out);
void gm_bytes_clear(gm_bytes *bytes);

/** Open and load a file that has to be text: the two above, and gm_text_check. */
gm_status gm_text_load(gm_place named, const char *path, gm_problems *problems, gm_bytes *out);

/** Text that no reader can take is a problem: NUL bytes (UTF-16, archives, binary files). */
gm_status gm_text_check(const gm_bytes *bytes, const char *path, gm_problems *problems);

/** The lines of a text. Start from {.next = text}, which gm_line_next moves on. */
typedef struct gm_line {
    const char *next;
    const char *begin, *end; /* without comment, newline, and blanks or commas at the end */
    int number;              /* counts from 1 */
} gm_line;

/** Move to the next line that is not blank, false at the end of the text.
 *  @param end_comment  true: '#' starts a comment anywhere; false: only as a line's first sign */
bool gm_line_next(gm_line *line, bool end_comment);

/** The next field of a line of numbers, separated by one comma, blanks, or both.
 *  Start from at = line->begin; returns the place to go on from, or NULL after the last field. */
const char *gm_field_next(const gm_line *line, const char *at, const char **begin,
                          const char **end);

/** True if the field as a whole is a number, "nan" or "inf". plain: a "C" locale. */
bool gm_field_number(const char *begin, const char *end, locale_t plain, double *value);

/** A field for a message: at most size - 1 bytes, whole signs, control characters as '?'. */
void gm_field_show(const char *begin, const char *end, char *text, size_t size);

/** The formats. Each returns GM_OK with *out owned by the caller, GM_E_INPUT with problems added,
 *  or GM_E_MEMORY. dataset NULL: the file's only one. */
gm_status gm_table_read_text(const char *path, const gm_bytes *bytes, gm_problems *problems,
                             gm_table *out);
gm_status gm_table_read_npy(const char *path, const gm_bytes *bytes, gm_problems *problems,
                            gm_table *out);
gm_status gm_table_read_hdf5(gm_place named, const char *path, int64_t n_byte, const char *dataset,
                             gm_problems *problems, gm_table *out);

/** Labels: one per line, or all on one line with commas between. In UTF-8, each of them once.
 *  @param n  how many there have to be; < 0: any number
 *  @param[out] label  owned by the caller, free with gm_labels_destroy */
gm_status gm_read_labels(gm_place named, const char *path, int64_t n, gm_problems *problems,
                         char ***label);

/** As gm_read_labels, from the centres of a TVB folder: label, x, y, z in each line. */
gm_status gm_read_centres(gm_place named, const char *path, int64_t n, gm_problems *problems,
                          char ***label);
void gm_labels_destroy(char ***label, int64_t n);

#endif
