/** What a result file holds: its dimensions and variables, derived from the sweep alone. */
#ifndef GM_CORE_LAYOUT_H
#define GM_CORE_LAYOUT_H

#include "core/data.h"
#include "core/sweep.h"

typedef enum { GM_TYPE_F32, GM_TYPE_F64, GM_TYPE_U8, GM_TYPE_I64 } gm_type;
int64_t gm_type_size(gm_type type);

/** A coordinate of the file: numbers or text. All strings and arrays are owned by the layout. */
typedef struct gm_coordinate {
    char *name;
    char *unit; /* NULL for text */
    char *long_name;
    int64_t n;
    double *value;     /* owned [n]; NULL if text */
    char **text;       /* owned [n]; NULL if numbers */
    bool is_integer;   /* numbers: stored as int64 */
    bool is_dimension; /* false: a coordinate along `point` (zip designs) */
} gm_coordinate;

/** A variable. Its dimensions are those of the points, then time (has_time), then node
 * (has_node).*/
typedef struct gm_variable {
    char *name; /* "E_mean", "E" for a trajectory, "status" */
    char *unit;
    char *long_name;
    gm_type type;
    double fill; /* NaN for floating types */
    bool has_time, has_node;
    int64_t row_bytes;        /* bytes of one point */
    gm_observable observable; /* meaningful when quantity >= 0 */
    int quantity;             /* states, then derived; -1: bookkeeping (status, failed_step, ...) */
} gm_variable;

/* Values of the variable `status` (the ledger). X(enumerator, value, CF flag meaning) */
#define GM_POINT_STATUS_LIST(X)                                                                    \
    X(GM_POINT_PENDING, 0, "pending")                                                              \
    X(GM_POINT_DONE, 1, "done")                                                                    \
    X(GM_POINT_DIVERGED, 2, "diverged")                                                            \
    X(GM_POINT_FAILED, 3, "failed")

typedef enum gm_point_status {
#define X(id, value, name) id = value,
    GM_POINT_STATUS_LIST(X)
#undef X
} gm_point_status;

typedef struct gm_layout {
    int n_point_dim;           /* grid: one per axis (0 axes: one dimension "point"); zip: 1 */
    int n_coordinate;          /* the first n_point_dim + has_time + has_node are dimensions */
    gm_coordinate *coordinate; /* owned; point dimensions, then time, then node, then the rest */
    int time_dim, node_dim;    /* index into coordinate, or -1 */
    int n_variable;
    gm_variable *variable;        /* owned; recorded ones first, then bookkeeping: */
    int status, failed_step, run; /* indices into variable */
    int checksum; /* index into variable; of recorded ones and failed_step; -1: none */
    int64_t n_point, n_sample, n_node;
    int64_t n_byte; /* of all variables together */
} gm_layout;

gm_status gm_layout_create(const gm_sweep *sweep, const gm_data *data, gm_layout **out);
void gm_layout_destroy(gm_layout **layout);

#endif
