/* How large tiles and chunks are: as many points as keep the device busy and fit its memory, and
 * chunks long enough to hide the exchange with the host, short enough to overlap with it. */
#include "kernels/backend.h"
#include "kernels/shape.h"

enum {
    CHUNKS_PER_RUN = 32,        /* the first and the last chunk do not overlap: keep them small */
    MOST_CHUNK_STEPS = 1 << 30, /* kernels count a chunk's steps in 32 bits */
    LEAST_CHUNK_STEPS = 1000,   /* launch and exchange stay far below the march */
    LEAST_CHUNK_SAMPLES = 16,   /* trajectory samples written in one piece */
    INPUT_BYTES = 64 << 20,     /* of a chunk, on host and device */
    SAMPLE_BYTES = 256 << 20    /* trajectory of a chunk, in pinned memory */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void gm_chunk_samples(const gm_sweep *sweep, int64_t step_begin, int64_t n_step, int64_t *begin,
                      int64_t *n)
{
    int64_t before = most(step_begin - sweep->n_transient, 0) / sweep->every;
    int64_t after = most(step_begin + n_step - sweep->n_transient, 0) / sweep->every;
    *begin = before;
    *n = gm_sweep_records(sweep, GM_TRAJECTORY) ? after - before : 0;
}

/* Steps that hold so many samples; no more than the run has, which bounds the product. */
static int64_t steps_of(const gm_sweep *sweep, int64_t n_sample)
{
    return least(most(n_sample, 1), gm_sweep_n_sample(sweep)) * sweep->every;
}

/* Bytes of one trajectory sample of one point, as the host sees it. */
static int64_t sample_bytes(const gm_sweep *sweep, const gm_data *data)
{
    return gm_n_trajectory(sweep) * data->n_node * gm_real_size(sweep);
}

static int64_t choose_chunk(const gm_sweep *sweep, const gm_data *data, int64_t tile)
{
    int64_t chunk = most(sweep->n_step / CHUNKS_PER_RUN, LEAST_CHUNK_STEPS);
    chunk = least(chunk, MOST_CHUNK_STEPS);
    if (gm_data_input_varies(sweep, data)) {
        int64_t step_bytes = sweep->model->n_input * data->n_node * (int64_t)sizeof(double);
        chunk = least(chunk, most(INPUT_BYTES / step_bytes, 1));
    }
    int64_t bytes = sample_bytes(sweep, data);
    if (bytes > 0) {
        chunk = least(chunk, steps_of(sweep, SAMPLE_BYTES / bytes / tile));
    }
    return least(most(chunk, 1), sweep->n_step);
}

gm_status gm_tiling_choose(const gm_backend *backend, const gm_device *device,
                           const gm_sweep *sweep, const gm_data *data, int64_t n_point,
                           int64_t free_bytes, gm_tiling wish, gm_tiling *out)
{
    int64_t fixed = 0, per_point = 0, per_sample = 0;
    backend->footprint(sweep, data, &fixed, &per_point, &per_sample);
    int64_t n_sample = least(gm_sweep_n_sample(sweep), LEAST_CHUNK_SAMPLES);
    int64_t each = per_point + n_sample * per_sample;
    int64_t fit = (free_bytes - fixed) / each;
    if (fit < 1)
        return GM_FAIL(GM_E_MEMORY,
                       "not even one point fits: it needs %.1f MiB and %.1f MiB are free",
                       (double)(fixed + each) / 1048576.0, (double)free_bytes / 1048576.0);
    int64_t tile = backend->wanted_points(device, sweep);
    int64_t bytes = sample_bytes(sweep, data);
    if (bytes > 0) tile = least(tile, most(SAMPLE_BYTES / (bytes * LEAST_CHUNK_SAMPLES), 1));
    if (wish.tile_points > 0) tile = wish.tile_points;
    tile = most(least(least(tile, fit), n_point), 1);

    int64_t chunk = choose_chunk(sweep, data, tile);
    if (wish.chunk_steps > 0)
        chunk = least(least(wish.chunk_steps, sweep->n_step), MOST_CHUNK_STEPS);
    if (per_sample > 0) { /* the trajectory of a chunk must fit beside the tile */
        int64_t room = (free_bytes - fixed - tile * per_point) / (tile * per_sample);
        chunk = least(chunk, steps_of(sweep, room));
    }
    out->tile_points = tile;
    out->chunk_steps = chunk;
    return GM_OK;
}
