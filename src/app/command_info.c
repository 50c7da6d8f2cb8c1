/* gridmarch info: what a result file says of itself. */
#include "app/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/report.h"
#include "core/json.h"
#include "io/checkpoint_file.h"
#include "io/store.h"

static void count(const gm_store_header *header, int64_t n[4])
{
    for (int64_t i = 0; i < header->n_point; i++)
        n[header->status[i] < 4 ? header->status[i] : 3]++;
}

static const char *const status_name[] = {
#define X(id, value, name) name,
    GM_POINT_STATUS_LIST(X)
#undef X
};

static void print_run(int index, const char *json, bool last)
{
    char a[128], b[128], c[128], wall[32];
    const int n_rank = atoi(gm_json_find(json, "ranks", a));
    printf("  run %-5d ", index);
    if (gm_json_find(json, "ended", a)[0]) {
        printf("ended %s: %s done, %s diverged in ", a, gm_json_find(json, "done", b),
               gm_json_find(json, "diverged", c));
        printf("%s", gm_text_seconds(atof(gm_json_find(json, "wall_s", a)), wall));
    } else {
        printf("started %s, %sstopped early", gm_json_find(json, "started", a),
               last ? "still running or " : "");
    }
    printf(", on %d rank%s (%s%s, %s)\n", n_rank, n_rank == 1 ? "" : "s",
           n_rank == 1 ? "" : "rank 0: ", gm_json_find(json, "host", a),
           gm_json_find(json, "device", b));
}

static void print_midway(const gm_checkpoint_survey *midway)
{
    if (midway->n == 0) return;
    printf("  midway    %lld pending point%s saved after ", (long long)midway->n,
           midway->n == 1 ? "" : "s");
    if (midway->most > midway->least) printf("%lld to ", (long long)midway->least);
    printf("%lld of %lld steps\n", (long long)midway->most, (long long)midway->n_step);
}

static void print_text(const char *path, const gm_store_header *header, const int64_t n[4],
                       const gm_checkpoint_survey *midway)
{
    const int64_t total = header->n_point;
    const char *comma = "";
    printf("%s\n  points    %lld:", path, (long long)total);
    for (int i = 0; i < 4; i++)
        if (n[i] > 0) {
            printf("%s %lld %s", comma, (long long)n[i], status_name[i]);
            comma = ",";
        }
    printf("  (%.1f%% computed)\n", 100.0 * (double)(total - n[GM_POINT_PENDING]) / (double)total);
    print_midway(midway);
    printf("  kernel    %s\n", header->kernel);
    for (int i = 0; i < header->n_run; i++) print_run(i, header->run[i], i == header->n_run - 1);
    printf("\nsettings\n");
    for (const char *line = header->canonical; *line;) {
        const int length = (int)strcspn(line, "\n");
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    if (n[GM_POINT_PENDING] > 0)
        printf("\nThe same `gridmarch run` command again computes the pending points.\n");
}

/* "key: value" lines as an object. */
static void put_settings(gm_json *j, const char *canonical)
{
    gm_json_open(j, "settings", '{');
    while (*canonical) {
        const size_t length = strcspn(canonical, "\n");
        const size_t n_key = strcspn(canonical, ":\n");
        const char *value = canonical + n_key;
        value += strspn(value, ": ");
        char *key = strndup(canonical, n_key);
        char *text = strndup(value, (size_t)(canonical + length - value));
        if (key && text)
            gm_json_string(j, key, text);
        else
            j->failed = true;
        free(key);
        free(text);
        canonical += length + (canonical[length] == '\n');
    }
    gm_json_close(j, '}');
}

static gm_status print_json(const char *path, const gm_store_header *header, const int64_t n[4],
                            const gm_checkpoint_survey *midway)
{
    gm_json j = {0};
    gm_json_open(&j, NULL, '{');
    gm_json_string(&j, "file", path);
    gm_json_integer(&j, "points", header->n_point);
    for (int i = 0; i < 4; i++) gm_json_integer(&j, status_name[i], n[i]);
    gm_json_integer(&j, "midway", midway->n);
    gm_json_integer(&j, "midway_steps", midway->least);
    gm_json_string(&j, "kernel", header->kernel);
    put_settings(&j, header->canonical);
    gm_json_open(&j, "runs", '[');
    for (int i = 0; i < header->n_run; i++) gm_json_raw(&j, NULL, header->run[i]);
    gm_json_close(&j, ']');
    gm_json_close(&j, '}');
    const bool failed = j.failed;
    if (!failed) printf("%s\n", j.text);
    gm_json_clear(&j);
    return failed ? GM_FAIL(GM_E_MEMORY, "out of memory") : GM_OK;
}

gm_status gm_command_info(const gm_options *options)
{
    gm_status st = GM_OK;
    gm_store_header *header = NULL;
    gm_checkpoint_survey midway;
    char *path = NULL;
    int64_t n[4] = {0};
    GM_TRY(st, gm_store_inspect(options->target, NULL, &header));
    count(header, n);
    path = realpath(options->target, NULL); /* a link may lead to another folder */
    GM_TRY(st, gm_checkpoint_file_survey(path ? path : options->target, header->status,
                                         header->n_point, &midway));
    if (options->json)
        st = print_json(options->target, header, n, &midway);
    else
        print_text(options->target, header, n, &midway);
cleanup:
    free(path);
    gm_store_header_destroy(&header);
    return st;
}
