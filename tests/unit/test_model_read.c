/** Model headers read as text give what a compiler gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "core/sweep.h"
#include "kernels/backend.h"
#include "tests/unit/model_fixture.h"

static char *load(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "kernels/models/%s.h", name);
    FILE *file = fopen(path, "rb"); /* tests run in the root of the sources */
    if (!file) fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void expect_quantities(const gm_quantity *a, const gm_quantity *b, int n)
{
    for (int i = 0; i < n; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_memory_equal(&a[i].value, &b[i].value, sizeof a[i].value);
        assert_string_equal(a[i].unit, b[i].unit);
        assert_string_equal(a[i].doc, b[i].doc);
    }
}

static void expect_info(const gm_model_info *a, const gm_model_info *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->doc, b->doc);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->time_unit, b->time_unit);
    assert_int_equal(a->n_state, b->n_state);
    assert_int_equal(a->n_param, b->n_param);
    assert_int_equal(a->n_coupling, b->n_coupling);
    assert_int_equal(a->n_input, b->n_input);
    assert_int_equal(a->n_noise, b->n_noise);
    assert_int_equal(a->n_derived, b->n_derived);
    assert_int_equal(a->phase_mask, b->phase_mask);
    expect_quantities(a->state, b->state, a->n_state);
    expect_quantities(a->param, b->param, a->n_param);
    expect_quantities(a->coupling, b->coupling, a->n_coupling);
    expect_quantities(a->input, b->input, a->n_input);
    expect_quantities(a->derived, b->derived, a->n_derived);
    for (int k = 0; k < a->n_derived; k++)
        assert_string_equal(a->derived_expression[k], b->derived_expression[k]);
    for (int k = 0; k < a->n_noise; k++) {
        assert_int_equal(a->noise_state[k], b->noise_state[k]);
        assert_string_equal(a->noise_amplitude[k], b->noise_amplitude[k]);
    }
}

static void built_in_headers_give_what_the_compiler_gives(void **state)
{
    (void)state;
    assert_true(gm_builtin_models.n_model >= 4);
    for (int i = 0; i < gm_builtin_models.n_model; i++) {
        const gm_model_info *compiled = gm_builtin_models.model[i];
        char *text = load(compiled->name);
        read_ok(text);
        expect_info(&model->info, compiled);
        assert_string_equal(model->text, text);
        free(text);
    }
}

static void every_list_is_read(void **state)
{
    (void)state;
    read_ok(whole);
    const gm_model_info *m = &model->info;
    assert_string_equal(model->path, "dir/my_model.h");
    assert_string_equal(m->name, "ring");
    assert_string_equal(m->doc, "a, (test) model");
    assert_string_equal(m->source, "nobody");
    assert_string_equal(m->time_unit, "ms");
    assert_int_equal(strlen(m->source_hash), 32);
    const gm_model_info expected = {
        .name = "ring",
        .doc = "a, (test) model",
        .source = "nobody",
        .time_unit = "ms",
        .n_state = 2,
        .state = (const gm_quantity[]){{"E", 0.1, "mV", "activity, (first)"},
                                       {"phi", -1, "rad", "angle"}},
        .n_param = 2,
        .param = (const gm_quantity[]){{"tau", 8.0 / 3.0, "ms", "time constant"},
                                       {"sigma", 0.25, "1", "noise"}},
        .n_coupling = 1,
        .coupling = (const gm_quantity[]){{"net", 0, "1", "sum"}},
        .n_input = 1,
        .input = (const gm_quantity[]){{"p_ext", 0.5, "1", "drive"}},
        .n_noise = 1,
        .noise_state = (const int[]){0},
        .noise_amplitude = (const char *const[]){"gm_sqrt(2 * m->sigma)"},
        .phase_mask = 2,
        .n_derived = 1,
        .derived = (const gm_quantity[]){{"rate", 0, "Hz", "rate"}},
        .derived_expression = (const char *const[]){"s->E / m->tau + c->net + c->strength"},
    };
    expect_info(m, &expected);
}

static void texts_of_the_model_have_defaults(void **state)
{
    (void)state;
    read_ok("#define GM_STATES(X) X(x, 0, \"1\", \"\")\n#include \"gm_model.h\"\n"
            "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, "
            "gm_state *d) { (void)m, (void)c; d->x = -s->x; }");
    assert_string_equal(model->info.name, "my_model");
    assert_string_equal(model->info.doc, "");
    assert_string_equal(model->info.source, "");
    assert_string_equal(model->info.time_unit, "1");
    assert_int_equal(model->info.n_param, 0);
    accept_change("#define GM_MODEL_NAME \"ring\"\n", "");
    assert_string_equal(model->info.name, "my_model");
}

static void line_ends_and_byte_order_marks_do_not_matter(void **state)
{
    (void)state;
    read_ok(whole);
    gm_model *plain = model;
    model = NULL;
    char *text = calloc(1, 2 * sizeof whole + 8);
    assert_non_null(text);
    char *to = stpcpy(text, "\xef\xbb\xbf");
    for (const char *c = whole; *c; c++) {
        if (*c == '\n') *to++ = '\r';
        *to++ = *c;
    }
    read_ok(text);
    expect_info(&model->info, &plain->info);
    assert_string_equal(model->text, text + 3);
    free(text);
    gm_model_destroy(&plain);
}

static void the_hash_is_of_the_text(void **state)
{
    (void)state;
    char first[64];
    read_ok(whole);
    strcpy(first, model->info.source_hash);
    read_ok(whole);
    assert_string_equal(model->info.source_hash, first);
    accept_change("/* A model. */", "/* A model! */");
    assert_string_not_equal(model->info.source_hash, first);
}

static void comments_may_stand_anywhere(void **state)
{
    (void)state;
    read_ok(whole);
    gm_model *plain = model;
    model = NULL;
    accept_change("X(E, 0.1,", "/* X( \" */ X /**/ ( E /* , */, /* 2\n */ 0.1 /* \n\n */ ,");
    expect_info(&model->info, &plain->info);
    accept_change("#define GM_STATES(X)",
                  "/* a\n * b */ # /**/ define /**/ GM_STATES(/**/X) /* // \\\n */");
    expect_info(&model->info, &plain->info);
    accept_change("d->E =", "/* d->I = m->none; */ d /* */ -> /* */ E // m->none\n /* */ = // 1\n");
    accept_change(
        "    d->E",
        "    const char *t = \"m->none } {\"; char c1 = '}'; (void)t, (void)c1;\n    d->E");
    gm_model_destroy(&plain);
}

/* Nothing may be computed from couplings that are not there: in doubt, they are needed. */
static void couplings_of_derived_quantities_are_told_from_their_text(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        bool couples;
    } cases[] = {
        {"s->E", false},
        {"1e5f * s -> E - GM_C(2.5e-3) / m->tau", false},
        {"gm_exp(-s->E) * (gm_real)0x1p-3", false},
        {"c->p_ext + c->strength * s->phi", false},
        {"c->net", true},
        {"s->E + c -> net", true},
        {"c->p_ext * c->net", true},
        {"help(m, 2)", true},
        {"SCALE * s->E", true},
        {"(*c).p_ext", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        accept_change("s->E / m->tau + c->net + c->strength", cases[i].expression);
        if (gm_model_derived_couples(&model->info, 0) != cases[i].couples)
            fail_msg("%s", cases[i].expression);
    }
}

static void noise_is_evaluated_where_it_is_arithmetic(void **state)
{
    (void)state;
    const double param[] = {1, 8};
    read_ok(whole);
    assert_true(gm_model_noise_is_known(&model->info, 0));
    assert_float_equal(gm_model_noise_value(&model->info, param, 0), 4, 0);
    accept_change("gm_sqrt(2 * m->sigma)", "m->sigma > 1 ? m->sigma : 0");
    assert_string_equal(model->info.noise_amplitude[0], "m->sigma > 1 ? m->sigma : 0");
    assert_false(gm_model_noise_is_known(&model->info, 0));
    assert_true(isnan(gm_model_noise_value(&model->info, param, 0)));
}

/* Is there noise in a sweep of a plain ODE with this amplitude, at sigma = -1? */
static bool sweep_has_noise(const char *amplitude)
{
    char text[1024];
    snprintf(text, sizeof text,
             "#define GM_STATES(X) X(x, 0, \"1\", \"\")\n#define GM_PARAMS(X) X(sigma, -1, \"1\", "
             "\"\")\n#define GM_NOISES(X) X(x, %s)\n#include \"gm_model.h\"\nGM_FN void "
             "gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)\n"
             "{ d->x = -s->x; }\n",
             amplitude);
    read_ok(text);
    const gm_model_info *const models[] = {&model->info};
    const gm_model_catalog catalog = {.model = models, .n_model = 1};
    static const char yaml[] =
        "model: my_model\nintegrator: heun\ntime: {dt: 0.5, duration: 1}\nrecord: {last: [x]}\n";
    gm_sweep *sweep = NULL;
    const gm_status st =
        gm_sweep_parse("s.yaml", yaml, (int64_t)strlen(yaml), NULL, 0, &catalog, problems, &sweep);
    if (st != GM_OK) fail_msg("%s", gm_status_message());
    const bool noise = sweep->noise;
    gm_sweep_destroy(&sweep);
    return noise;
}

static void an_amplitude_that_cannot_be_evaluated_counts_as_noise(void **state)
{
    (void)state;
    assert_true(sweep_has_noise("m->sigma > 0 ? m->sigma : 0"));
    assert_true(sweep_has_noise("-m->sigma"));
    assert_false(sweep_has_noise("0 * m->sigma"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(built_in_headers_give_what_the_compiler_gives),
        TEST(every_list_is_read),
        TEST(texts_of_the_model_have_defaults),
        TEST(line_ends_and_byte_order_marks_do_not_matter),
        TEST(the_hash_is_of_the_text),
        TEST(comments_may_stand_anywhere),
        TEST(couplings_of_derived_quantities_are_told_from_their_text),
        TEST(noise_is_evaluated_where_it_is_arithmetic),
        TEST(an_amplitude_that_cannot_be_evaluated_counts_as_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
