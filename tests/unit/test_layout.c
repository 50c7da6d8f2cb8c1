/* The layout of the result file: names, dimensions, units and bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on
#include <math.h>

#include "core/layout.h"
#include "tests/unit/sweep_fixture.h"

#define LORENZ "model: lorenz63\nintegrator: rk4\ntime: {dt: 0.5, duration: 10}\n"
#define WC                                                                                         \
    "model: wilson_cowan\nintegrator: heun\nnetwork: none\n"                                       \
    "time: {dt: 0.1, duration: 100, transient: 20}\n"

static char *two_labels[] = {(char *)"left", (char *)"right"};

typedef struct fixture {
    gm_sweep *sweep;
    gm_layout *layout;
} fixture;

static gm_status build(const char *text, gm_data *data, fixture *f)
{
    gm_problems *problems = NULL;
    assert_int_equal(gm_problems_create(&problems), GM_OK);
    gm_status st = fixture_parse(text, NULL, problems, &f->sweep);
    if (st != GM_OK) print_error("%s\n", gm_status_message());
    assert_int_equal(st, GM_OK);
    gm_problems_destroy(&problems);
    return gm_layout_create(f->sweep, data, &f->layout);
}

static fixture lay_out(const char *text, int64_t n_node, char **label)
{
    fixture f = {0};
    gm_data data = {.n_node = n_node, .label = label};
    assert_int_equal(build(text, &data, &f), GM_OK);
    return f;
}

static void clear(fixture *f)
{
    gm_layout_destroy(&f->layout);
    assert_null(f->layout);
    gm_layout_destroy(&f->layout);
    gm_sweep_destroy(&f->sweep);
}

static const gm_variable *find(const gm_layout *layout, const char *name)
{
    for (int v = 0; v < layout->n_variable; v++)
        if (strcmp(layout->variable[v].name, name) == 0) return &layout->variable[v];
    fail_msg("no variable %s", name);
    return NULL;
}

static void grid_has_a_dimension_per_axis(void **state)
{
    (void)state;
    fixture f = lay_out(WC "record: {mean: all}\naxes: {G: [0.5, 1, 2], initial.E: [0.1, 0.2], "
                           "seed: [4, 5]}\n",
                        2, two_labels);
    const gm_layout *l = f.layout;
    assert_int_equal(l->n_point_dim, 3);
    assert_int_equal(l->n_coordinate, 4);
    assert_int_equal(l->time_dim, -1);
    assert_int_equal(l->node_dim, 3);
    assert_string_equal(l->coordinate[0].name, "G");
    assert_string_equal(l->coordinate[0].unit, "1");
    assert_string_equal(l->coordinate[0].long_name, "global coupling");
    assert_true(l->coordinate[0].n == 3 && l->coordinate[0].value[2] == 2);
    assert_true(l->coordinate[0].is_dimension && !l->coordinate[0].is_integer);
    assert_string_equal(l->coordinate[1].name, "initial_E");
    assert_string_equal(l->coordinate[1].long_name, "excitatory activity, initial value");
    assert_string_equal(l->coordinate[2].name, "seed");
    assert_true(l->coordinate[2].is_integer && l->coordinate[2].value[1] == 5);
    assert_string_equal(l->coordinate[3].name, "node");
    assert_string_equal(l->coordinate[3].text[1], "right");
    assert_null(l->coordinate[3].value);
    assert_null(l->coordinate[3].unit);
    assert_true(l->coordinate[3].is_dimension);
    assert_int_equal(l->n_point, 12);
    clear(&f);
}

static void no_axes_give_one_point(void **state)
{
    (void)state;
    fixture f = lay_out(LORENZ "record: {last: x}\n", 1, NULL);
    const gm_layout *l = f.layout;
    assert_int_equal(l->n_point_dim, 1);
    assert_int_equal(l->n_coordinate, 1);
    assert_int_equal(l->node_dim, -1);
    assert_string_equal(l->coordinate[0].name, "point");
    assert_true(l->coordinate[0].n == 1 && l->coordinate[0].value[0] == 0);
    assert_true(l->coordinate[0].is_integer);
    clear(&f);
}

static void zip_has_one_dimension_and_a_coordinate_per_axis(void **state)
{
    (void)state;
    fixture f = lay_out(WC "design: zip\nrecord: {trajectory: {variables: E, every: 7}}\n"
                           "axes: {G: [0.5, 1, 2], seed: [4, 5, 6]}\n",
                        2, NULL);
    const gm_layout *l = f.layout;
    assert_int_equal(l->n_point_dim, 1);
    assert_int_equal(l->n_coordinate, 5);
    assert_true(l->time_dim == 1 && l->node_dim == 2);
    assert_string_equal(l->coordinate[0].name, "point");
    assert_true(l->coordinate[0].n == 3 && l->coordinate[0].value[2] == 2);
    assert_true(l->coordinate[2].is_integer && l->coordinate[2].value[1] == 1);
    assert_string_equal(l->coordinate[3].name, "G");
    assert_true(l->coordinate[3].n == 3 && !l->coordinate[3].is_dimension);
    assert_string_equal(l->coordinate[4].name, "seed");
    assert_false(l->coordinate[4].is_dimension);
    clear(&f);
}

static void time_coordinate_is_the_end_of_each_sampled_step(void **state)
{
    (void)state;
    fixture f = lay_out(WC "record: {trajectory: {variables: [I], every: 7}}\n", 3, NULL);
    const gm_layout *l = f.layout;
    const gm_coordinate *time = &l->coordinate[l->time_dim];
    assert_int_equal(l->n_sample, 114); /* 800 steps after the transient */
    assert_int_equal(time->n, 114);
    assert_string_equal(time->unit, "ms");
    assert_true(time->value[0] == 207 * 0.1);
    assert_true(time->value[113] == 998 * 0.1);
    assert_false(time->is_integer);
    const gm_variable *v = find(l, "I");
    assert_true(v->has_time && v->has_node && v->type == GM_TYPE_F32);
    assert_true(v->observable == GM_TRAJECTORY && v->quantity == 1);
    assert_string_equal(v->long_name, "inhibitory activity: value over time");
    assert_int_equal(v->row_bytes, 4 * 114 * 3);
    clear(&f);
}

static void variables_carry_units_and_bytes(void **state)
{
    (void)state;
    fixture f = lay_out(
        WC "precision: fp64\nrecord: {mean: [E], variance: all}\naxes: {G: [1, 2]}\n", 5, NULL);
    const gm_layout *l = f.layout;
    assert_int_equal(l->n_variable, 7);
    assert_string_equal(l->variable[0].name, "E_mean");
    assert_string_equal(l->variable[0].long_name, "excitatory activity: mean over time");
    assert_true(isnan(l->variable[0].fill) && l->variable[0].type == GM_TYPE_F64);
    assert_string_equal(find(l, "E_variance")->unit, "1");
    assert_string_equal(find(l, "I_variance")->unit, "(mV)^2");
    assert_int_equal(find(l, "I_variance")->row_bytes, 8 * 5);
    assert_false(find(l, "I_variance")->has_time);
    assert_int_equal(l->n_byte, 2 * (3 * 40 + 1 + 8 + 1 + 8));
    clear(&f);
}

static void bookkeeping_comes_last(void **state)
{
    (void)state;
    fixture f = lay_out(WC "record: {mean: [E]}\n", 5, NULL);
    const gm_layout *l = f.layout;
    assert_true(l->status == 1 && l->failed_step == 2 && l->run == 3);
    const gm_variable *status = &l->variable[l->status];
    const gm_variable *failed_step = &l->variable[l->failed_step];
    const gm_variable *run = &l->variable[l->run];
    assert_string_equal(status->name, "status");
    assert_true(status->type == GM_TYPE_U8 && status->fill == GM_POINT_PENDING);
    assert_true(status->quantity == -1 && status->row_bytes == 1 && !status->has_node);
    assert_string_equal(failed_step->name, "failed_step");
    assert_true(failed_step->type == GM_TYPE_I64 && failed_step->fill == -1);
    assert_string_equal(run->name, "run");
    assert_true(run->type == GM_TYPE_U8 && run->fill == 255);
    assert_true(l->checksum == 4 && l->variable[4].type == GM_TYPE_I64);
    assert_true(l->variable[4].fill == -1);
    clear(&f);
}

static void axis_named_like_something_in_the_file_is_renamed(void **state)
{
    (void)state;
    fixture f = lay_out(WC "record: {mean: [E]}\naxes: {time: [1, 2]}\n", 1, NULL);
    assert_string_equal(f.layout->coordinate[0].name, "time_param");
    assert_string_equal(f.layout->coordinate[0].unit, "s");
    clear(&f);
    f = lay_out(LORENZ "record: {last: y}\naxes: {x_mean: [1], x_param: [1], x: [1], rho: [1]}\n",
                1, NULL);
    assert_string_equal(f.layout->coordinate[0].name, "x_mean_param");
    assert_string_equal(f.layout->coordinate[1].name, "x_param");
    assert_string_equal(f.layout->coordinate[2].name, "x_param_param");
    assert_string_equal(f.layout->coordinate[3].name, "rho");
    clear(&f);
}

static void derived_quantities_are_variables_behind_the_states(void **state)
{
    (void)state;
    fixture f =
        lay_out("model: hopf\nintegrator: heun\nnetwork: none\n"
                "time: {dt: 0.1, duration: 10}\n"
                "record: {variance: [flow, y], trajectory: {variables: [flow], every: 4}}\n",
                3, NULL);
    assert_string_equal(f.layout->variable[0].name, "y_variance");
    const gm_variable *variance = &f.layout->variable[1];
    assert_string_equal(variance->name, "flow_variance");
    assert_string_equal(variance->unit, "(mV)^2");
    assert_true(variance->observable == GM_VARIANCE && variance->quantity == 2);
    const gm_variable *flow = find(f.layout, "flow");
    assert_string_equal(flow->unit, "mV");
    assert_string_equal(flow->long_name, "from the network: value over time");
    assert_true(flow->has_time && flow->has_node && flow->row_bytes == 4 * 25 * 3);
    clear(&f);
}

static void more_bytes_than_can_be_counted_are_refused(void **state)
{
    (void)state;
    fixture f = {0};
    gm_data data = {.n_node = 1};
    gm_status st = build(LORENZ "record: {last: x, mean: x}\naxes: {rho: {range: [1, 1e6, 1]}, "
                                "sigma: {range: [1, 1e6, 1]}, beta: {range: [1, 1e6, 1]}}\n",
                         &data, &f);
    assert_int_equal(st, GM_E_INPUT);
    assert_null(f.layout);
    assert_non_null(
        strstr(gm_status_message(), "more than 2^63 bytes (1000000000000000000 points"));
    clear(&f);
}

static void type_sizes(void **state)
{
    (void)state;
    assert_int_equal(gm_type_size(GM_TYPE_U8), 1);
    assert_int_equal(gm_type_size(GM_TYPE_F32), 4);
    assert_int_equal(gm_type_size(GM_TYPE_F64), 8);
    assert_int_equal(gm_type_size(GM_TYPE_I64), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_has_a_dimension_per_axis),
        cmocka_unit_test(no_axes_give_one_point),
        cmocka_unit_test(zip_has_one_dimension_and_a_coordinate_per_axis),
        cmocka_unit_test(time_coordinate_is_the_end_of_each_sampled_step),
        cmocka_unit_test(variables_carry_units_and_bytes),
        cmocka_unit_test(bookkeeping_comes_last),
        cmocka_unit_test(axis_named_like_something_in_the_file_is_renamed),
        cmocka_unit_test(derived_quantities_are_variables_behind_the_states),
        cmocka_unit_test(more_bytes_than_can_be_counted_are_refused),
        cmocka_unit_test(type_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
