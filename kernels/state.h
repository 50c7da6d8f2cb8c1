/** A point's state between two chunks as one record of bytes, the same for every engine: what the
 *  next step needs, and statistics so far.
 *
 *  A record is a sequence of parts, each an array [row][node] of one of the engine's arrays. */
#ifndef GM_KERNELS_STATE_H
#define GM_KERNELS_STATE_H

#include "core/data.h"

/* X(enumerator, what the engine keeps). Parts with the larger elements come first. */
#define GM_PART_LIST(X)                                                                            \
    X(GM_PART_FAILED) /* int64: first step not finite, -1: none */                                 \
    X(GM_PART_SUM)    /* double: of the distances from the first recorded value */                 \
    X(GM_PART_SQUARE) /* double: of their squares */                                               \
    X(GM_PART_X)      /* real: states */                                                           \
    X(GM_PART_FIRST)  /* real: first recorded value */                                             \
    X(GM_PART_LOW)    /* real */                                                                   \
    X(GM_PART_HIGH)   /* real */

typedef enum gm_part_name {
#define X(id) id,
    GM_PART_LIST(X)
#undef X
        GM_N_PART
} gm_part_name;

typedef struct gm_part {
    uint32_t rows; /* rows of the engine's array that it holds, a bit each; 0: none */
    int64_t n_node;
    int64_t size;   /* bytes of an element */
    int64_t offset; /* in the record */
} gm_part;

/** How a record of the sweep is made. @return its bytes, a multiple of 8 */
int64_t gm_state_parts(const gm_sweep *sweep, const gm_data *data, gm_part part[GM_N_PART]);

/** An array of an engine: element (row, node, column) lies at (row * n_node + node) * stride +
 * column. */
typedef struct gm_columns {
    void *array;
    int64_t stride, begin; /* begin: column of the first point */
} gm_columns;

/** Gather a part of consecutive points into their records, which lie `stride` bytes apart. */
void gm_state_gather(const gm_part *part, gm_columns from, int64_t n_point, void *record,
                     int64_t stride);

/** The other way round. */
void gm_state_scatter(const gm_part *part, gm_columns to, int64_t n_point, const void *record,
                      int64_t stride);

#endif
