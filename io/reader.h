/** Readers for matrices, signals, per-node values and labels. Serial; called on one rank.
 *
 *  A fault in a file is added to the problems with the file's own name and, for text, the line and
 *  column (column: the number of the field); a file that cannot be opened is reported at the place
 *  in the sweep file that names it. Values are returned as double. */
#ifndef GM_IO_READER_H
#define GM_IO_READER_H

#include "core/data.h"
#include "core/problems.h"

/** A table read from a file. */
typedef struct gm_table {
    int64_t n_row, n_column;
    double *value; /* owned [n_row][n_column] */
} gm_table;

/** Read a table by its content and ending: .npy (1-D or 2-D, float or integer, either order),
 *  .h5/.hdf5/.nc (dataset, 1-D or 2-D), else text: CSV or white space, '#' comments, blank lines
 *  skipped, one optional header line. 1-D arrays become one column.
 *  @param sweep_path  sweep file, for the place of an unreadable path
 *  @param dataset     HDF5 only, else NULL
 *  @param[out] out    free with gm_table_clear; untouched on failure
 *  @return GM_OK; GM_E_INPUT with problems added; GM_E_MEMORY */
gm_status gm_read_table(const char *sweep_path, const gm_source *source, const char *dataset,
                        gm_problems *problems, gm_table *out);
void gm_table_clear(gm_table *table);

/** Read everything a sweep names into a new gm_data: network (matrix or TVB folder, prepared with
 *  gm_network_prepare), labels, per-node values, inputs; then gm_data_check.
 *  @return GM_OK; GM_E_INPUT with all problems added; GM_E_MEMORY */
gm_status gm_read_data(const gm_sweep *sweep, gm_problems *problems, gm_data **out);

#endif
