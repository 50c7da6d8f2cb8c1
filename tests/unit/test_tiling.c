/** How tiles and chunks are cut: within memory, as wished, and so that no sample is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "kernels/backend.h"
#include "kernels/shape.h"
#include "small_sweep.h"

/* A device of the test's own. */
static int64_t fixed_bytes, point_bytes, sample_bytes, busy_points;

static void footprint(const gm_sweep *sweep, const gm_data *data, int64_t *fixed,
                      int64_t *per_point, int64_t *per_sample)
{
    (void)data;
    *fixed = fixed_bytes;
    *per_point = point_bytes;
    *per_sample = gm_sweep_records(sweep, GM_TRAJECTORY) ? sample_bytes : 0;
}

static int64_t wanted_points(const gm_device *device, const gm_sweep *sweep)
{
    (void)device, (void)sweep;
    return busy_points;
}

static const gm_backend fake = {
    .name = "fake", .footprint = footprint, .wanted_points = wanted_points};

static gm_status choose(const small_sweep *s, int64_t n_point, int64_t free_bytes, gm_tiling wish,
                        gm_tiling *out)
{
    gm_data *data = NULL;
    assert_int_equal(gm_data_create(&s->sweep, &data), GM_OK);
    data->n_node = 10;
    const gm_status st =
        gm_tiling_choose(&fake, NULL, &s->sweep, data, n_point, free_bytes, wish, out);
    gm_data_destroy(&data, &s->sweep);
    return st;
}

static void fill(small_sweep *s, int64_t n_step, bool trajectory, int64_t every)
{
    small_sweep_fill(s);
    s->sweep.n_step = n_step;
    s->sweep.every = every;
    s->record[GM_TRAJECTORY][0] = trajectory;
    fixed_bytes = 1000;
    point_bytes = 100;
    sample_bytes = 40;
    busy_points = 512;
}

static void what_is_chosen_keeps_the_device_busy(void **state)
{
    (void)state;
    small_sweep s;
    gm_tiling t;
    fill(&s, 100000, false, 1);
    assert_int_equal(choose(&s, 100000, INT64_C(1) << 30, (gm_tiling){0, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 512);
    assert_true(t.chunk_steps >= 1000 && t.chunk_steps <= 100000 / 16);
}

static void tiles_are_no_larger_than_the_sweep(void **state)
{
    (void)state;
    small_sweep s;
    gm_tiling t;
    fill(&s, 10, true, 1);
    assert_int_equal(choose(&s, 7, INT64_C(1) << 30, (gm_tiling){0, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 7);
    assert_int_equal(t.chunk_steps, 10);
    assert_int_equal(choose(&s, 7, INT64_C(1) << 30, (gm_tiling){100, 100}, &t), GM_OK);
    assert_int_equal(t.tile_points, 7);
    assert_int_equal(t.chunk_steps, 10);
}

static void wishes_are_honoured_where_they_fit(void **state)
{
    (void)state;
    small_sweep s;
    gm_tiling t;
    fill(&s, 100000, true, 10);
    assert_int_equal(choose(&s, 100000, INT64_C(1) << 40, (gm_tiling){9000, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 9000);
    assert_int_equal(choose(&s, 100000, INT64_C(1) << 40, (gm_tiling){1, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 1);
    assert_int_equal(choose(&s, 100000, INT64_C(1) << 40, (gm_tiling){0, 1}, &t), GM_OK);
    assert_int_equal(t.chunk_steps, 1);
    assert_int_equal(choose(&s, 100000, INT64_C(1) << 40, (gm_tiling){3, 50001}, &t), GM_OK);
    assert_int_equal(t.tile_points, 3);
    assert_int_equal(t.chunk_steps, 50001);
}

static void what_does_not_fit_is_refused_with_the_size(void **state)
{
    (void)state;
    small_sweep s;
    gm_tiling t = {-1, -1};
    fill(&s, 100, true, 1);
    fixed_bytes = 100 << 20;
    point_bytes = 3 << 20;
    sample_bytes = 1 << 20;
    const int64_t need = fixed_bytes + point_bytes + 16 * sample_bytes;
    assert_int_equal(choose(&s, 10, need - 1, (gm_tiling){0, 0}, &t), GM_E_MEMORY);
    assert_non_null(strstr(gm_status_message(), "119.0 MiB"));
    assert_int_equal(choose(&s, 10, 5 << 20, (gm_tiling){4, 0}, &t), GM_E_MEMORY);
    assert_non_null(strstr(gm_status_message(), "5.0 MiB are free"));
    assert_int_equal(choose(&s, 10, 0, (gm_tiling){4, 0}, &t), GM_E_MEMORY);
    assert_int_equal(choose(&s, 10, need, (gm_tiling){4, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 1);
}

static int64_t draw(uint64_t *state, int64_t low, int64_t high)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int64_t)(*state >> 33) % (high - low + 1);
}

/* Whatever the sizes: either refused, or the tile with the samples of its longest chunk fits. */
static void free_memory_is_never_exceeded(void **state)
{
    (void)state;
    uint64_t random = 5;
    int n_fitting = 0;
    for (int i = 0; i < 20000; i++) {
        small_sweep s;
        gm_tiling t;
        const int64_t every = draw(&random, 1, 60);
        fill(&s, draw(&random, every, 5000), draw(&random, 0, 3) > 0, every);
        fixed_bytes = draw(&random, 0, 2000);
        point_bytes = draw(&random, 1, 3000);
        sample_bytes = draw(&random, 1, 1000);
        busy_points = draw(&random, 1, 1000);
        const int64_t n_point = draw(&random, 1, 2000);
        const int64_t free_bytes = draw(&random, 0, 1 << draw(&random, 8, 26));
        const gm_tiling wish = {draw(&random, 0, 1) ? draw(&random, 1, 3000) : 0,
                                draw(&random, 0, 1) ? draw(&random, 1, 6000) : 0};
        if (choose(&s, n_point, free_bytes, wish, &t) != GM_OK) continue;
        n_fitting++;
        const bool trajectory = s.record[GM_TRAJECTORY][0];
        const int64_t n_sample = gm_most_samples(&s.sweep, t.chunk_steps);
        assert_true(t.tile_points >= 1 && t.tile_points <= n_point);
        assert_true(t.chunk_steps >= 1 && t.chunk_steps <= s.sweep.n_step);
        assert_true(wish.tile_points == 0 || t.tile_points <= wish.tile_points);
        assert_true(wish.chunk_steps == 0 || t.chunk_steps <= wish.chunk_steps);
        assert_true(fixed_bytes +
                        t.tile_points * (point_bytes + trajectory * n_sample * sample_bytes) <=
                    free_bytes);
    }
    assert_true(n_fitting > 5000 && n_fitting < 20000);
}

/* --- samples of chunks --------------------------------------------------------------------------
 */

static void samples_of_chunks_add_up_for_any_cut(void **state)
{
    (void)state;
    uint64_t random = 6;
    for (int i = 0; i < 5000; i++) {
        small_sweep s;
        fill(&s, draw(&random, 1, 300), true, draw(&random, 1, 40));
        s.sweep.n_transient = draw(&random, 0, s.sweep.n_step - 1);
        int64_t next = 0;
        for (int64_t step = 0, n_step = 0; step < s.sweep.n_step; step += n_step) {
            int64_t begin = -1, n = -1;
            n_step = draw(&random, 1, 50);
            if (n_step > s.sweep.n_step - step) n_step = s.sweep.n_step - step;
            gm_chunk_samples(&s.sweep, step, n_step, &begin, &n);
            assert_int_equal(begin, next);
            assert_true(n >= 0 && n <= gm_most_samples(&s.sweep, n_step));
            next += n;
        }
        assert_int_equal(next, gm_sweep_n_sample(&s.sweep));
    }
}

static void a_sample_belongs_to_the_chunk_that_ends_with_it(void **state)
{
    (void)state;
    small_sweep s;
    int64_t begin, n;
    fill(&s, 100, true, 10);
    s.sweep.n_transient = 20;
    gm_chunk_samples(&s.sweep, 0, 29, &begin, &n);
    assert_true(begin == 0 && n == 0);
    gm_chunk_samples(&s.sweep, 29, 1, &begin, &n);
    assert_true(begin == 0 && n == 1);
    gm_chunk_samples(&s.sweep, 30, 9, &begin, &n);
    assert_true(begin == 1 && n == 0);
    gm_chunk_samples(&s.sweep, 0, 100, &begin, &n);
    assert_true(begin == 0 && n == 8);
    s.record[GM_TRAJECTORY][0] = false;
    gm_chunk_samples(&s.sweep, 0, 100, &begin, &n);
    assert_int_equal(n, 0);
}

static void the_longest_run_with_two_samples_is_cut_into_chunks(void **state)
{
    (void)state;
    small_sweep s;
    gm_tiling t;
    fill(&s, INT64_C(1000000000000), true, INT64_C(500000000000));
    assert_int_equal(choose(&s, 1, INT64_C(1) << 40, (gm_tiling){0, 0}, &t), GM_OK);
    assert_int_equal(t.tile_points, 1);
    assert_int_equal(t.chunk_steps, 1 << 30);
    assert_int_equal(gm_most_samples(&s.sweep, t.chunk_steps), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_chosen_keeps_the_device_busy),
        cmocka_unit_test(tiles_are_no_larger_than_the_sweep),
        cmocka_unit_test(wishes_are_honoured_where_they_fit),
        cmocka_unit_test(what_does_not_fit_is_refused_with_the_size),
        cmocka_unit_test(free_memory_is_never_exceeded),
        cmocka_unit_test(samples_of_chunks_add_up_for_any_cut),
        cmocka_unit_test(a_sample_belongs_to_the_chunk_that_ends_with_it),
        cmocka_unit_test(the_longest_run_with_two_samples_is_cut_into_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
