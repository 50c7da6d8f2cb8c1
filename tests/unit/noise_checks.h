/** Counter-based random numbers: known answers, streams that never meet, and the shape of the
 *  normal distribution. Statistical bounds are five standard deviations of the estimate; the
 *  numbers are fixed by their seed, so a test that passes once passes always. The including file
 *  sets GM_DOUBLE. */
#ifndef GM_TESTS_NOISE_CHECKS_H
#define GM_TESTS_NOISE_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/noise.h"

enum { N_NORMAL = 1000000 };

static void assert_words(const uint32_t got[4], uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    assert_int_equal(got[0], a);
    assert_int_equal(got[1], b);
    assert_int_equal(got[2], c);
    assert_int_equal(got[3], d);
}

/* The three vectors of philox4x32-10 in Random123's kat_vectors. Counter words, low first: block,
 * (purpose, group, high block), point, (node, high point). */
static void words_are_the_known_answers_of_philox(void **state)
{
    (void)state;
    uint32_t word[4];
    gm_draw_words(0, 0, 0, 0, 0, 0, word);
    assert_words(word, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    gm_draw_words(UINT64_MAX, UINT64_C(0xffffffffffff), 0xffff, 0xff, 0xff,
                  UINT64_C(0xffffffffffff), word);
    assert_words(word, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    gm_draw_words(UINT64_C(0x299f31d0a4093822), UINT64_C(0x734413198a2e), 0x0370, 0x85, 0xa3,
                  UINT64_C(0x08d3243f6a88), word);
    assert_words(word, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

typedef struct words {
    uint32_t word[4];
} words;

static int compare_words(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(words));
}

/* Every combination of a few values of each key, those beyond 32 bits included. */
static void distinct_keys_give_distinct_numbers(void **state)
{
    (void)state;
    static const uint64_t seed[] = {0, 1, 2, 4294967296, 9007199254740991};
    static const uint64_t point[] = {0,          1,          65536,          4294967295,
                                     4294967296, 4294967297, 281474976710655};
    static const uint32_t node[] = {0, 1, 2, 255, 256, 65535};
    static const uint64_t block[] = {0, 1, 65536, 4294967295, 4294967296, 4294967297};
    enum { N_GROUP = 3, N = 5 * 7 * 6 * 6 * N_GROUP * 2 };
    words *all = malloc(N * sizeof *all);
    int n = 0;
    assert_non_null(all);
    for (int s = 0; s < 5; s++)
        for (int p = 0; p < 7; p++)
            for (int i = 0; i < 6; i++)
                for (int b = 0; b < 6; b++)
                    for (uint32_t group = 0; group < N_GROUP; group++)
                        for (uint32_t purpose = 0; purpose < 2; purpose++)
                            gm_draw_words(seed[s], point[p], node[i], purpose, group, block[b],
                                          all[n++].word);
    assert_int_equal(n, N);
    qsort(all, N, sizeof *all, compare_words);
    for (int i = 1; i < N; i++) assert_true(compare_words(&all[i - 1], &all[i]) != 0);
    free(all);
}

/* --- the normal distribution --------------------------------------------------------------------
 */

static double *normals; /* [N_NORMAL] one seed, point and node; steps in order */

static int draw_normals(void **state)
{
    (void)state;
    normals = malloc(N_NORMAL * sizeof *normals);
    if (!normals) return -1;
    for (int i = 0; i < N_NORMAL; i += 4) {
        gm_real z[4];
        gm_draw_normals(20240607, 3, 5, 0, (uint64_t)i / 4, z);
        for (int k = 0; k < 4; k++) normals[i + k] = (double)z[k];
    }
    return 0;
}

static int free_normals(void **state)
{
    (void)state;
    free(normals);
    return 0;
}

static double moment(int power, double centre)
{
    double sum = 0;
    for (int i = 0; i < N_NORMAL; i++) sum += pow(normals[i] - centre, power);
    return sum / N_NORMAL;
}

static void assert_within(const char *what, double value, double expected, double bound)
{
    if (fabs(value - expected) <= bound) return;
    fail_msg("%s is %.6f, expected %.6f within %.6f", what, value, expected, bound);
}

static void moments_are_those_of_the_normal_distribution(void **state)
{
    (void)state;
    const double n = N_NORMAL;
    double mean = moment(1, 0);
    double variance = moment(2, mean);
    assert_within("mean", mean, 0, 5 / sqrt(n));
    assert_within("variance", variance, 1, 5 * sqrt(2 / n));
    assert_within("skewness", moment(3, mean) / pow(variance, 1.5), 0, 5 * sqrt(6 / n));
    assert_within("kurtosis", moment(4, mean) / (variance * variance), 3, 5 * sqrt(24 / n));
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov: a distance of 2.5 / sqrt(n) has probability 7e-6. */
static void distribution_function_is_normal(void **state)
{
    (void)state;
    double *sorted = malloc(N_NORMAL * sizeof *sorted);
    double distance = 0;
    assert_non_null(sorted);
    memcpy(sorted, normals, N_NORMAL * sizeof *sorted);
    qsort(sorted, N_NORMAL, sizeof *sorted, compare_numbers);
    for (int i = 0; i < N_NORMAL; i++) {
        double expected = 0.5 * erfc(-sorted[i] / sqrt(2));
        distance = fmax(distance, fabs(expected - (i + 0.5) / N_NORMAL));
    }
    free(sorted);
    assert_within("Kolmogorov-Smirnov distance", distance, 0, 2.5 / sqrt(N_NORMAL));
}

/* A million normal numbers reach 4.89 on average; no pair of words gives more than 6.8. */
static void largest_is_plausible_and_bounded(void **state)
{
    (void)state;
    double largest = 0;
    for (int i = 0; i < N_NORMAL; i++) {
        assert_true(isfinite(normals[i]));
        largest = fmax(largest, fabs(normals[i]));
    }
    assert_true(largest > 4.4 && largest < 6);
    static const uint32_t edge[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            gm_real first, second;
            gm_normal_pair(edge[a], edge[b], &first, &second);
            assert_true(fabs((double)first) < 6.8 && fabs((double)second) < 6.8);
        }
    }
}

static void steps_do_not_correlate(void **state)
{
    (void)state;
    for (int lag = 1; lag <= 64; lag++) {
        double plain = 0;
        double squares = 0; /* of z^2 - 1, whose variance is 2 */
        for (int i = lag; i < N_NORMAL; i++) {
            double a = normals[i];
            double b = normals[i - lag];
            plain += a * b;
            squares += (a * a - 1) * (b * b - 1) / 2;
        }
        assert_within("correlation", plain / N_NORMAL, 0, 5 / sqrt(N_NORMAL));
        assert_within("correlation of squares", squares / N_NORMAL, 0, 5 / sqrt(N_NORMAL));
    }
}

static double correlation_with_neighbour(uint64_t seed, uint64_t point, uint32_t node,
                                         uint32_t group)
{
    enum { N_BLOCK = 50000 };
    double sum = 0;
    for (uint64_t block = 0; block < N_BLOCK; block++) {
        gm_real a[4], b[4];
        gm_draw_normals(1, 1, 1, 0, block, a);
        gm_draw_normals(seed, point, node, group, block, b);
        for (int k = 0; k < 4; k++) sum += (double)a[k] * (double)b[k];
    }
    return sum / (4 * N_BLOCK);
}

static void seeds_points_nodes_and_groups_do_not_correlate(void **state)
{
    (void)state;
    const double bound = 5 / sqrt(4 * 50000);
    assert_within("another seed", correlation_with_neighbour(2, 1, 1, 0), 0, bound);
    assert_within("another point", correlation_with_neighbour(1, 2, 1, 0), 0, bound);
    assert_within("a far point", correlation_with_neighbour(1, 4294967297, 1, 0), 0, bound);
    assert_within("another node", correlation_with_neighbour(1, 1, 2, 0), 0, bound);
    assert_within("another group", correlation_with_neighbour(1, 1, 1, 1), 0, bound);
    assert_within("itself", correlation_with_neighbour(1, 1, 1, 0), 1, 5 * sqrt(2.0 / 200000));
}

/* --- initial values -----------------------------------------------------------------------------
 */

static void initial_values_fill_their_range_evenly(void **state)
{
    (void)state;
    enum { N = 200000 };
    double sum = 0, square = 0, low = 1, high = 0;
    for (int i = 0; i < N; i++) {
        double x = gm_draw_initial(9, (uint64_t)i / 100, (uint32_t)i % 100, 1, -3, 5);
        double u = (x + 3) / 8;
        assert_true(x >= -3 && x <= 5);
        sum += u;
        square += (u - 0.5) * (u - 0.5);
        low = fmin(low, u);
        high = fmax(high, u);
    }
    assert_within("mean", sum / N, 0.5, 5 * sqrt(1 / 12.0 / N));
    assert_within("variance", square / N, 1 / 12.0, 5 * sqrt(1 / 180.0 / N));
    assert_true(low < 1e-4 && high > 1 - 1e-4);
}

static void initial_values_differ_by_seed_point_node_and_state(void **state)
{
    (void)state;
    double all[2 * 2 * 2 * 8];
    int n = 0;
    for (uint64_t seed = 0; seed < 2; seed++)
        for (uint64_t point = 0; point < 2; point++)
            for (uint32_t node = 0; node < 2; node++)
                for (uint32_t s = 0; s < 8; s++)
                    all[n++] = gm_draw_initial(seed, point, node, s, 0, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) assert_true(all[i] != all[j]);
    assert_true(gm_draw_initial(1, 2, 3, 4, 0.7, 0.7) == 0.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_known_answers_of_philox),
        cmocka_unit_test(distinct_keys_give_distinct_numbers),
        cmocka_unit_test(moments_are_those_of_the_normal_distribution),
        cmocka_unit_test(distribution_function_is_normal),
        cmocka_unit_test(largest_is_plausible_and_bounded),
        cmocka_unit_test(steps_do_not_correlate),
        cmocka_unit_test(seeds_points_nodes_and_groups_do_not_correlate),
        cmocka_unit_test(initial_values_fill_their_range_evenly),
        cmocka_unit_test(initial_values_differ_by_seed_point_node_and_state),
    };
    return cmocka_run_group_tests(tests, draw_normals, free_normals);
}

#endif
