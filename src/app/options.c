#include "app/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/problems.h"
#include "core/stop.h"

static const char *const command_names[] = {
    [GM_RUN] = "run",   [GM_PLAN] = "plan",     [GM_COMPILE] = "compile", [GM_MODELS] = "models",
    [GM_INFO] = "info", [GM_VERIFY] = "verify", [GM_DOCTOR] = "doctor",
};
enum { N_COMMAND = GM_DOCTOR + 1 };
enum { MAX_TILE = 1 << 30 }; /* threads of a GPU count points in 32 bits, past the last one too */

static const double usual_patience = 600; /* s */

enum {
    OPT_OUTPUT = 'o',
    OPT_SET = 's',
    OPT_HELP = 'h',
    OPT_QUIET = 'q',
    OPT_BACKEND = 256,
    OPT_ENGINE,
    OPT_TILE,
    OPT_CHUNK,
    OPT_SCHEDULE,
    OPT_THREADS,
    OPT_RANKS,
    OPT_MEASURED,
    OPT_RATE,
    OPT_BANDWIDTH,
    OPT_SHARE,
    OPT_MIXED,
    OPT_OVERWRITE,
    OPT_JSON,
    OPT_TEMPLATE,
    OPT_KERNEL,
    OPT_ARCH,
    OPT_NO_CACHE,
    OPT_NO_COMPILE,
    OPT_MAX_TIME,
    OPT_PATIENCE,
    OPT_CHECKPOINT,
    OPT_TAKE_OVER,
    OPT_RETRY_FAILED,
    OPT_RETRY_DAMAGED
};

/* Which commands take an option: one bit each. */
enum {
    ON_RUN = 1 << GM_RUN,
    ON_PLAN = 1 << GM_PLAN,
    ON_COMPILE = 1 << GM_COMPILE,
    ON_MODELS = 1 << GM_MODELS,
    ON_INFO = 1 << GM_INFO
};

static const struct {
    const char *name;
    int argument, id, commands;
} known[] = {
    {"output", required_argument, OPT_OUTPUT, ON_RUN | ON_PLAN | ON_COMPILE},
    {"set", required_argument, OPT_SET, ON_RUN | ON_PLAN | ON_COMPILE},
    {"backend", required_argument, OPT_BACKEND, ON_RUN | ON_PLAN | ON_COMPILE},
    {"engine", required_argument, OPT_ENGINE, ON_RUN | ON_PLAN | ON_COMPILE},
    {"tile", required_argument, OPT_TILE, ON_RUN | ON_PLAN},
    {"chunk", required_argument, OPT_CHUNK, ON_RUN | ON_PLAN},
    {"schedule", required_argument, OPT_SCHEDULE, ON_RUN | ON_PLAN},
    {"threads", required_argument, OPT_THREADS, ON_RUN | ON_PLAN},
    {"ranks", required_argument, OPT_RANKS, ON_PLAN},
    {"measured", required_argument, OPT_MEASURED, ON_PLAN},
    {"rate", required_argument, OPT_RATE, ON_PLAN},
    {"bandwidth", required_argument, OPT_BANDWIDTH, ON_PLAN},
    {"share-gpu", no_argument, OPT_SHARE, ON_RUN},
    {"allow-mixed", no_argument, OPT_MIXED, ON_RUN},
    {"overwrite", no_argument, OPT_OVERWRITE, ON_RUN},
    {"quiet", no_argument, OPT_QUIET, ON_RUN},
    {"json", no_argument, OPT_JSON, ON_RUN | ON_INFO},
    {"template", required_argument, OPT_TEMPLATE, ON_MODELS},
    {"kernel", required_argument, OPT_KERNEL, ON_RUN},
    {"arch", required_argument, OPT_ARCH, ON_COMPILE},
    {"no-cache", no_argument, OPT_NO_CACHE, ON_RUN},
    {"no-compile", no_argument, OPT_NO_COMPILE, ON_RUN},
    {"retry-failed", no_argument, OPT_RETRY_FAILED, ON_RUN},
    {"retry-damaged", no_argument, OPT_RETRY_DAMAGED, ON_RUN},
    {"take-over", no_argument, OPT_TAKE_OVER, ON_RUN},
    {"max-time", required_argument, OPT_MAX_TIME, ON_RUN},
    {"patience", required_argument, OPT_PATIENCE, ON_RUN},
    {"checkpoint", required_argument, OPT_CHECKPOINT, ON_RUN},
    {"help", no_argument, OPT_HELP, ~0},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

static const char help_all[] =
    "gridmarch: march a parameter sweep of a time-stepped model on GPUs or CPUs\n"
    "\n"
    "usage: gridmarch COMMAND [OPTION...]\n"
    "       mpirun -n 4 gridmarch run SWEEP.yaml -o RESULT.h5\n"
    "\n"
    "commands:\n"
    "  run SWEEP      march the sweep; the same command again computes only what is missing\n"
    "  plan SWEEP     say what a run would do: points, memory, size of the file; computes nothing\n"
    "  compile SWEEP  make the sweep's kernel here, for a machine without a compiler\n"
    "  models [NAME]  list the models, or one model's states, parameters and inputs;\n"
    "                 a model of your own: ./my_model.h\n"
    "  info FILE      progress, failures and origin of a result file\n"
    "  verify FILE    compare the data of a result file with their checksums\n"
    "  doctor [DIR]   check driver, GPUs, MPI and HDF5 of this machine, and a folder for results\n"
    "\n"
    "gridmarch COMMAND --help explains one command. docs/sweep-file.md explains the sweep file.\n";

static const char help_sweep[] =
    "  -s, --set KEY=VALUE    change a setting of the sweep file, e.g. time.dt=0.05;\n"
    "                         KEY=null removes it; may be given several times\n"
    "  -o, --output FILE      result file (default: `output` of the sweep file)\n"
    "      --backend NAME     auto (a GPU if there is one), cuda or cpu\n"
    "      --engine NAME      how a GPU marches a network: auto, matrix (products on tensor "
    "cores)\n"
    "                         or block (a block of threads per point)\n"
    "      --threads N        CPU threads of each rank (default: what the rank may use)\n"
    "      --tile N           points marched together (default: what suits the device)\n"
    "      --chunk N          steps between two exchanges with the host\n";

static const char help_schedule[] =
    "      --schedule NAME    static: every rank gets the same number of points; dynamic: a rank\n"
    "                         takes the next points when it has room, for unequal devices\n";

static const char help_run[] =
    "      --share-gpu        let several ranks use one GPU\n"
    "      --overwrite        replace an existing result file instead of resuming it\n"
    "      --kernel FILE      use a kernel made by `gridmarch compile`\n"
    "      --no-cache         compile anew, and keep nothing in the cache folder\n"
    "      --no-compile       use the kernels built into the program, not ones made for this "
    "sweep\n"
    "      --allow-mixed      accept devices or program versions that may differ in last digits\n"
    "      --retry-failed     compute points that diverged or failed again\n"
    "      --retry-damaged    check all stored data first (gridmarch verify), and compute damaged\n"
    "                         points again\n"
    "      --take-over        go on with a result whose last run died elsewhere, without watching\n"
    "                         its lock file for signs of life\n"
    "      --max-time T       stop after this time, e.g. 90 (seconds), 5m, 2h30m or 1:30:00; the\n"
    "                         same command goes on later. So do SIGTERM, SIGINT, SIGUSR1 and a\n"
    "                         file named like the result with .stop appended\n"
    "      --patience T       end the run when a rank is not heard of, or gets no further, for "
    "this\n"
    "                         time (default 10m), or `off`\n"
    "      --checkpoint T     save the points in hand each time T has passed (default: 5 minutes, "
    "or\n"
    "                         more where saving takes over 3 seconds); 0: only when a run is "
    "stopped\n"
    "  -q, --quiet            print nothing but errors\n"
    "      --json             print the summary as JSON on standard output\n";

static const char help_forecast[] =
    "      --measured FILE    foretell the run's time from a run of the same model and network: "
    "its\n"
    "                         result file, or the JSON it printed\n"
    "      --rate R           point-steps per second of a rank, in place of the measured ones\n"
    "      --bandwidth B      bytes per second into the file, of all ranks together, likewise\n";

static const char help_compile[] =
    "usage: gridmarch compile SWEEP.yaml [OPTION...]\n\n"
    "Compile the sweep's kernel and write it to a file. `gridmarch run` on a machine without a\n"
    "compiler finds it beside the sweep file, or is given its name.\n\n"
    "      --arch NAME        sm_90, sm_80, ... for a GPU, x86-64-v3, ... for a CPU\n"
    "                         (default: this machine's)\n"
    "  -s, --set KEY=VALUE    as for run: the kernel is made for these settings\n"
    "  -o, --output FILE      (default: SWEEP.yaml.ARCH.kernel)\n";

static const char help_models[] =
    "usage: gridmarch models [NAME | FILE.h]\n"
    "       gridmarch models --template NAME > NAME.h\n\n"
    "List the models; with a name: its states, parameters, couplings, inputs and noise.\n"
    "A name that holds a '/' or ends in .h is the file of a model of your own; it is checked.\n\n"
    "      --template NAME    print the header of a model to start from, named NAME\n";

void gm_options_help(gm_command command)
{
    switch (command) {
    case GM_RUN:
        printf("usage: gridmarch run SWEEP.yaml [OPTION...]\n\n"
               "March every point of the sweep and write one HDF5 file. If the file is there\n"
               "already, compute only what it lacks. Start it with mpirun or srun, one rank per "
               "GPU.\n\n%s%s%s\nExit codes: docs/exit-codes.md\n",
               help_sweep, help_schedule, help_run);
        break;
    case GM_PLAN:
        printf("usage: gridmarch plan SWEEP.yaml [OPTION...]\n\n"
               "Check the sweep and say what a run would do, without computing anything. Where a\n"
               "run would refuse the result file, the plan ends with that exit code.\n\n%s%s"
               "      --ranks N          share the points out over N ranks (default: those "
               "started)\n%s",
               help_sweep, help_schedule, help_forecast);
        break;
    case GM_COMPILE: fputs(help_compile, stdout); break;
    case GM_MODELS: fputs(help_models, stdout); break;
    case GM_INFO:
        printf("usage: gridmarch info FILE.h5 [--json]\n\nProgress, failures and origin of a "
               "result file; also while it is being written.\n");
        break;
    case GM_VERIFY:
        printf(
            "usage: gridmarch verify FILE.h5\n\nRead all data of finished points and compare them "
            "with the checksums that were stored\nwhen they were computed. Lists the points that "
            "differ; exit code 10 if there are any.\n");
        break;
    case GM_DOCTOR:
        printf("usage: gridmarch doctor [FOLDER]\n\nCheck what gridmarch needs on this machine: "
               "driver, GPUs, MPI, HDF5, C library.\nWith a folder: whether the ranks that are "
               "started can write one file there together\n(mpirun -n 4 gridmarch doctor "
               "FOLDER).\n");
        break;
    default: fputs(help_all, stdout);
    }
}

static gm_status read_command(const char *word, gm_options *o)
{
    for (int i = 0; i < N_COMMAND; i++)
        if (!strcmp(word, command_names[i])) {
            o->command = (gm_command)i;
            return GM_OK;
        }
    if (!strcmp(word, "--version") || !strcmp(word, "version")) {
        o->command = GM_VERSION_TEXT;
        return GM_OK;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        o->command = o->help_on = GM_HELP;
        return GM_OK;
    }
    const char *near = gm_nearest_name(word, command_names, N_COMMAND);
    return GM_FAIL(
        GM_E_USAGE,
        "unknown command \"%s\"%s%s%s; there are: run, plan, compile, models, info, verify, doctor",
        word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

/* A whole number from 1 up to a limit. */
static gm_status read_count(const char *name, const char *text, int64_t most, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1 || value > most)
        return GM_FAIL(GM_E_USAGE, "--%s %s: must be a whole number from 1 to %lld", name, text,
                       (long long)most);
    *out = value;
    return GM_OK;
}

static gm_status read_positive(const char *name, const char *text, double *out)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value <= 0)
        return GM_FAIL(GM_E_USAGE, "--%s %s: must be a positive number, such as 2.5e9", name, text);
    *out = value;
    return GM_OK;
}

static gm_status read_time(const char *name, const char *text, double *seconds)
{
    if (gm_stop_read_span(text, seconds)) return GM_OK;
    return GM_FAIL(GM_E_USAGE,
                   "--%s %s: must be a time of at least a second, such as 90 (seconds), 5m, "
                   "2h30m or 1:30:00",
                   name, text);
}

static gm_status read_patience(const char *text, double *seconds)
{
    *seconds = 0;
    return strcmp(text, "off") == 0 ? GM_OK : read_time("patience", text, seconds);
}

/* As a span, or seconds with a fraction, 0 too. */
static gm_status read_interval(const char *text, double *seconds)
{
    char *end = NULL;
    if (gm_stop_read_span(text, seconds)) return GM_OK;
    *seconds = strtod(text, &end);
    if (end != text && *end == '\0' && *seconds >= 0 && *seconds <= 1e9) return GM_OK;
    return GM_FAIL(GM_E_USAGE,
                   "--checkpoint %s: must be a time, such as 90 (seconds), 5m or 1h, or 0 for none "
                   "but that of a run that is stopped",
                   text);
}

static gm_status read_backend(const char *text, gm_backend_wish *out)
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *out = (gm_backend_wish)i;
            return GM_OK;
        }
    return GM_FAIL(GM_E_USAGE, "--backend %s: must be auto, cuda or cpu", text);
}

static gm_status read_engine(const char *text, gm_engine_wish *out)
{
    static const char *const names[] = {"auto", "block", "matrix"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *out = (gm_engine_wish)i;
            return GM_OK;
        }
    return GM_FAIL(GM_E_USAGE, "--engine %s: must be auto, matrix or block", text);
}

static gm_status read_schedule(const char *text, gm_schedule *out)
{
    const bool is_dynamic = strcmp(text, "dynamic") == 0;
    *out = is_dynamic ? GM_SCHEDULE_DYNAMIC : GM_SCHEDULE_STATIC;
    if (is_dynamic || strcmp(text, "static") == 0) return GM_OK;
    return GM_FAIL(GM_E_USAGE, "--schedule %s: must be static or dynamic", text);
}

static gm_status take(int id, const char *value, gm_options *o)
{
    int64_t number = 0;
    gm_status st = GM_OK;
    switch (id) {
    case OPT_OUTPUT: o->output = value; break;
    case OPT_SET: o->override[o->n_override++] = value; break;
    case OPT_BACKEND: return read_backend(value, &o->backend);
    case OPT_ENGINE: return read_engine(value, &o->engine);
    case OPT_TILE: return read_count("tile", value, MAX_TILE, &o->tile_points);
    case OPT_CHUNK: return read_count("chunk", value, INT64_C(1) << 40, &o->chunk_steps);
    case OPT_SCHEDULE: return read_schedule(value, &o->schedule);
    case OPT_THREADS:
        st = read_count("threads", value, 4096, &number);
        o->n_thread = (int)number;
        break;
    case OPT_RANKS:
        st = read_count("ranks", value, 1 << 24, &number);
        o->n_rank = (int)number;
        break;
    case OPT_MEASURED: o->measured = value; break;
    case OPT_RATE: return read_positive("rate", value, &o->rate);
    case OPT_BANDWIDTH: return read_positive("bandwidth", value, &o->bandwidth);
    case OPT_SHARE: o->share_gpu = true; break;
    case OPT_MIXED: o->allow_mixed = true; break;
    case OPT_OVERWRITE: o->overwrite = true; break;
    case OPT_QUIET: o->quiet = true; break;
    case OPT_JSON: o->json = true; break;
    case OPT_TEMPLATE: o->template_name = value; break;
    case OPT_KERNEL: o->kernel = value; break;
    case OPT_ARCH: o->architecture = value; break;
    case OPT_NO_CACHE: o->no_cache = true; break;
    case OPT_NO_COMPILE: o->no_compile = true; break;
    case OPT_RETRY_FAILED: o->retry_failed = true; break;
    case OPT_RETRY_DAMAGED: o->retry_damaged = true; break;
    case OPT_TAKE_OVER: o->take_over = true; break;
    case OPT_MAX_TIME: return read_time("max-time", value, &o->max_seconds);
    case OPT_PATIENCE: return read_patience(value, &o->patience);
    case OPT_CHECKPOINT: return read_interval(value, &o->checkpoint_seconds);
    case OPT_HELP:
        o->help_on = o->command;
        o->command = GM_HELP;
        break;
    default: break;
    }
    return st;
}

static gm_status unknown_option(const char *word, gm_command command)
{
    static const char *const settings[] = {"model",   "network", "axes",      "parameters",
                                           "initial", "inputs",  "time",      "integrator",
                                           "seed",    "record",  "precision", "design"};
    const char *names[N_KNOWN];
    const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : "";
    int n = 0;
    for (int i = 0; i < N_KNOWN; i++)
        if (known[i].commands >> command & 1) names[n++] = known[i].name;
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(name, known[i].name) && !(known[i].commands >> command & 1))
            return GM_FAIL(GM_E_USAGE, "gridmarch %s takes no %s; see gridmarch %s --help",
                           command_names[command], word, command_names[command]);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!strcmp(name, settings[i]) && (ON_RUN | ON_PLAN | ON_COMPILE) >> command & 1)
            return GM_FAIL(GM_E_USAGE,
                           "%s is a setting of the sweep file: change it with --set %s=VALUE", word,
                           name);
    const char *near = name[0] ? gm_nearest_name(name, names, n) : NULL;
    return GM_FAIL(GM_E_USAGE, "%s: unknown option%s%s; see gridmarch %s --help", word,
                   near ? "; did you mean --" : "", near ? near : "", command_names[command]);
}

static gm_status need_target(gm_options *o)
{
    if (o->kernel && o->no_compile)
        return GM_FAIL(GM_E_USAGE,
                       "either --kernel %s or --no-compile, which asks for the kernels built into "
                       "the program: not both",
                       o->kernel);
    if (o->target && o->template_name)
        return GM_FAIL(GM_E_USAGE, "either a model (\"%s\") or --template, not both", o->target);
    if (o->target || o->command == GM_MODELS || o->command >= GM_DOCTOR) return GM_OK;
    const bool of_result = o->command == GM_INFO || o->command == GM_VERIFY;
    return GM_FAIL(GM_E_USAGE, "gridmarch %s needs a %s: gridmarch %s %s",
                   command_names[o->command], of_result ? "result file" : "sweep file",
                   command_names[o->command], of_result ? "FILE.h5" : "SWEEP.yaml");
}

/* getopt takes "--max" for "--max-time" as long as no other begins so; a misspelt name is an error.
 */
static bool is_cut_short(const char *word, const struct option *table)
{
    const size_t n = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || n == 2) return false;
    for (; table->name; table++)
        if (strlen(table->name) == n - 2 && strncmp(table->name, word + 2, n - 2) == 0)
            return false;
    return true;
}

gm_status gm_options_read(int argc, char **argv, gm_options *o)
{
    gm_status st = GM_OK;
    struct option table[N_KNOWN + 1] = {{0}};
    int n_table = 0, id = 0;
    memset(o, 0, sizeof *o);
    o->command = o->help_on = GM_HELP;
    o->patience = usual_patience;
    o->checkpoint_seconds = -1;
    o->override = calloc((size_t)argc + 1, sizeof *o->override);
    if (!o->override) return GM_FAIL(GM_E_MEMORY, "out of memory");
    if (argc < 2) return GM_OK;
    GM_TRY(st, read_command(argv[1], o));
    if (o->command > GM_DOCTOR) goto cleanup;
    const gm_command command = o->command;
    for (int i = 0; i < N_KNOWN; i++) {
        if (!(known[i].commands >> command & 1)) continue;
        table[n_table].name = known[i].name;
        table[n_table].has_arg = known[i].argument;
        table[n_table++].val = known[i].id;
    }
    const bool sweeps = command == GM_RUN || command == GM_PLAN || command == GM_COMPILE;
    opterr = 0;
    optind = 2;
    while (optind < argc) {
        const char *word = argv[optind];
        id = getopt_long(argc, argv, sweeps ? "-:o:s:qh" : "-:h", table, NULL);
        if (id == -1) break;
        if (id == ':') {
            st = GM_FAIL(GM_E_USAGE, "%s: its value is missing; see gridmarch %s --help", word,
                         command_names[command]);
            goto cleanup;
        }
        if (id == '?' || (id != 1 && is_cut_short(word, table))) {
            st = unknown_option(word, command);
            goto cleanup;
        }
        if (id != 1) {
            GM_TRY(st, take(id, optarg, o));
            if (o->command == GM_HELP) goto cleanup;
        } else if (o->target) {
            st = GM_FAIL(GM_E_USAGE, "one file at a time: both \"%s\" and \"%s\" are given",
                         o->target, optarg);
            goto cleanup;
        } else {
            o->target = optarg;
        }
    }
    if (optind < argc) { /* after "--" all words are files */
        if (o->target || optind + 1 < argc) {
            st = GM_FAIL(GM_E_USAGE, "one file at a time: both \"%s\" and \"%s\" are given",
                         o->target ? o->target : argv[optind], argv[argc - 1]);
            goto cleanup;
        }
        o->target = argv[optind];
    }
    GM_TRY(st, need_target(o));
cleanup:
    return st;
}

void gm_options_clear(gm_options *options)
{
    free(options->override);
    options->override = NULL;
}
