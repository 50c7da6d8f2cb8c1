#include "kernels/state.h"

#include <string.h>

#include "kernels/backend.h"
#include "kernels/shape.h"

int64_t gm_state_parts(const gm_sweep *sweep, const gm_data *data, gm_part part[GM_N_PART])
{
    const int64_t real = gm_real_size(sweep);
    const uint32_t states = (UINT32_C(1) << sweep->model->n_state) - 1;
    const uint32_t statistics = gm_statistics_mask(sweep);
    int64_t n_byte = 0;
    for (int i = 0; i < GM_N_PART; i++) {
        gm_part *p = &part[i];
        p->rows = i == GM_PART_FAILED ? 1 : i == GM_PART_X ? states : statistics;
        p->n_node = i == GM_PART_FAILED ? 1 : data->n_node;
        p->size = i < GM_PART_X ? 8 : real;
        p->offset = n_byte;
        n_byte += __builtin_popcount(p->rows) * p->n_node * p->size;
    }
    return (n_byte + 7) / 8 * 8;
}

int64_t gm_state_bytes(const gm_sweep *sweep, const gm_data *data)
{
    gm_part part[GM_N_PART];
    return gm_state_parts(sweep, data, part);
}

/* Elements of 4 or 8 bytes from stride to stride. */
static void copy_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                         int64_t n, int64_t size)
{
    for (int64_t i = 0; i < n && size == 4; i++)
        memcpy(to + i * to_stride, from + i * from_stride, 4);
    for (int64_t i = 0; i < n && size == 8; i++)
        memcpy(to + i * to_stride, from + i * from_stride, 8);
}

/* Where element (row, node) of the first point lies in the engine's array. */
static int64_t column_at(const gm_part *part, const gm_columns *columns, int row, int64_t node)
{
    return ((row * part->n_node + node) * columns->stride + columns->begin) * part->size;
}

void gm_state_gather(const gm_part *part, gm_columns from, int64_t n_point, void *record,
                     int64_t stride)
{
    char *to = (char *)record + part->offset;
    for (int row = 0; row < GM_MAX_QUANTITY; row++) {
        if (!(part->rows >> row & 1)) continue;
        for (int64_t node = 0; node < part->n_node; node++, to += part->size)
            copy_strided(to, stride, (char *)from.array + column_at(part, &from, row, node),
                         part->size, n_point, part->size);
    }
}

void gm_state_scatter(const gm_part *part, gm_columns to, int64_t n_point, const void *record,
                      int64_t stride)
{
    const char *from = (const char *)record + part->offset;
    for (int row = 0; row < GM_MAX_QUANTITY; row++) {
        if (!(part->rows >> row & 1)) continue;
        for (int64_t node = 0; node < part->n_node; node++, from += part->size)
            copy_strided((char *)to.array + column_at(part, &to, row, node), part->size, from,
                         stride, n_point, part->size);
    }
}
