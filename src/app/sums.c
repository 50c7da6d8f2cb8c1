/* A trajectory comes in pieces and other variables stand before it, so each has a running sum of
 * its own; they are joined at the end. */
#include "app/sums.h"

#include <stdlib.h>
#include <string.h>

#include "io/checksum.h"

enum { THREAD_BYTES = 1 << 20 }; /* less is not worth a thread */

struct gm_sums {
    const gm_layout *layout;
    int64_t capacity;
    int n_trajectory, n_thread;
    uint32_t *running; /* owned [n_trajectory][capacity] */
};

static int count_trajectories(const gm_layout *layout)
{
    int n = 0;
    for (int i = 0; i < layout->n_variable; i++) n += layout->variable[i].has_time;
    return n;
}

gm_status gm_sums_create(const gm_layout *layout, int64_t tile_points, int n_thread, gm_sums **out)
{
    gm_sums *s = calloc(1, sizeof *s);
    *out = s;
    if (s) {
        s->layout = layout;
        s->capacity = tile_points;
        s->n_thread = n_thread;
        s->n_trajectory = count_trajectories(layout);
        s->running = malloc(((size_t)s->n_trajectory * (size_t)tile_points + 1) * sizeof(uint32_t));
    }
    if (s && s->running) return GM_OK;
    gm_sums_destroy(out);
    return GM_FAIL(GM_E_MEMORY, "out of memory");
}

void gm_sums_destroy(gm_sums **sums)
{
    if (*sums) free((*sums)->running);
    free(*sums);
    *sums = NULL;
}

static void add_samples(gm_sums *s, const gm_result *result, int64_t n_point)
{
    uint32_t *running = s->running;
    for (int i = 0; i < s->layout->n_variable; i++) {
        const gm_variable *v = &s->layout->variable[i];
        if (!v->has_time) continue;
        const int64_t n_byte = result->n_sample * (v->row_bytes / s->layout->n_sample);
        const char *value = result->trajectory[v->quantity];
#pragma omp parallel for if (n_point * n_byte >= THREAD_BYTES) num_threads(s->n_thread)            \
    schedule(static)
        for (int64_t p = 0; p < n_point; p++)
            running[p] = gm_checksum_add(running[p], value + p * n_byte, n_byte);
        running += s->capacity;
    }
}

static uint32_t of_point(const gm_sums *s, const gm_result *result, int64_t p)
{
    uint32_t sum = 0;
    const uint32_t *running = s->running;
    for (int i = 0; i < s->layout->n_variable; i++) {
        const gm_variable *v = &s->layout->variable[i];
        if (v->quantity < 0) continue;
        if (v->has_time) {
            sum = gm_checksum_join(sum, running[p], v->row_bytes);
            running += s->capacity;
        } else {
            const char *value = result->statistic[v->observable][v->quantity];
            sum = gm_checksum_add(sum, value + p * v->row_bytes, v->row_bytes);
        }
    }
    return gm_checksum_add(sum, &result->failed_step[p], sizeof result->failed_step[p]);
}

void gm_sums_add(gm_sums *s, const gm_result *result, int64_t n_point, bool first, bool last,
                 int64_t *checksum)
{
    if (first) memset(s->running, 0, (size_t)s->n_trajectory * (size_t)s->capacity * 4);
    if (result->n_sample > 0) add_samples(s, result, n_point);
    for (int64_t p = 0; last && p < n_point; p++) checksum[p] = of_point(s, result, p);
}

/* --- in checkpoints ------------------------------------------------------------------------------
 */

int64_t gm_sums_bytes(const gm_layout *layout)
{
    return (count_trajectories(layout) * (int64_t)sizeof(uint32_t) + 7) / 8 * 8;
}

void gm_sums_save(const gm_sums *s, int64_t n_point, void *record, int64_t stride)
{
    for (int64_t p = 0; p < n_point; p++)
        for (int i = 0; i < s->n_trajectory; i++)
            memcpy((char *)record + p * stride + 4 * i, &s->running[i * s->capacity + p], 4);
}

void gm_sums_load(gm_sums *s, int64_t n_point, const void *record, int64_t stride)
{
    for (int64_t p = 0; p < n_point; p++)
        for (int i = 0; i < s->n_trajectory; i++)
            memcpy(&s->running[i * s->capacity + p], (const char *)record + p * stride + 4 * i, 4);
}

gm_status gm_sums_match(const gm_layout *layout, gm_store *store, int64_t point, int64_t n_sample,
                        const void *record, bool *match)
{
    gm_status st = GM_OK;
    const char *running = record;
    *match = true;
    for (int i = 0; i < layout->n_variable && *match; i++) {
        const gm_variable *v = &layout->variable[i];
        uint32_t sum = 0;
        if (!v->has_time) continue;
        GM_TRY(st,
               gm_store_sum(store, i, point, n_sample * (v->row_bytes / layout->n_sample), &sum));
        *match = memcmp(&sum, running, sizeof sum) == 0;
        running += sizeof sum;
    }
cleanup:
    return st;
}
