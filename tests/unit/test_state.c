/** States taken out of an engine between two chunks and put into another: the march goes on to the
 * same bits, whatever is recorded, and however the points are cut on either side. */
#include "engine_fixture.h"

/* Something of another's may lie behind each record. */
static int64_t record_stride(const trial *t)
{
    return gm_state_bytes(t->sweep, t->data) + 24;
}

/* March all points over steps [from, to), tile by tile, from and to records of state. */
static void march_span(const trial *t, gm_tiling tiling, int64_t from, int64_t to, const char *in,
                       char *out, outcome *o)
{
    gm_device *device = NULL;
    gm_engine *engine = NULL;
    const int64_t n_byte = record_stride(t);
    const int64_t n_input = t->sweep->model->n_input * t->data->n_node;
    const lender memory = {take(o->n_point, sizeof(int64_t)),
                           take((tiling.chunk_steps + 1) * n_input, sizeof(double))};
    assert_int_equal(gm_backend_cpu.open(0, 1 + (int)(from % 2), &device), GM_OK);
    assert_int_equal(gm_backend_cpu.engine_create(device, t->sweep, t->data, tiling, NULL, &engine),
                     GM_OK);
    for (int64_t p = 0; p < o->n_point; p++) memory.point[p] = p;
    for (int64_t first = 0; first < o->n_point; first += tiling.tile_points) {
        int64_t next_sample = 0, none = 0;
        gm_work work = {0};
        gm_result result;
        gm_chunk_samples(t->sweep, 0, from, &none, &next_sample);
        for (int64_t step = from; step < to; step += work.n_step) {
            work = next_work(t, tiling, &memory, first, step);
            if (work.n_step > to - step) work.n_step = to - step;
            work.first = step == from;
            work.last = step + work.n_step == t->sweep->n_step;
            work.state = from > 0 && work.first ? in + first * n_byte : NULL;
            work.state_stride = n_byte;
            assert_int_equal(gm_backend_cpu.submit(engine, 0, &work), GM_OK);
            assert_int_equal(gm_backend_cpu.collect(engine, 0, &result), GM_OK);
            gather(t, &work, &result, &next_sample, o);
        }
        if (to < t->sweep->n_step)
            assert_int_equal(
                gm_backend_cpu.save(engine, work.n_point, out + first * n_byte, n_byte), GM_OK);
    }
    gm_backend_cpu.engine_destroy(&engine);
    gm_backend_cpu.close(&device);
    free(memory.point);
    free(memory.input);
}

/* Interrupted at these steps, each part with tiles and chunks of its own. */
static void expect_same_when_cut(const trial *t, const int64_t *cut, int n_cut)
{
    static const gm_tiling tilings[] = {{3, 4}, {40, 7}, {17, 100}, {1, 1}};
    const int64_t size = t->sweep->n_point * record_stride(t);
    outcome whole = march(t, 0, 0, 1), parts = outcome_create(t);
    char *record[2] = {take(size, 1), take(size, 1)};
    for (int i = 0; i <= n_cut; i++) {
        memset(record[(i + 1) % 2], 0, (size_t)size);
        march_span(t, tilings[i % 4], i > 0 ? cut[i - 1] : 0, i < n_cut ? cut[i] : t->sweep->n_step,
                   record[i % 2], record[(i + 1) % 2], &parts);
    }
    assert_true(outcomes_equal(&whole, &parts));
    outcome_destroy(&whole);
    outcome_destroy(&parts);
    free(record[0]);
    free(record[1]);
}

/* Within the transient, at its end, one step later, and on; the transient has 5 steps of 60. */
static const int64_t cuts[] = {1, 4, 5, 6, 29, 30, 59};
enum { N_CUT = sizeof cuts / sizeof cuts[0] };

static const char *const precisions[] = {"fp32", "fp64"};

static void networks_go_on_to_the_same_bits(void **state)
{
    (void)state;
    static const char *const integrators[] = {"euler", "heun", "rk4"};
    static const char *const records[] = {
        "{last: [E, I, in_e], mean: all, variance: [I, in_e], min: all, max: [in_e],\n"
        "  trajectory: {variables: [E, in_e], every: 3}}",
        "{last: [I]}", "{mean: [I]}", "{trajectory: {variables: [E], every: 1}}"};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 4; r++) {
                trial t = trial_rich(precisions[p], integrators[i], records[r]);
                expect_same_when_cut(&t, cuts, N_CUT);
                trial_destroy(&t);
            }
}

static void plain_equations_and_points_that_diverged_go_on_too(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: lorenz63\nintegrator: heun\nprecision: %s\n"
                 "time: {dt: 0.15, duration: 9, transient: 0.75}\n"
                 "axes: {rho: {linspace: [0, 90, 41]}}\n"
                 "record: {last: all, mean: all, variance: all, min: all, max: all}\n",
                 precisions[p]);
        trial t = trial_create(text, 1);
        outcome o = march(&t, 0, 0, 1);
        int64_t n_early = 0, n_never = 0;
        for (int64_t i = 0; i < o.n_point; i++) {
            n_early += o.failed[i] >= 0 && o.failed[i] < 29;
            n_never += o.failed[i] < 0;
        }
        assert_true(n_early > 0 && n_never > 0);
        expect_same_when_cut(&t, cuts, N_CUT);
        outcome_destroy(&o);
        trial_destroy(&t);
    }
}

/* A record holds what the next step needs and no more. */
static void records_are_small(void **state)
{
    (void)state;
    trial t = trial_rich("fp32", "heun", "{last: [I]}");
    assert_int_equal(gm_state_bytes(t.sweep, t.data), 8 + 2 * 5 * 4);
    trial_destroy(&t);
    t = trial_rich("fp64", "heun", "{mean: [I], last: all}");
    assert_int_equal(gm_state_bytes(t.sweep, t.data), 8 + 2 * 5 * 8 + 5 * 8 * 5);
    trial_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_go_on_to_the_same_bits),
        cmocka_unit_test(plain_equations_and_points_that_diverged_go_on_too),
        cmocka_unit_test(records_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
