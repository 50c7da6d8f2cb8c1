/** The result file: one HDF5 file, written by all ranks at once.
 *
 *  One rank creates it with the HDF5 library: every group, attribute and dataset, contiguous and
 *  allocated early, under a temporary name beside the final one. From then on its metadata never
 *  changes: all ranks open the file with MPI-IO and write raw values independently at the offsets
 *  that HDF5 gave to the datasets. So a crash at any moment leaves a file that opens. */
#ifndef GM_IO_STORE_H
#define GM_IO_STORE_H

#include <mpi.h>

#include "core/layout.h"
#include "io/store_fill.h"

enum { GM_STORE_RUN_SLOTS = 32, GM_STORE_RUN_BYTES = 4096 };

/** A name and a text, stored as a string attribute of the group `provenance`. Borrowed. */
typedef struct gm_attribute {
    const char *name;
    const char *value;
} gm_attribute;

/* Names of provenance attributes that resume reads back. */
#define GM_PROVENANCE_SWEEP     "sweep"     /* the sweep file's full text */
#define GM_PROVENANCE_CANONICAL "canonical" /* gm_sweep_canonical */
#define GM_PROVENANCE_KERNEL    "kernel"    /* identity of what computes the points */

/** A result file under construction. It appears at `path` whole or not at all: built as
 *  "path.partial", filled with its variables' fill values (gm_variable.fill: this also claims the
 *  space on disk), flushed to the disk, and renamed. One rank holds it; filling is for all ranks.
 */
typedef struct gm_creation gm_creation;

/** Make path.partial with all metadata, and reserve its space. Serial.
 *  Everything follows netCDF-4 conventions: dimension scales on every axis, creation order tracked,
 *  units, long_name, _FillValue, flag_values/flag_meanings on status, Conventions = "CF-1.8".
 *  A dataset `provenance/run` [GM_STORE_RUN_SLOTS][GM_STORE_RUN_BYTES] of characters (UTF-8, NUL
 *  padded; xarray shows one text per slot) holds one JSON document per run of the program.
 *  @param attribute  provenance texts; also sets root attributes title, source (program, version)
 *  @param replace    true: an existing file at path is replaced in the end
 *  @return GM_OK; GM_E_RESULT if path exists and replace is false; GM_E_IO (no such folder, not
 *          writable, disk full: the partial file is removed); GM_E_MEMORY */
gm_status gm_store_begin(const char *path, const gm_layout *layout, const gm_attribute *attribute,
                         int n_attribute, bool replace, gm_creation **out);

/** What is to be filled (see store_fill.h). Borrowed. */
const gm_region *gm_creation_regions(const gm_creation *creation, int *n_region);

/** Every part is filled: flush, and give the file its name. Serial; takes the creation over.
 *  @return as gm_store_begin; the partial file is removed then */
gm_status gm_store_publish(gm_creation **creation);

/** Remove what was built. Takes NULL. */
void gm_store_abandon(gm_creation **creation);

/** What an existing result file says of itself, and where its data lie. */
typedef struct gm_store_header {
    int n_variable;
    int64_t *offset;    /* owned [n_variable]: byte offset of each variable of the layout; -1: a
                           checksum that files of older versions lack */
    int64_t run_offset; /* byte offset of provenance/run */
    int64_t n_point;
    uint8_t *status;                       /* owned [n_point] */
    int n_run;                             /* run slots in use */
    char *run[GM_STORE_RUN_SLOTS];         /* owned, [n_run] JSON text */
    char *canonical, *kernel, *sweep_text; /* owned */
} gm_store_header;

/** Read the header of a file. Serial, read only.
 *  @param layout  the layout expected, to find the variables' offsets; NULL: only the rest is read
 *                 (n_variable 0)
 *  @return GM_OK; GM_E_RESULT if the file is not HDF5, not ours, or does not match the layout
 *          (says which variable or dimension); GM_E_IO; GM_E_MEMORY */
gm_status gm_store_inspect(const char *path, const gm_layout *layout, gm_store_header **out);
void gm_store_header_destroy(gm_store_header **header);

/** What became of the data of the points that are done or diverged. */
typedef struct gm_store_check {
    int64_t n_point, n_checked, n_without; /* without: finished, and stored without a checksum */
    int64_t n_damaged;
    bool *damaged;        /* owned [n_point] */
    bool lost_checksums;  /* the file was made with checksums of its points and has none */
    bool has_coordinates; /* the file has checksums of its coordinates */
    char *changed;        /* owned; names of coordinates that are not what they were; NULL: none */
    int n_dim;            /* of the points */
    int64_t extent[32];
} gm_store_check;

/** Compare the data of every finished point with its checksum. Serial, read only; reads all of it.
 *  @return as gm_store_inspect; GM_OK also when points are damaged */
gm_status gm_store_verify(const char *path, gm_store_check *out);
void gm_store_check_clear(gm_store_check *check);

/** Make every call of the HDF5 library that inspecting or verifying a file can make, to see whether
 *  the library survives it (io/probe.h). What is wrong with the file is of no interest here. */
void gm_store_try(const char *path);

/** An open result file on one rank. */
typedef struct gm_store gm_store;

/** Collective over comm: open the file for writing.
 *  @param layout, offset, run_offset  the same on all ranks; borrowed until close, copied if small
 */
gm_status gm_store_open(MPI_Comm comm, const char *path, const gm_layout *layout,
                        const int64_t *offset, int64_t run_offset, gm_store **out);

/** Write part of the rows of consecutive points of one variable. Not collective.
 *  Bytes [row_begin, row_begin + n_byte) of each of n_point rows starting at point;
 *  host row k starts at value + k * stride. Rows that are contiguous on both sides are merged;
 *  a single MPI-IO call never moves 1 GiB or more. A variable that the file lacks is left out.
 *  @return GM_OK; GM_E_IO with path, variable and cause (space, quota, ...) */
gm_status gm_store_write(gm_store *store, int variable, int64_t point, int64_t n_point,
                         int64_t row_begin, int64_t n_byte, const void *value, int64_t stride);

/** The checksum (io/checksum.h) of the first n_byte bytes of a point's row, read back from the
 * file. Not collective.
 *  @return GM_OK; GM_E_IO; GM_E_MEMORY */
gm_status gm_store_sum(gm_store *store, int variable, int64_t point, int64_t n_byte, uint32_t *sum);

/** Write one run slot: text is cut to GM_STORE_RUN_BYTES - 1. Not collective. */
gm_status gm_store_write_run(gm_store *store, int slot, const char *text);

/** Wait until everything this rank has written is on the disk. Not collective. */
gm_status gm_store_sync(gm_store *store);

/** Collective. Takes NULL. The first failure of closing is returned. */
gm_status gm_store_close(gm_store **store);

/** Free bytes for an unprivileged user on the file system that will hold path.
 *  @return GM_E_IO when the folder does not exist or is not writable */
gm_status gm_store_free_space(const char *path, int64_t *n_byte);

/** Bytes a process has handed to MPI-IO, and the seconds that it spent there and on waiting for the
 *  disk, since open. */
void gm_store_usage(const gm_store *store, int64_t *n_byte, double *seconds);

/** Version of the HDF5 library in use, as "1.10.8". @return text */
const char *gm_store_library(char text[32]);

#endif
