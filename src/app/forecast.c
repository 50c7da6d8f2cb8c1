/* Every line of a forecast says where its rate comes from. */
#include "app/forecast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/report.h"
#include "core/cost.h"
#include "core/json.h"
#include "io/plain_file.h"
#include "io/store.h"

enum { TEXT = 128, MAX_BYTES = 1 << 16 };

/* The text of a file that `gridmarch run --json` or jobscripts/scaling.py has written; *text is
 * NULL for a file of another kind. */
static gm_status read_json(const char *path, char **text)
{
    gm_status st = GM_OK;
    FILE *file = NULL;
    const char *fault = gm_plain_stream(path, &file);
    *text = NULL;
    if (fault) return GM_FAIL(GM_E_INPUT, "--measured %s: %s", path, fault);
    const int first = fgetc(file);
    if (first != '{') goto cleanup;
    *text = calloc(1, MAX_BYTES + 1);
    if (!*text) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    (*text)[0] = '{';
    if (fread(*text + 1, 1, MAX_BYTES - 1, file) == 0)
        st = GM_FAIL(GM_E_INPUT, "--measured %s: holds no summary of a run", path);
cleanup:
    fclose(file);
    return st;
}

/* The summary of the last run that has ended. */
static gm_status read_result(const char *path, char **text)
{
    gm_status st = GM_OK;
    char value[TEXT];
    gm_store_header *header = NULL;
    GM_TRY(st, gm_store_inspect(path, NULL, &header));
    for (int i = header->n_run - 1; i >= 0 && !*text; i--)
        if (gm_json_find(header->run[i], "wall_s", value)[0]) *text = strdup(header->run[i]);
    if (!*text)
        st = GM_FAIL(GM_E_RESULT, "--measured %s: no run of it has ended, so none is measured",
                     path);
cleanup:
    gm_store_header_destroy(&header);
    return st;
}

static double number(const char *json, const char *key)
{
    char text[TEXT];
    return atof(gm_json_find(json, key, text));
}

/* Rates depend on model, precision and network: only a run of the same counts. */
static gm_status check_same(const gm_request *request, const char *path, const char *json)
{
    char model[TEXT], precision[TEXT];
    const gm_sweep *sweep = request->sweep;
    const long long n_node = (long long)number(json, "nodes");
    gm_json_find(json, "model", model);
    gm_json_find(json, "precision", precision);
    if (number(json, "march_s") <= 0 || number(json, "ranks") < 1 || !model[0])
        return GM_FAIL(GM_E_INPUT,
                       "--measured %s: holds no summary of a run; give a result file, or what "
                       "`gridmarch run --json` prints",
                       path);
    if (strcmp(model, sweep->model->name) == 0 && n_node == request->data->n_node &&
        strcmp(precision, gm_precision_name(sweep->precision)) == 0)
        return GM_OK;
    return GM_FAIL(GM_E_USAGE,
                   "--measured %s: a run of %s with %lld nodes in %s, and this sweep is of %s with "
                   "%lld nodes in %s: its speed says nothing here",
                   path, model, n_node, precision, sweep->model->name,
                   (long long)request->data->n_node, gm_precision_name(sweep->precision));
}

static gm_measured measured_of(const char *json)
{
    gm_measured m = {
        .n_rank = (int)number(json, "ranks"),
        .n_computed = (int64_t)(number(json, "done") + number(json, "diverged")),
        .n_step = (int64_t)number(json, "steps"),
        .n_byte = (int64_t)number(json, "bytes"),
        .march = number(json, "march_s"),
        .copies = number(json, "up_s") > number(json, "down_s") ? number(json, "up_s")
                                                                : number(json, "down_s"),
        .disk = number(json, "disk_s"),
        .wall = number(json, "wall_s"),
        .wait = number(json, "wait_s"),
        .start = number(json, "start_up_s") - number(json, "create_s"),
        .create = number(json, "create_s"),
    };
    m.share = (double)m.n_computed / number(json, "points");
    return m;
}

static gm_status read_rates(const gm_request *request, const gm_options *options, gm_rates *rates)
{
    gm_status st = GM_OK;
    char *json = NULL, architecture[TEXT];
    const char *path = options->measured;
    if (!path) return GM_OK;
    GM_TRY(st, read_json(path, &json));
    if (!json) GM_TRY(st, read_result(path, &json));
    GM_TRY(st, check_same(request, path, json));
    const gm_measured run = measured_of(json);
    *rates = gm_cost_rates(&run, request->layout->n_byte);
    gm_json_find(json, "architecture", architecture);
    printf("             measured: %s, %d rank%s on %s\n", path, run.n_rank,
           run.n_rank == 1 ? "" : "s", architecture);
cleanup:
    free(json);
    return st;
}

static void print_line(const char *name, double seconds, const char *why)
{
    char text[32];
    printf("  %-10s %-12s %s\n", name, seconds < 0 ? "?" : gm_text_seconds(seconds, text), why);
}

static void print_file_line(const char *name, double seconds, double rate, int64_t n_byte,
                            bool is_given)
{
    char why[256], size[32], speed[32];
    if (rate <= 0)
        snprintf(why, sizeof why, "not known: give --bandwidth, or a measured run that wrote more");
    else
        snprintf(why, sizeof why,
                 "%s at %s/s of all ranks together (%s; taken not to grow with "
                 "ranks)",
                 gm_text_bytes(n_byte, size), gm_text_bytes((int64_t)rate, speed),
                 is_given ? "given" : "measured");
    print_line(name, seconds, why);
}

static void print_cost(const gm_rates *rates, const gm_cost *cost, const gm_cost_work *work,
                       const gm_options *options)
{
    char why[256];
    const bool disk_given = options->bandwidth > 0;
    print_line("start-up", cost->start,
               options->measured ? "reading, devices, compiling: as measured"
                                 : "not counted: give --measured");
    print_file_line("new file", cost->create, rates->create, work->n_byte, disk_given);
    snprintf(why, sizeof why,
             rates->point_steps > 0
                 ? "%lld points x %lld steps at %.3g point-steps/s a rank (%s)"
                 : "%lld points x %lld steps; not known: give --rate or --measured",
             (long long)work->rank_points, (long long)work->n_step, rates->point_steps,
             options->rate > 0 ? "given" : "measured");
    print_line("march", cost->march, why);
    print_line("copies", cost->copies,
               rates->copies > 0 ? "as measured, for a rank's points" : "none measured");
    print_file_line("disk", cost->disk, rates->disk, work->n_byte, disk_given);
    snprintf(why, sizeof why, "the longest of these three x %.2f (%s)",
             rates->overlap > 1 ? rates->overlap : 1.0,
             options->measured ? "their overlap, as measured" : "as if they overlapped perfectly");
    print_line("loop", cost->loop, why);
    print_line("in all", cost->total, "without what is not known, and without launching the ranks");
}

gm_status gm_forecast_print(const gm_request *request, const gm_options *options, int n_rank,
                            int64_t rank_points)
{
    gm_status st = GM_OK;
    gm_rates rates = {0};
    if (!options->measured && options->rate <= 0 && options->bandwidth <= 0) return GM_OK;
    printf("forecast     for %d rank%s\n", n_rank, n_rank == 1 ? "" : "s");
    GM_TRY(st, read_rates(request, options, &rates));
    if (options->rate > 0) rates.point_steps = options->rate;
    if (options->bandwidth > 0) rates.disk = rates.create = options->bandwidth;
    const gm_cost_work work = {rank_points, request->sweep->n_step, request->layout->n_byte};
    const gm_cost cost = gm_cost_of(&rates, &work);
    print_cost(&rates, &cost, &work, options);
cleanup:
    return st;
}
