/** Model headers with faults: each is named with its line, and none does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/model_fixture.h"

/* --- faults of the lists --------------------------------------------------------------------- */

static void faults_of_entries_are_named_with_their_place(void **state)
{
    (void)state;
    expect_change(
        "0.1, \"mV\"", "\"mV\"",
        "6:22: GM_STATES: an entry is X(name, initial value, \"unit\", \"description\"), of "
        "4 fields; the one of 'E' has 3");
    expect_change("0.1, \"mV\"", ", \"mV\"", "6:27: the initial value of 'E' is missing");
    expect_change("8.0 / 3.0", "8.0 / three",
                  "9:12: the default of 'tau' must be a number, or arithmetic of numbers");
    expect_change("8.0 / 3.0", "8 / 3", "9:12: the default of 'tau' must be a number");
    expect_change("8.0 / 3.0", "m->sigma", "9:12: the default of 'tau' must be a number");
    expect_change("8.0 / 3.0", "1e999", "9:12: the default of 'tau' must be finite; found '1e999'");
    expect_change("8.0 / 3.0", "1 / 0.0", "9:12: the default of 'tau' must be finite");
    expect_change("\"mV\"", "mV",
                  "6:32: the unit of 'E' must be a text in double quotes; found mV");
    expect_change("\"mV\"", "\"\"", "6:32: the unit of 'E' is empty; write \"1\" for none");
    expect_change("\"mV\"", "\"\xb5V\"", "6:32: the unit of 'E' must be one line of text in UTF-8");
    expect_change("\"angle\"", "\"an\\ngle\"",
                  "6:77: the description of 'phi' must be one line of text");
    expect_change("\"ring\"", "ring",
                  "2:23: GM_MODEL_NAME must be a text in double quotes; found ring");
    expect_change("\"ring\"", "\"\"", "2:9: GM_MODEL_NAME is empty; leave the line out");
    expect_change("\"ms\"", "",
                  "5:28: GM_MODEL_TIME_UNIT must be a text in double quotes; found nothing");
    expect_change("X(E, gm_sqrt(2 * m->sigma))", "X(E, )",
                  "13:27: GM_NOISES: here an expression is missing; it may use parameters");
}

static void lists_that_lack_or_are_misspelt_are_named(void **state)
{
    (void)state;
    expect_change("#define GM_PARAMS(X)", "#define GM_PARAM(X)",
                  "8:9: unknown GM_PARAM; did you mean GM_PARAMS?; names that begin with GM_");
    expect_change(
        "#define GM_PARAMS(X)", "#define GM_TAU 3\n#define GM_PARAMS(X)",
        "8:9: unknown GM_TAU; names that begin with GM_ or gm_ are gridmarch's own, and a "
        "model may define: GM_STATES, GM_PARAMS, ");
    expect_change("#include \"gm_model.h\"\n", "#include \"my_model.h\"\n",
                  " there is no line #include \"gm_model.h\"");
    accept_change("#include \"gm_model.h\"", "#include <kernels/models/gm_model.h>");
}

static void an_entry_behind_its_list_lacks_a_backslash(void **state)
{
    (void)state;
    expect_change("/* \\ */ \\\n", "\n",
                  "10:5: this X(...) belongs to no list: a backslash is missing at the end of "
                  "line 9");
    expect_change("GM_PARAMS(X)                                \\\n", "GM_PARAMS(X)\n\n",
                  "10:5: this X(...) belongs to no list: a backslash is missing at the end of "
                  "line 8");
    expect_change("/* \\ */ \\\n", "\\\n\n",
                  "11:5: this X(...) belongs to no list: a backslash is missing at the end of "
                  "line 10");
    expect_change("X(phi, -1, \"rad\", \"angle\")\n#define GM_PHASES(X) X(phi)\n",
                  "\nX (phi, -1, \"rad\", \"angle\")\n#define GM_PHASES(X) X(phj)\n",
                  "7:1: this X(...) belongs to no list: a backslash is missing at the end of "
                  "line 6");
    accept_change("#include \"gm_model.h\"\n",
                  "#include \"gm_model.h\"\nGM_FN gm_real X(gm_real a) { return a; }\n");
}

static void lists_go_before_the_include(void **state)
{
    (void)state;
    expect_change("#define GM_DERIVED(X)", "#include \"gm_model.h\"\n#define GM_DERIVED(X)",
                  "15:9: GM_DERIVED stands behind #include \"gm_model.h\"; lists go before it");
}

static void a_model_has_states(void **state)
{
    (void)state;
    const char *const rest =
        "#include \"gm_model.h\"\nGM_FN void gm_drift(const gm_params *m, const gm_state *s, const "
        "gm_drive *c, gm_state *d) { }\n";
    char text[512] = "#define GM_STATES(X)\n";
    expect_fault(strcat(text, rest), "1:9: the model has no states: #define GM_STATES(X) X(name, ");
    expect_fault(rest, " the model has no states");
}

static void names_that_cannot_be_are_refused(void **state)
{
    (void)state;
    expect_change("X(sigma, 0.25", "X(sigma, 0.25, \"1\", \"\") X(2x, 1",
                  "10:31: GM_PARAMS: '2x' is no name; a name begins with a letter");
    const struct {
        const char *name, *reason;
    } refused[] = {
        {"double", "it is a word of C or C++"},
        {"class", "it is a word of C or C++"},
        {"strength", "gridmarch itself uses it"},
        {"X", "gridmarch itself uses it"},
        {"turn", "gridmarch itself uses it"},
        {"time", "the result file or the sweep file uses it"},
        {"failed_step", "the result file or the sweep file uses it"},
        {"seed", "the result file or the sweep file uses it"},
        {"initial", "the result file or the sweep file uses it"},
        {"gm_x", "names that begin with gm_ or GM_ are gridmarch's own"},
        {"GM_x", "names that begin with gm_ or GM_ are gridmarch's own"},
        {"a__b", "a double underscore is the compiler's"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char by[128], expected[256];
        snprintf(by, sizeof by, "X(%s, 1, \"1\", \"\") X(sigma, ", refused[i].name);
        snprintf(expected, sizeof expected, "10:7: GM_PARAMS: '%s' cannot be a name here: %s",
                 refused[i].name, refused[i].reason);
        expect_change("X(sigma, ", by, expected);
    }
    expect_change("X(sigma, ", "X(a.b, 1, \"1\", \"\") X(sigma, ",
                  "10:7: GM_PARAMS: 'a.b' is no name");
    expect_change("X(sigma, ", "X(\xcf\x84, 1, \"1\", \"\") X(sigma, ",
                  "10:7: GM_PARAMS: '\xcf\x84' is no name");
    expect_change("X(sigma, ", "X(_a, 1, \"1\", \"\") X(sigma, ",
                  "10:7: GM_PARAMS: '_a' is no name");
    expect_change("X(sigma, ", "X(, 1, \"1\", \"\") X(sigma, ", "10:7: GM_PARAMS: '' is no name");
    expect_change("X(sigma, ",
                  "X(a123456789b123456789c123456789d123456789e123456789f123456789g123, 1, \"1\", "
                  "\"\") X(sigma, ",
                  "10:7: GM_PARAMS: the name 'a123456789b123456789c123456789d123456789e123456789f12"
                  "3456789...' is longer than 63 characters");
}

static void a_name_is_used_once(void **state)
{
    (void)state;
    expect_change("X(sigma, ", "X(tau, 1, \"1\", \"\") X(sigma, ",
                  "10:7: 'tau' is the name of this parameter and of a parameter before it (line 9, "
                  "column 7)");
    expect_change(
        "X(sigma, ", "X(E, 1, \"1\", \"\") X(sigma, ",
        "10:7: 'E' is the name of this parameter and of a state before it (line 6, column "
        "24)");
    expect_change("X(p_ext, ", "X(net, 1, \"1\", \"\") X(p_ext, ",
                  "12:24: 'net' is the name of this input and of a coupling before it");
    expect_change("X(rate, ", "X(tau, s->E, \"1\", \"\") X(rate, ",
                  "14:25: 'tau' is the name of this derived quantity and of a parameter before it");
    expect_change("X(rate, ", "X(p_ext, s->E, \"1\", \"\") X(rate, ",
                  "14:25: 'p_ext' is the name of this derived quantity and of an input before it");
    expect_change("X(rate, ", "X(E_mean, s->E, \"1\", \"\") X(rate, ",
                  "14:25: 'E_mean' is the result file's name for 'mean' of 'E'");
    expect_change("X(rate, ", "X(rate_last, s->E, \"1\", \"\") X(rate, ",
                  "14:25: 'rate_last' is the result file's name for 'last' of 'rate'");
    expect_change("#define GM_PHASES(X) X(phi)", "#define GM_PHASES(X) X(phi) X(phi)",
                  "7:31: GM_PHASES names 'phi' twice");
    expect_change("#define GM_NOISES(X)", "#define GM_NOISES(X) X(E, m->tau)",
                  "13:37: GM_NOISES names 'E' twice");
}

static void noises_and_phases_are_of_states(void **state)
{
    (void)state;
    expect_change("GM_PHASES(X) X(phi)", "GM_PHASES(X) X(phj)",
                  "7:24: GM_PHASES: there is no state 'phj'; did you mean 'phi'? states: E, phi");
    expect_change("X(E, gm_sqrt", "X(tau, gm_sqrt",
                  "13:24: GM_NOISES: there is no state 'tau'; states: E, phi");
}

/* --- expressions and functions --------------------------------------------------------------- */

static void expressions_use_what_is_there(void **state)
{
    (void)state;
    expect_change("gm_sin(s->phi)", "gm_sin(s->psi)",
                  "11:42: s->psi: there is no state 'psi'; did you mean 'phi'? states: E, phi");
    expect_change("gm_sin(s->phi)", "m->tau",
                  "11:32: GM_COUPLINGS: there is no m-> here; the expression may use states of the "
                  "sending node (s->NAME)");
    expect_change("gm_sin(s->phi)", "help(m, s->E)",
                  "11:37: GM_COUPLINGS: there is no m-> here; the expression may use states of the "
                  "sending node (s->NAME)");
    expect_change("gm_sqrt(2 * m->sigma)", "help(m, s)", "13:35: GM_NOISES: there is no s-> here");
    accept_change("X(rate, s->E", "X(rate, help(m, s->E)");
    accept_change("#define GM_COUPLINGS(X) X(net, gm_sin(s->phi)",
                  "#define m 2\n#define GM_COUPLINGS(X) X(net, gm_sin(m)");
    accept_change("gm_sin(s->phi)", "(s->phi + m)");
    expect_change("gm_sin(s->phi)", "phi", "11:32: 'phi' is a state: write s->phi");
    expect_change("2 * m->sigma", "2 * sigma", "13:39: 'sigma' is a parameter: write m->sigma");
    expect_change("2 * m->sigma", "2 * s->E", "13:39: GM_NOISES: there is no s-> here");
    expect_change("s->E / m->tau", "s->E / s->tau",
                  "14:41: 'tau' is no state but a parameter: write m->tau");
    expect_change(
        "c->net + c->s", "c->p + c->s",
        "14:50: c->p: there is no coupling or input 'p'; couplings and inputs: net, p_ext, "
        "strength");
}

static void names_in_functions_are_held_against_the_lists(void **state)
{
    (void)state;
    expect_change(
        "d -> phi = m->tau;", "d -> phi = m->tua + m->tua;",
        "23:19: m->tua: there is no parameter 'tua'; did you mean 'tau'? parameters: tau, "
        "sigma");
    expect_change("c->p_ext * c", "c->p_exr * c",
                  "22:40: c->p_exr: there is no coupling or input 'p_exr'; did you mean 'p_ext'?");
    expect_change("help(m, s->E)", "help(m, s->tau)",
                  "22:23: 'tau' is no state but a parameter: write m->tau");
    expect_change("d -> phi = m->tau;", "d -> phi = m->tau; d->psi = 1;",
                  "23:27: d->psi: there is no state 'psi'");
    expect_change("p->tau * m", "p->tao * m", "18:15: p->tao: there is no parameter 'tao'");
    expect_change("help(m, s->E)", "m->()", "22:15: m->(: there is no parameter '('");
    accept_change("    d->E",
                  "    struct { gm_real m; } o = {0}, *q = &o; (void)(q->m + o.m);\n    d->E");
}

static void pointers_may_have_other_names(void **state)
{
    (void)state;
    accept_change(
        "void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)\n"
        "{\n"
        "    d->E = help(m, s->E) + c->net + c->p_ext * c->strength;\n"
        "    d -> phi = m->tau;\n",
        "void gm_drift(gm_params const *restrict par,\n const gm_state* x, const gm_drive "
        "*const in, gm_state * dx)\n{\n"
        "    dx->E = x->E + in->net;\n dx->phi = par->tau;\n");
    expect_change(
        "gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)\n{\n    d->E = help(m,",
        "gm_params *par, const gm_state *s, const gm_drive *c, gm_state *d)\n{\n    d->E = "
        "help(par, par->taw +",
        "22:27: par->taw: there is no parameter 'taw'; did you mean 'tau'?");
}

static void functions_of_math_h_are_refused(void **state)
{
    (void)state;
    const char *const names[] = {"exp", "log", "sin", "cos", "tanh", "sqrt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int is_float = 0; is_float < 2; is_float++) {
            char by[64], expected[256];
            const char *suffix = is_float ? "f" : "";
            snprintf(by, sizeof by, "%s%s(s->E) + c->net", names[i], suffix);
            snprintf(expected, sizeof expected,
                     "22:28: %s%s is of math.h, which a GPU's compiler does not find and a CPU's "
                     "needs for it; write gm_%s",
                     names[i], suffix, names[i]);
            expect_change("c->net + c->p", strcat(by, " + c->p"), expected);
        }
    }
    expect_change("return p->tau * m", "return pow(m, 3) + pow(m, 2)",
                  "18:12: pow is of math.h, which a GPU's compiler does not find and a CPU's needs "
                  "for it; write x * x for whole powers, gm_exp(y * gm_log(x)) for others");
    expect_change("p->tau * m", "p->tau * fabsf (m)",
                  "18:21: fabsf is of math.h, which a GPU's compiler does not find and a CPU's "
                  "needs for it; write x < 0 ? -x : x");
    expect_change("gm_sqrt(2", "sqrt(2", "13:27: sqrt is of math.h");
    expect_change("GM_FN gm_real help", "#define E(x) (x - exp(x))\nGM_FN gm_real help",
                  "16:19: exp is of math.h");
    static const char *const files[] = {"<math.h>", "\"math.h\"", "<cmath>"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char by[96], expected[96];
        snprintf(by, sizeof by, "#include %s  /* for pow */\n#include \"gm_model.h\"\n", files[i]);
        snprintf(expected, sizeof expected,
                 "15:1: #include %s: a GPU's compiler finds no such file; leave the line out",
                 files[i]);
        expect_change("#include \"gm_model.h\"\n", by, expected);
    }
}

static void names_of_math_h_may_stand_elsewhere(void **state)
{
    (void)state;
    accept_change("return p", "/* exp(x) */ // sqrt(x)\n    return p");
    accept_change("\"activity", "\"exp(x) activity");
    accept_change("return p", "const gm_real cos = gm_cos(m), log = cos; (void)log;\n    return p");
    accept_change("GM_FN gm_real help",
                  "GM_FN gm_real exp(gm_real x) { return 1 + x; }\nGM_FN gm_real y(gm_real x)\n"
                  "{\n    return exp(x);\n}\nGM_FN gm_real help");
    accept_change("    return p->tau * m;", "#define sqrt(x) gm_sqrt(x)\n    return sqrt(m);");
    accept_change("    return p->tau * m;",
                  "#ifdef __CUDACC__\n    return exp(m);\n#else\n    return gm_exp(m);\n#endif");
    accept_change("return p->tau * m", "return my_exp(m) + gm_exp(m) + expfit(m) + p->tau");
}

static void every_slope_is_set(void **state)
{
    (void)state;
    expect_change("    d -> phi = m->tau;\n", "",
                  "20:12: gm_drift never sets d->phi, the slope of the state 'phi'");
    expect_change("d -> phi = m->tau;", "if (d->phi == 0) return;",
                  "20:12: gm_drift never sets d->phi");
    expect_change("d -> phi = m->tau;", "d->phi += m->tau;", "20:12: gm_drift never sets d->phi");
    accept_change("d -> phi = m->tau;", "rest(&d->phi);");
    accept_change("d -> phi = m->tau;", "rest(m, d);");
    accept_change("    d->E = ", "    d->phi = d->E = ");
    accept_change("    d -> phi = m->tau;\n", "#define SLOPE(n) d->n\n    SLOPE(phi) = 1;\n");
    accept_change("d -> phi = m->tau;", "gm_state r = {0}; *d = r;");
}

static void functions_begin_with_gm_fn(void **state)
{
    (void)state;
    static const char *const heads[] = {"static inline gm_real", "gm_real", "static gm_real",
                                        "inline const gm_real"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char by[64], expected[160];
        snprintf(by, sizeof by, "%s help", heads[i]);
        snprintf(expected, sizeof expected,
                 "16:%zu: help: write GM_FN in front, in place of static and inline: without it",
                 strlen(heads[i]) + 2);
        expect_change("GM_FN gm_real help", by, expected);
    }
    accept_change("GM_FN gm_real help", "gm_real GM_FN help");
    accept_change("GM_FN gm_real help", "#define MY_FN GM_FN\nMY_FN gm_real help");
    accept_change("GM_FN gm_real help", "gm_real later(gm_real x);\nGM_FN gm_real help");
    accept_change("    return p->tau * m;", "    if (m > 0) { return 1; }\n    return p->tau * m;");
}

static void gm_drift_is_there_as_it_must_be(void **state)
{
    (void)state;
    expect_change(
        "void gm_drift(", "void gm_dritf(",
        " there is no function gm_drift, which gives the slopes of the states: GM_FN void "
        "gm_drift(const gm_params *m, ");
    expect_change("GM_FN void gm_drift", "void gm_drift",
                  "20:6: gm_drift must begin with: GM_FN void gm_drift(const gm_params *m, ");
    expect_change("gm_state *d)", "const gm_state *d)", "20:12: gm_drift must begin with");
    expect_change("const gm_state *s, const gm_drive *c, gm_state *d)",
                  "const gm_drive *c, const gm_state *s, gm_state *d)",
                  "20:12: gm_drift must begin");
    expect_change("gm_state *d)", "gm_state d)", "20:12: gm_drift must begin with");
    accept_change("GM_FN gm_real help",
                  "GM_FN void gm_drift(const gm_params *m, const gm_state *s, "
                  "const gm_drive *c, gm_state *d);\nGM_FN gm_real help");
    accept_change("    d->E =",
                  "#if GM_DOUBLE\n    if (1) {\n#else\n    {\n#endif\n    }\n    d->E =");
}

static void all_faults_are_listed_at_once(void **state)
{
    (void)state;
    char *text = changed("8.0 / 3.0", "x");
    *strstr(text, "d -> phi") = 'e';
    memcpy(strstr(text, "X(phi)"), "X(psi)", 6);
    assert_int_equal(gm_model_read("m.h", text, problems, &model), GM_E_INPUT);
    assert_int_equal(gm_problems_count(problems), 3);
    assert_non_null(strstr(gm_status_message(), "the default of 'tau'"));
    assert_non_null(strstr(gm_status_message(), "there is no state 'psi'"));
    assert_non_null(strstr(gm_status_message(), "never sets d->phi"));
    free(text);
}

/* --- hostile texts --------------------------------------------------------------------------- */

static void large_texts_take_no_time(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    const char *const patterns[] = {
        "(",
        "{",
        "\"",
        "/*",
        "#",
        "\\\n",
        "m->a ",
        "f(",
        "f(gm_state*m){m->a;\n}}{{",
        "X(a,",
        "gm_drift(",
        "#define GM_A\n",
        "#define GM_STATES(X) X(a)\n",
        "#if 1\n",
        "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state "
        "*d){m->x=1;}\n",
        "f(gm_state*m){",
        "'",
        "-",
        " ",
        "\r"};
    char *text = malloc(N + 2);
    assert_non_null(text);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const size_t n = strlen(patterns[p]);
        for (size_t i = 0; i <= N; i++) text[i] = patterns[p][i % n];
        text[N] = '\0';
        assert_int_equal(gm_model_read("m.h", text, problems, &model), GM_E_INPUT);
        assert_in_range(gm_problems_count(problems), 1, 100);
        end(NULL);
        begin(NULL);
    }
    memset(text, ' ', N + 1);
    text[N + 1] = '\0';
    assert_int_equal(gm_model_read("m.h", text, problems, &model), GM_E_INPUT);
    assert_non_null(strstr(gm_status_message(), "larger than 1 MiB"));
    free(text);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Replace, insert, remove or copy a few pieces. */
static void mutate(char *text, size_t size, uint32_t *seed)
{
    static const char signs[] = "\"'\\/*(),#\n\r{}->=X&;. \xb5";
    for (uint32_t k = 1 + next_random(seed) % 4; k > 0; k--) {
        const size_t n = strlen(text);
        if (n < 64 || n + 64 >= size) return;
        char *at = text + next_random(seed) % (n - 32);
        const char *from = text + next_random(seed) % (n - 32);
        const char sign = signs[next_random(seed) % (sizeof signs - 1)];
        const size_t length = 1 + next_random(seed) % 16;
        switch (next_random(seed) % 4) {
        case 0: *at = sign; break;
        case 1: memmove(at, at + length, strlen(at + length) + 1); break;
        case 2: memmove(at, from, length); break;
        default: memmove(at + 1, at, strlen(at) + 1); *at = sign;
        }
    }
}

static void mutated_headers_do_no_harm(void **state)
{
    (void)state;
    enum { N = 20000 };
    char text[2 * sizeof whole];
    uint32_t seed = 20240229;
    int n_read = 0;
    for (int i = 0; i < N; i++) {
        strcpy(text, whole);
        mutate(text, sizeof text, &seed);
        const gm_status st = gm_model_read("m.h", text, problems, &model);
        assert_true(st == GM_OK ? model && gm_problems_count(problems) == 0
                                : !model && st == GM_E_INPUT && gm_problems_count(problems) > 0);
        n_read += st == GM_OK;
        end(NULL);
        begin(NULL);
    }
    assert_in_range(n_read, N / 50, N - N / 50);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(faults_of_entries_are_named_with_their_place),
        TEST(lists_that_lack_or_are_misspelt_are_named),
        TEST(an_entry_behind_its_list_lacks_a_backslash),
        TEST(lists_go_before_the_include),
        TEST(a_model_has_states),
        TEST(names_that_cannot_be_are_refused),
        TEST(a_name_is_used_once),
        TEST(noises_and_phases_are_of_states),
        TEST(expressions_use_what_is_there),
        TEST(names_in_functions_are_held_against_the_lists),
        TEST(pointers_may_have_other_names),
        TEST(functions_of_math_h_are_refused),
        TEST(names_of_math_h_may_stand_elsewhere),
        TEST(every_slope_is_set),
        TEST(functions_begin_with_gm_fn),
        TEST(gm_drift_is_there_as_it_must_be),
        TEST(all_faults_are_listed_at_once),
        TEST(large_texts_take_no_time),
        TEST(mutated_headers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
