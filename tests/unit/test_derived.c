/** Derived quantities in the CPU engine: those of the very state that is recorded, with its
 * couplings and the inputs at its time, whatever else is recorded and however the work is cut. */
#include "engine_reference.h"

#include "core/model_read.h"
#include "kernels/code.h"

static const char *const precisions[] = {"fp32", "fp64"};
static const double epsilon[] = {4e-6, 1e-13};

/* --- a built-in model: in_e of wilson_cowan
 * -------------------------------------------------------
 */

enum { E, I, IN_E };

/* Everything that in_e depends on differs between points, nodes and steps. */
static trial create(const char *precision, const char *integrator, const char *interpolation,
                    const char *record)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: wilson_cowan\nintegrator: %s\nprecision: %s\n" SOME_NETWORK
             "time: {dt: 0.1, duration: 6, transient: 0.5}\n"
             "axes: {G: {linspace: [0.5, 2, 21]}}\nseed: 11\n"
             "initial: {E: {uniform: [0, 0.4]}, I: {uniform: [0, 0.2]}}\n"
             "parameters: {c_ei: {file: c.txt}%s}\n"
             "inputs: {p_e: {file: p.csv, step: 0.2, interpolation: %s}, p_i: 0.2}\nrecord: %s\n",
             integrator, precision, strcmp(integrator, "rk4") ? ", sigma_e: 0.01" : "",
             interpolation, record);
    trial t = trial_create(text, 5);
    trial_signal(&t, 0, 40, 5);
    trial_node_values(&t, "c_ei", 11, 13);
    return t;
}

#define ALL                                                                                        \
    "{last: [E, I, in_e], mean: [E, I, in_e], variance: [E, in_e], min: [in_e], max: [in_e], "     \
    "trajectory: {variables: [E, I, in_e], every: 1}}"

/* in_e of a node from the states of all nodes as they were recorded after `done` steps. */
static double expected_input(const reference *r, const outcome *o, int64_t sample, int64_t node)
{
    const int64_t row = (r->point * o->n_sample + sample) * r->n;
    const double *e = o->trajectory[E] + row;
    const double *i = o->trajectory[I] + row;
    const double time =
        (double)(r->t->sweep->n_transient + (sample + 1) * r->t->sweep->every) * r->t->sweep->dt;
    double net = 0;
    for (int64_t j = 0; j < r->n; j++) net += weight(r, node, j) * e[j];
    return param(r, "c_ee", node) * e[node] - param(r, "c_ei", node) * i[node] +
           param(r, "G", node) * net + input(r, 0, node, time, time);
}

static double distance_of_inputs(const trial *t, const outcome *o)
{
    double worst = 0;
    for (int64_t p = 0; p < o->n_point; p++) {
        reference r = {t, wilson_cowan, {NULL, NULL}, o->n_node, p, 0, {0}};
        gm_sweep_point(t->sweep, p, r.knob, &r.seed);
        for (int64_t i = 0; i < o->n_sample * o->n_node; i++) {
            const double found = o->trajectory[IN_E][p * o->n_sample * o->n_node + i];
            const double d = fabs(found - expected_input(&r, o, i / o->n_node, i % o->n_node));
            worst = d <= worst ? worst : d; /* a NaN is taken */
        }
    }
    return worst;
}

static void it_is_that_of_the_recorded_state(void **state)
{
    (void)state;
    static const char *const integrators[] = {"euler", "heun", "rk4"};
    static const char *const interpolations[] = {"hold", "linear"};
    for (int i = 0; i < 12; i++) {
        trial t = create(precisions[i % 2], integrators[i / 4], interpolations[i / 2 % 2], ALL);
        outcome o = march(&t, 0, 7, 1);
        const double off = distance_of_inputs(&t, &o);
        if (!(off <= 10 * epsilon[i % 2]))
            fail_msg("%s, %s, %s: off by %g", precisions[i % 2], integrators[i / 4],
                     interpolations[i / 2 % 2], off);
        outcome_destroy(&o);
        trial_destroy(&t);
    }
}

static void its_statistics_are_those_of_its_trajectory(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        trial t = create(precisions[p], "heun", "linear", ALL);
        outcome o = march(&t, 0, 0, 1);
        for (int64_t i = 0; i < o.n_point * o.n_node; i++) {
            const double *x =
                o.trajectory[IN_E] + i / o.n_node * o.n_sample * o.n_node + i % o.n_node;
            double mean = 0, square = 0, low = x[0], high = x[0];
            for (int64_t k = 0; k < o.n_sample; k++) {
                const double value = x[k * o.n_node];
                mean += value / (double)o.n_sample;
                square += value * value / (double)o.n_sample;
                low = fmin(low, value);
                high = fmax(high, value);
            }
            const double size = 1 + square;
            assert_true(fabs(o.statistic[GM_MEAN][IN_E][i] - mean) <= epsilon[p] * size);
            assert_true(fabs(o.statistic[GM_VARIANCE][IN_E][i] - (square - mean * mean)) <=
                        epsilon[p] * size);
            assert_true(o.statistic[GM_MIN][IN_E][i] == low);
            assert_true(o.statistic[GM_MAX][IN_E][i] == high);
            assert_true(o.statistic[GM_LAST][IN_E][i] == x[(o.n_sample - 1) * o.n_node]);
        }
        outcome_destroy(&o);
        trial_destroy(&t);
    }
}

static void tiles_chunks_and_threads_do_not_change_a_bit_of_it(void **state)
{
    (void)state;
    static const int64_t cuts[][2] = {{1, 1}, {3, 7}, {16, 1}, {17, 0}, {0, 13}};
    for (int p = 0; p < 2; p++) {
        trial t = create(precisions[p], "heun", "hold", ALL);
        outcome whole = march(&t, 0, 0, 1);
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            outcome cut = march(&t, cuts[i][0], cuts[i][1], 1 + (int)i % 2);
            assert_true(outcomes_equal(&whole, &cut));
            outcome_destroy(&cut);
        }
        outcome_destroy(&whole);
        trial_destroy(&t);
    }
}

/* Whatever both outcomes recorded, bit for bit; returns how many variables that is. */
static int compare_common(const outcome *a, const outcome *b)
{
    const size_t row = (size_t)(a->n_point * a->n_node) * sizeof(double);
    int n = 0;
    for (int q = 0; q < GM_MAX_QUANTITY; q++) {
        for (int k = 0; k < GM_TRAJECTORY; k++) {
            if (!a->statistic[k][q] || !b->statistic[k][q]) continue;
            assert_memory_equal(a->statistic[k][q], b->statistic[k][q], row);
            n++;
        }
        if (!a->trajectory[q] || !b->trajectory[q] || a->n_sample != b->n_sample) continue;
        assert_memory_equal(a->trajectory[q], b->trajectory[q], row * (size_t)a->n_sample);
        n++;
    }
    return n;
}

/* Recording it changes no state, and what else is recorded changes nothing of it: the couplings
 * that it needs are computed only where it is due, and used again by the step that follows. */
static void what_else_is_recorded_does_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        int n_common; /* with ALL */
    } cases[] = {
        {"{last: [E, I], mean: [E, I], variance: [E], trajectory: {variables: [E, I], every: 1}}",
         7},
        {"{last: [in_e, I]}", 2},
        {"{mean: [in_e, E]}", 2},
        {"{min: [in_e]}", 1},
        {"{trajectory: {variables: [in_e, E], every: 1}}", 2},
        {"{last: [in_e], trajectory: {variables: [E], every: 1}}", 2},
        {"{last: [in_e, E, I], mean: [E], trajectory: {variables: [in_e], every: 7}}", 4},
    };
    for (int i = 0; i < 4; i++) {
        const char *integrator = i < 2 ? "heun" : "rk4";
        trial all = create(precisions[i % 2], integrator, "linear", ALL);
        outcome expected = march(&all, 0, 0, 1);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            trial t = create(precisions[i % 2], integrator, "linear", cases[c].record);
            outcome o = march(&t, 0, 11, 1);
            assert_int_equal(compare_common(&expected, &o), cases[c].n_common);
            outcome_destroy(&o);
            trial_destroy(&t);
        }
        outcome_destroy(&expected);
        trial_destroy(&all);
    }
}

/* --- models of a user's --------------------------------------------------------------------------
 */

/* A phase that may turn more than once in a step, and a quantity that is no number at node 0. */
static const char phase_model[] =
    "#define GM_STATES(X) X(theta, 0, \"rad\", \"phase\") X(x, 0, \"1\", \"level\")\n"
    "#define GM_PHASES(X) X(theta)\n"
    "#define GM_PARAMS(X) X(omega, 1, \"1\", \"frequency\") X(level, 1, \"1\", \"level\")\n"
    "#define GM_COUPLINGS(X) X(net, gm_sin(s->theta), \"sum_j W_ij sin theta_j\")\n"
    "#define GM_DERIVED(X) X(same, s->theta, \"rad\", \"the phase again\") \\\n"
    "    X(cosine, gm_cos(s->theta), \"1\", \"its cosine\") \\\n"
    "    X(root, gm_log(s->x), \"1\", \"no number below 0\") \\\n"
    "    X(pull, value(c->net, s), \"1\", \"of the network\")\n"
    "#include \"gm_model.h\"\n"
    "GM_FN gm_real value(gm_real net, const gm_state *state) { return net - state->theta; }\n"
    "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)\n"
    "{ d->theta = m->omega + c->net; d->x = m->level - s->x; }\n";
enum { THETA, X, SAME, COSINE, ROOT, PULL };

typedef struct users {
    gm_problems *problems;
    gm_model *model;
    gm_code code;
} users;

static trial create_users(users *u, const char *text, gm_precision precision)
{
    gm_device *device = NULL;
    gm_device_info info;
    assert_int_equal(gm_problems_create(&u->problems), GM_OK);
    if (gm_model_read("./turns.h", phase_model, u->problems, &u->model) != GM_OK)
        fail_msg("%s", gm_status_message());
    assert_int_equal(gm_backend_cpu.open(0, 1, &device), GM_OK);
    assert_int_equal(gm_backend_cpu.describe(device, &info), GM_OK);
    gm_backend_cpu.close(&device);
    if (gm_cpu_compile("./turns.h", phase_model, precision, info.architecture, &u->code) != GM_OK)
        fail_msg("%s", gm_status_message());
    const gm_model_info *const models[] = {&u->model->info};
    const gm_model_catalog catalog = {.model = models, .n_model = 1};
    return trial_create_from(&catalog, text, 4);
}

static void destroy_users(users *u)
{
    gm_code_clear(&u->code);
    gm_model_destroy(&u->model);
    gm_problems_destroy(&u->problems);
}

static void an_angle_enters_as_it_is_recorded(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        char text[512];
        users u = {0};
        snprintf(text, sizeof text,
                 "model: turns\nintegrator: heun\nprecision: %s\n" SOME_NETWORK
                 "time: {dt: 0.5, duration: 30}\naxes: {omega: [-40, 0.3, 20]}\n"
                 "record: {mean: [cosine], last: [theta, same],\n"
                 "  trajectory: {variables: [theta, same, cosine, pull], every: 1}}\n",
                 precisions[p]);
        trial t = create_users(&u, text, (gm_precision)p);
        outcome o = march_code(&t, 2, 9, 1, &u.code);
        const int64_t n = o.n_sample * o.n_node;
        for (int64_t i = 0; i < o.n_point * n; i++) {
            const double theta = o.trajectory[THETA][i];
            double net = 0;
            assert_true(theta >= 0 && theta < 6.2831855);
            assert_true(o.trajectory[SAME][i] == theta);
            assert_true(fabs(o.trajectory[COSINE][i] - cos(theta)) <= epsilon[p]);
            for (int64_t j = 0; j < o.n_node; j++)
                net += t.data->weight[i % o.n_node * o.n_node + j] *
                       sin(o.trajectory[THETA][i / o.n_node * o.n_node + j]);
            assert_true(fabs(o.trajectory[PULL][i] - (net - theta)) <= 10 * epsilon[p]);
        }
        for (int64_t i = 0; i < o.n_point * o.n_node; i++) {
            double mean = 0;
            for (int64_t k = 0; k < o.n_sample; k++)
                mean += o.trajectory[COSINE][i / o.n_node * n + k * o.n_node + i % o.n_node] /
                        (double)o.n_sample;
            assert_true(fabs(o.statistic[GM_MEAN][COSINE][i] - mean) <= epsilon[p]);
            assert_true(o.statistic[GM_LAST][SAME][i] == o.statistic[GM_LAST][THETA][i]);
        }
        outcome_destroy(&o);
        trial_destroy(&t);
        destroy_users(&u);
    }
}

static void one_that_is_no_number_is_recorded_so_and_the_point_goes_on(void **state)
{
    (void)state;
    users u = {0};
    trial t = create_users(&u,
                           "model: turns\nintegrator: euler\nprecision: fp64\n" SOME_NETWORK
                           "time: {dt: 0.5, duration: 10}\naxes: {level: [-1, 2]}\n"
                           "record: {mean: [root, x], trajectory: {variables: [root], every: 1}}\n",
                           GM_FP64);
    outcome o = march_code(&t, 0, 0, 1, &u.code);
    const int64_t n = o.n_sample * o.n_node;
    for (int64_t i = 0; i < n; i++) assert_true(isnan(o.trajectory[ROOT][i]));
    for (int64_t i = n; i < 2 * n; i++) assert_true(isfinite(o.trajectory[ROOT][i]));
    for (int64_t i = 0; i < o.n_node; i++) {
        assert_true(isnan(o.statistic[GM_MEAN][ROOT][i]));
        assert_true(isfinite(o.statistic[GM_MEAN][ROOT][o.n_node + i]));
        assert_true(isfinite(o.statistic[GM_MEAN][X][i]));
    }
    assert_true(o.failed[0] == -1 && o.failed[1] == -1);
    outcome_destroy(&o);
    trial_destroy(&t);
    destroy_users(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_the_recorded_state),
        cmocka_unit_test(its_statistics_are_those_of_its_trajectory),
        cmocka_unit_test(tiles_chunks_and_threads_do_not_change_a_bit_of_it),
        cmocka_unit_test(what_else_is_recorded_does_not_matter),
        cmocka_unit_test(an_angle_enters_as_it_is_recorded),
        cmocka_unit_test(one_that_is_no_number_is_recorded_so_and_the_point_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
