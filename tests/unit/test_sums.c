/** Checksums of points as they leave the engine: chunks, several variables, several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "app/sums.h"
#include "io/checksum.h"

enum { N_POINT = 37, N_SAMPLE = 600, N_NODE = 68, N_MEAN = 5, ROW = N_SAMPLE * N_NODE };

static gm_variable variable[] = {
    {.name = "E", .has_time = true, .row_bytes = 4 * ROW, .quantity = 0},
    {.name = "E_mean", .row_bytes = 4 * N_MEAN, .observable = GM_MEAN, .quantity = 0},
    {.name = "status", .row_bytes = 1, .quantity = -1},
};
static const gm_layout layout = {.n_variable = 3, .variable = variable, .n_sample = N_SAMPLE};

/* Of all points, the trajectory handed over in chunks of n_sample. */
static void sums_of(const uint32_t *trajectory, const uint32_t *mean, const int64_t *failed,
                    int n_sample, int n_thread, int64_t *checksum)
{
    gm_sums *sums = NULL;
    uint32_t *chunk = malloc(sizeof(uint32_t) * N_POINT * ROW);
    assert_non_null(chunk);
    assert_int_equal(gm_sums_create(&layout, N_POINT, n_thread, &sums), GM_OK);
    for (int begin = 0; begin < N_SAMPLE; begin += n_sample) {
        for (int p = 0; p < N_POINT; p++)
            memcpy(chunk + p * n_sample * N_NODE, trajectory + p * ROW + begin * N_NODE,
                   sizeof(uint32_t) * (size_t)(n_sample * N_NODE));
        gm_result result = {.sample_begin = begin, .n_sample = n_sample, .failed_step = failed};
        result.trajectory[0] = chunk;
        result.statistic[GM_MEAN][0] = mean;
        gm_sums_add(sums, &result, N_POINT, begin == 0, begin + n_sample == N_SAMPLE, checksum);
    }
    gm_sums_destroy(&sums);
    assert_null(sums);
    free(chunk);
}

static void checksums_depend_neither_on_chunks_nor_on_threads(void **state)
{
    (void)state;
    uint32_t *trajectory = malloc(sizeof(uint32_t) * N_POINT * ROW);
    uint32_t mean[N_POINT * N_MEAN];
    int64_t failed[N_POINT], found[N_POINT];
    const int chunk[] = {N_SAMPLE, N_SAMPLE / 2, 100};
    assert_non_null(trajectory);
    for (uint32_t i = 0; i < N_POINT * ROW; i++) trajectory[i] = i * 2654435761U;
    for (uint32_t i = 0; i < N_POINT * N_MEAN; i++) mean[i] = i * 40503U;
    for (int p = 0; p < N_POINT; p++) failed[p] = p % 5 ? -1 : p;
    for (int k = 0; k < 6; k++) {
        sums_of(trajectory, mean, failed, chunk[k % 3], k < 3 ? 1 : 4, found);
        for (int p = 0; p < N_POINT; p++) {
            uint32_t sum = gm_checksum_add(0, trajectory + p * ROW, 4 * ROW);
            sum = gm_checksum_add(sum, mean + p * N_MEAN, 4 * N_MEAN);
            assert_int_equal(found[p], gm_checksum_add(sum, &failed[p], 8));
        }
    }
    free(trajectory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_depend_neither_on_chunks_nor_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
