/** CPU kernels compiled at run time: the same bits as the built-in ones, compilers' messages made
 *  fit for users, and nothing left behind. */
#include "engine_fixture.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/cpu/compile.h"
#include "kernels/cpu/compiler.h"
#include "kernels/cpu/load.h"
#include "scratch.h"

static char level[24]; /* of this processor */

/* Before each test: this processor's level, an empty folder for temporary files, the usual PATH. */
static int prepare(void **state)
{
    static char usual_path[4096];
    gm_device *device = NULL;
    gm_device_info info;
    (void)state;
    if (!usual_path[0]) snprintf(usual_path, sizeof usual_path, "%s", getenv("PATH"));
    unsetenv("GRIDMARCH_CPU_LEVEL");
    if (gm_backend_cpu.open(0, 1, &device) != GM_OK) return -1;
    gm_backend_cpu.describe(device, &info);
    gm_backend_cpu.close(&device);
    snprintf(level, sizeof level, "%s", info.architecture);
    mkdir(at("with blank"), 0700);
    gm_compiler_limit(120);
    return setenv("TMPDIR", path, 1) || setenv("PATH", usual_path, 1);
}

static int n_left_behind(void)
{
    int n = 0;
    DIR *names = opendir(at("with blank"));
    assert_non_null(names);
    for (struct dirent *d = readdir(names); d; d = readdir(names)) n += d->d_name[0] != '.';
    closedir(names);
    return n;
}

static const char *model_text(const char *name)
{
    char file[64];
    snprintf(file, sizeof file, "kernels/models/%s.h", name);
    const char *text = gm_source_find(file);
    assert_non_null(text);
    return text;
}

static gm_code compile(const char *model, gm_precision precision)
{
    gm_code code = {0};
    if (gm_cpu_compile("./my_model.h", model_text(model), precision, level, &code) != GM_OK)
        fail_msg("%s", gm_status_message());
    return code;
}

static gm_status compile_text(const char *text)
{
    gm_code code = {0};
    const gm_status st = gm_cpu_compile("./my_model.h", text, GM_FP32, level, &code);
    gm_code_clear(&code);
    return st;
}

/* A model with this in its function. */
static char *model_with(const char *statement)
{
    char *text = NULL;
    assert_true(asprintf(&text,
                         "#define GM_MODEL_NAME \"mine\"\n"
                         "#define GM_STATES(X) X(x, 0, \"1\", \"a state\")\n"
                         "#include \"gm_model.h\"\n"
                         "GM_FN void gm_drift(const gm_params *m, const gm_state *s,\n"
                         "                    const gm_drive *c, gm_state *d)\n"
                         "{\n"
                         "    %s;\n"
                         "}\n",
                         statement) > 0);
    return text;
}

/* --- the embedded engine -------------------------------------------------------------------------
 */

static void the_engine_s_text_is_embedded_as_it_is(void **state)
{
    (void)state;
    int n = 0;
    for (const gm_source_file *file = gm_source_files; file->name; file++) {
        char text[1 << 16];
        assert_ptr_equal(gm_source_find(file->name), file->text);
        if (strncmp(file->name, "kernels/", 8) != 0) continue;
        FILE *original = fopen(file->name, "r");
        assert_non_null(original);
        const size_t size = fread(text, 1, sizeof text - 1, original);
        fclose(original);
        text[size] = '\0';
        assert_string_equal(file->text, text);
        n++;
    }
    assert_true(n > 10);
    assert_string_equal(gm_source_find("gm_model.h"), gm_source_find("kernels/models/gm_model.h"));
    assert_null(gm_source_find("kernels/unknown.h"));
}

/* --- the same numbers ----------------------------------------------------------------------------
 */

/* Compilers of another version may round elsewhere: then there is nothing to compare. */
static bool made_by_the_same_compiler(const gm_code *code)
{
#if defined(__GNUC__) && !defined(__clang__)
    static const char version[] = "GCC: ";
    const char *found = memmem(code->data, (size_t)code->n_byte, version, sizeof version - 1);
    return found && strstr(found, __VERSION__);
#else
    (void)code;
    return false;
#endif
}

static trial create_trial(const char *model, const char *precision)
{
    char text[1024];
    const bool rich = !strcmp(model, "wilson_cowan");
    snprintf(text, sizeof text,
             "model: %s\nintegrator: heun\nprecision: %s\n%s"
             "time: {dt: 0.1, duration: 20, transient: 1}\nseed: 11\naxes: {%s}\n%s"
             "record: {last: all, mean: all, variance: all, min: all, max: all,\n"
             "  trajectory: {variables: all, every: 3}}\n",
             model, precision, strcmp(model, "lorenz63") ? SOME_NETWORK : "",
             strcmp(model, "lorenz63") ? "G: {linspace: [0, 2, 37]}"
                                       : "rho: {linspace: [0, 3, 37]}",
             rich ? "parameters: {sigma_e: 0.01, sigma_i: 0.02}\n"
                    "inputs: {p_e: {file: p.csv, step: 0.3, interpolation: linear}, p_i: 0.2}\n"
                  : "");
    trial t = trial_create(text, strcmp(model, "lorenz63") ? 5 : 1);
    if (rich) trial_signal(&t, 0, 80, 5);
    return t;
}

static void compare_with_built_in(const char *model, const char *precision)
{
    trial t = create_trial(model, precision);
    gm_code code = compile(model, t.sweep->precision);
    if (!made_by_the_same_compiler(&code)) {
        gm_code_clear(&code);
        trial_destroy(&t);
        print_message("skipped: the compiler here is not the one that made this program\n");
        skip();
    }
    outcome built_in = march(&t, 0, 0, 1);
    outcome compiled = march_code(&t, 5, 13, 2, &code);
    if (!outcomes_equal(&built_in, &compiled))
        fail_msg("%s in %s for %s differs", model, precision, level);
    assert_int_equal(n_left_behind(), 0);
    outcome_destroy(&built_in);
    outcome_destroy(&compiled);
    gm_code_clear(&code);
    trial_destroy(&t);
}

static void a_built_in_model_given_as_text_gives_the_same_bits(void **state)
{
    (void)state;
    compare_with_built_in("wilson_cowan", "fp32");
    compare_with_built_in("wilson_cowan", "fp64");
    compare_with_built_in("lorenz63", "fp64");
    compare_with_built_in("kuramoto", "fp32");
}

static void so_it_does_for_every_instruction_set(void **state)
{
    (void)state;
    for (const gm_cpu_level *other = gm_cpu_levels; other->name; other++) {
        gm_device *device = NULL;
        setenv("GRIDMARCH_CPU_LEVEL", other->name, 1);
        if (gm_backend_cpu.open(0, 1, &device) != GM_OK) continue;
        gm_backend_cpu.close(&device);
        snprintf(level, sizeof level, "%s", other->name);
        compare_with_built_in("hopf", "fp32");
    }
}

/* --- loading -------------------------------------------------------------------------------------
 */

static void kernels_loaded_side_by_side_stay_apart(void **state)
{
    (void)state;
    gm_code code[2] = {compile("hopf", GM_FP32), compile("lorenz63", GM_FP64)};
    const gm_cpu_kernel *kernel[3] = {NULL, NULL, NULL};
    void *handle[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++)
        assert_int_equal(gm_cpu_load(&code[i % 2], &kernel[i], &handle[i]), GM_OK);
    assert_string_equal(kernel[0]->model, "hopf");
    assert_string_equal(kernel[1]->model, "lorenz63");
    gm_cpu_unload(&handle[0]);
    assert_null(handle[0]);
    gm_cpu_unload(&handle[0]);
    assert_string_equal(kernel[1]->model, "lorenz63");
    assert_int_equal(kernel[1]->lanes, 8);
    assert_string_equal(kernel[2]->model, "hopf");
    assert_int_equal(kernel[2]->lanes, 16);
    gm_cpu_unload(&handle[1]);
    gm_cpu_unload(&handle[2]);
    gm_code_clear(&code[0]);
    gm_code_clear(&code[1]);
    assert_null(code[0].data);
}

static void what_is_no_kernel_is_refused(void **state)
{
    (void)state;
    char garbage[5000] = "no object";
    const gm_code code = {.data = garbage, .n_byte = sizeof garbage};
    const gm_code nothing = {.data = garbage, .n_byte = 0};
    const gm_cpu_kernel *kernel = NULL;
    void *handle = NULL;
    assert_int_equal(gm_cpu_load(&code, &kernel, &handle), GM_E_DEVICE);
    assert_int_equal(gm_cpu_load(&nothing, &kernel, &handle), GM_E_DEVICE);
    assert_null(handle);
    assert_int_equal(n_left_behind(), 0);
}

/* Replace the only place of a text by another of its length. */
static void patch(gm_code *code, const char *text, const char *by)
{
    char *place = memmem(code->data, (size_t)code->n_byte, text, strlen(text));
    assert_non_null(place);
    memcpy(place, by, strlen(by));
}

static void a_kernel_of_another_engine_or_processor_is_refused(void **state)
{
    (void)state;
    gm_code code = compile("hopf", GM_FP32);
    const gm_cpu_kernel *kernel = NULL;
    void *handle = NULL;
    char engine[GM_HASH_TEXT_SIZE], other[GM_HASH_TEXT_SIZE];
    gm_cpu_engine_hash(engine);
    memcpy(other, engine, sizeof other);
    other[0] = engine[0] == '0' ? '1' : '0';
    patch(&code, engine, other);
    assert_int_equal(gm_cpu_load(&code, &kernel, &handle), GM_E_DEVICE);
    assert_non_null(strstr(gm_status_message(), "another version"));
    patch(&code, other, engine);
    assert_int_equal(gm_cpu_load(&code, &kernel, &handle), GM_OK);
    gm_cpu_unload(&handle);
    gm_code_clear(&code);
}

static void a_kernel_of_another_model_or_precision_is_refused(void **state)
{
    (void)state;
    trial t = create_trial("lorenz63", "fp32");
    gm_code code[2] = {compile("hopf", GM_FP32), compile("lorenz63", GM_FP64)};
    gm_device *device = NULL;
    gm_engine *engine = NULL;
    assert_int_equal(gm_backend_cpu.open(0, 1, &device), GM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gm_backend_cpu.engine_create(device, t.sweep, t.data, (gm_tiling){37, 200},
                                                      &code[i], &engine),
                         GM_E_INPUT);
        assert_non_null(strstr(gm_status_message(), i == 0 ? "hopf" : "fp64"));
        assert_null(engine);
        gm_code_clear(&code[i]);
    }
    gm_backend_cpu.close(&device);
    trial_destroy(&t);
}

/* --- keys ----------------------------------------------------------------------------------------
 */

static char *key_of(const char *model, gm_precision precision, const char *of_level)
{
    char *key = NULL;
    if (gm_cpu_source_key(model_text(model), precision, of_level, &key) != GM_OK)
        fail_msg("%s", gm_status_message());
    return key;
}

static void whatever_changes_the_code_changes_the_key(void **state)
{
    (void)state;
    char engine[GM_HASH_TEXT_SIZE];
    char *keys[] = {key_of("hopf", GM_FP32, "x86-64-v3"), key_of("hopf", GM_FP64, "x86-64-v3"),
                    key_of("hopf", GM_FP32, "x86-64-v2"), key_of("kuramoto", GM_FP32, "x86-64-v3")};
    char *again = key_of("hopf", GM_FP32, "x86-64-v3");
    gm_cpu_engine_hash(engine);
    assert_string_equal(again, keys[0]);
    assert_non_null(strstr(again, engine));
    free(again);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(keys[i], keys[j]);
    for (int i = 0; i < 4; i++) free(keys[i]);
}

static void two_compilers_under_one_path_have_two_names(void **state)
{
    (void)state;
    const char *version = NULL, *reason = NULL;
    char script[64], expected[64];
    for (int i = 1; i <= 2; i++) {
        snprintf(script, sizeof script, "#!/bin/sh\necho version %d\n", i);
        snprintf(expected, sizeof expected, "version %d\n", i);
        put_text("my_cc", script);
        assert_int_equal(chmod(path, 0700), 0);
        setenv("CC", path, 1);
        assert_true(gm_cpu_compiler(&version, &reason));
        assert_string_equal(version, expected);
    }
    put_text("my_cc", "#!/bin/sh\nexit 3\n");
    assert_false(gm_cpu_compiler(&version, &reason));
    assert_non_null(strstr(reason, "cannot tell its version"));
    unsetenv("CC");
}

/* --- faults --------------------------------------------------------------------------------------
 */

static int count_of(const char *word)
{
    int n = 0;
    for (const char *at_word = strstr(gm_status_message(), word); at_word;
         at_word = strstr(at_word + 1, word))
        n++;
    return n;
}

static void expect_refusal(const char *statement, const char *says)
{
    char *text = model_with(statement);
    assert_int_equal(compile_text(text), GM_E_INPUT);
    if (count_of("./my_model.h:7:") != 1 || !strstr(gm_status_message(), says) ||
        strstr(gm_status_message(), "gridmarch."))
        fail_msg("%s: %s", statement, gm_status_message());
    assert_int_equal(n_left_behind(), 0);
    free(text);
}

static void a_fault_is_named_once_with_the_user_s_file_and_line(void **state)
{
    (void)state;
    expect_refusal("d->x = 1 +", "expected expression");
    expect_refusal("d->x = unknown(s->x)", "unknown");
    expect_refusal("d->x = s->y", "y");
    expect_refusal("int *p = s->x; d->x = *p", "int *");
}

static void a_path_with_quotes_and_blanks_is_named_as_it_is(void **state)
{
    (void)state;
    gm_code code = {0};
    char *text = model_with("d->x = 1 +");
    assert_int_equal(gm_cpu_compile("my \"odd\\ ?\?/one.h", text, GM_FP32, level, &code),
                     GM_E_INPUT);
    assert_int_equal(count_of("my \"odd\\ ?\?/one.h:7:"), 1);
    free(text);
}

static void a_function_that_is_nowhere_is_found_when_compiling(void **state)
{
    (void)state;
    char *text = model_with("float nowhere(float); d->x = nowhere(s->x)");
    assert_int_equal(compile_text(text), GM_E_INPUT);
    assert_non_null(strstr(gm_status_message(), "undefined reference to `nowhere'"));
    free(text);
}

static void many_faults_are_cut_to_twenty_lines(void **state)
{
    (void)state;
    char statement[2000] = "d->x = 0";
    for (int i = 0; i < 50; i++) strcat(statement, ";\n    d->x += s->y");
    char *text = model_with(statement);
    assert_int_equal(compile_text(text), GM_E_INPUT);
    assert_int_equal(count_of("\n"), 20);
    free(text);
}

static void without_a_compiler_there_is_advice(void **state)
{
    (void)state;
    const char *version = NULL, *reason = NULL;
    static const char *const paths[] = {"", "/nowhere", ":.:relative"};
    for (int i = 0; i < 3; i++) {
        setenv("PATH", paths[i], 1);
        assert_int_equal(compile_text(model_text("hopf")), GM_E_DEVICE);
        assert_non_null(strstr(gm_status_message(), "gridmarch compile"));
        assert_false(gm_cpu_compiler(&version, &reason));
    }
    assert_int_equal(n_left_behind(), 0);
}

static void the_backend_tells_whether_it_can_compile(void **state)
{
    (void)state;
    const char *version = NULL, *reason = NULL;
    trial t = create_trial("hopf", "fp32");
    char *key = NULL;
    assert_true(gm_backend_cpu.compiler(&version, &reason));
    assert_true(strlen(version) > 0);
    setenv("PATH", "", 1);
    assert_false(gm_backend_cpu.compiler(&version, &reason));
    assert_string_equal(reason, "none of cc, gcc and clang is on PATH");
    /* what would be compiled can be told all the same */
    assert_int_equal(gm_backend_cpu.compile_key(t.sweep, t.data, level, &key), GM_OK);
    assert_non_null(strstr(key, "GM_STATES"));
    free(key);
    trial_destroy(&t);
}

static void the_compiler_is_the_one_that_cc_names(void **state)
{
    (void)state;
    setenv("CC", "  gcc -with options", 1);
    char found[PATH_MAX], reason[GM_REASON_SIZE];
    assert_true(gm_compiler_find(found, reason));
    assert_string_equal(strrchr(found, '/'), "/gcc");
    static const char *const missing[] = {"no_such_compiler", "/etc/passwd", "/nowhere/cc", "/usr"};
    for (int i = 0; i < 4; i++) {
        setenv("CC", missing[i], 1);
        assert_int_equal(compile_text(model_text("hopf")), GM_E_DEVICE);
        assert_non_null(strstr(gm_status_message(), missing[i]));
        assert_non_null(strstr(gm_status_message(), "gridmarch compile"));
    }
    unsetenv("CC");
}

/* A compiler that is this script. */
static gm_status compile_with_script(const char *script)
{
    char text[512];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    put_text("script", text);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("CC", path, 1);
    const gm_status st = compile_text(model_text("hopf"));
    unsetenv("CC");
    assert_int_equal(n_left_behind(), 0);
    return st;
}

static void a_compiler_that_fails_is_no_fault_of_the_model(void **state)
{
    (void)state;
    assert_int_equal(compile_with_script("echo 'unknown option -march=x86-64-v4' >&2; exit 1"),
                     GM_E_DEVICE);
    assert_non_null(strstr(gm_status_message(), "unknown option -march"));
    assert_int_equal(compile_with_script("kill -SEGV $$"), GM_E_DEVICE);
    assert_int_equal(compile_with_script("exit 0"), GM_E_IO); /* made nothing */
    put_text("script", "no program at all");
    setenv("CC", path, 1);
    assert_int_equal(compile_text(model_text("hopf")), GM_E_DEVICE);
    unsetenv("CC");
}

static void a_compiler_that_hangs_is_ended_with_all_it_started(void **state)
{
    (void)state;
    static const char *const hanging[] = {"sleep 50", "sleep 50 & exec sleep 50",
                                          "exec >&- 2>&-; sleep 50", "while :; do echo x; done"};
    gm_compiler_limit(0.3);
    for (int i = 0; i < 4; i++) {
        const time_t begin = time(NULL);
        assert_int_equal(compile_with_script(hanging[i]), GM_E_DEVICE);
        assert_non_null(strstr(gm_status_message(), "longer than 0.3 s"));
        assert_true(time(NULL) - begin < 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_engine_s_text_is_embedded_as_it_is, prepare),
        cmocka_unit_test_setup(a_built_in_model_given_as_text_gives_the_same_bits, prepare),
        cmocka_unit_test_setup(so_it_does_for_every_instruction_set, prepare),
        cmocka_unit_test_setup(kernels_loaded_side_by_side_stay_apart, prepare),
        cmocka_unit_test_setup(what_is_no_kernel_is_refused, prepare),
        cmocka_unit_test_setup(a_kernel_of_another_engine_or_processor_is_refused, prepare),
        cmocka_unit_test_setup(a_kernel_of_another_model_or_precision_is_refused, prepare),
        cmocka_unit_test_setup(whatever_changes_the_code_changes_the_key, prepare),
        cmocka_unit_test_setup(two_compilers_under_one_path_have_two_names, prepare),
        cmocka_unit_test_setup(a_fault_is_named_once_with_the_user_s_file_and_line, prepare),
        cmocka_unit_test_setup(a_path_with_quotes_and_blanks_is_named_as_it_is, prepare),
        cmocka_unit_test_setup(a_function_that_is_nowhere_is_found_when_compiling, prepare),
        cmocka_unit_test_setup(many_faults_are_cut_to_twenty_lines, prepare),
        cmocka_unit_test_setup(without_a_compiler_there_is_advice, prepare),
        cmocka_unit_test_setup(the_backend_tells_whether_it_can_compile, prepare),
        cmocka_unit_test_setup(the_compiler_is_the_one_that_cc_names, prepare),
        cmocka_unit_test_setup(a_compiler_that_fails_is_no_fault_of_the_model, prepare),
        cmocka_unit_test_setup(a_compiler_that_hangs_is_ended_with_all_it_started, prepare),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
