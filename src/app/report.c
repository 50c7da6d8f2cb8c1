#include "app/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"

enum { MAX_ROWS = 64 };

const char *gm_text_bytes(int64_t n_byte, char text[32])
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)n_byte;
    int i = 0;
    while (value >= 1024 && i < 5) value /= 1024, i++;
    snprintf(text, 32, i == 0 ? "%.0f %s" : "%.1f %s", value, unit[i]);
    return text;
}

const char *gm_text_seconds(double seconds, char text[32])
{
    const int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 60)
        snprintf(text, 32, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(text, 32, "%lld min %02lld s", (long long)(whole / 60), (long long)(whole % 60));
    else
        snprintf(text, 32, "%lld h %02lld min", (long long)(whole / 3600),
                 (long long)(whole % 3600 / 60));
    return text;
}

void gm_report_bindings(FILE *out, const gm_binding *table, int n_rank)
{
    int width = 4;
    const int n = n_rank < MAX_ROWS ? n_rank : MAX_ROWS;
    for (int i = 0; i < n; i++)
        if ((int)strlen(table[i].host) > width) width = (int)strlen(table[i].host);
    fprintf(out, "rank  %-*s  device\n", width, "host");
    for (int i = 0; i < n; i++) {
        const gm_binding *b = &table[i];
        fprintf(out, "%4d  %-*s  %s, ", i, width, b->host, b->device);
        if (b->uuid[0])
            fprintf(out, "%s, %s", b->uuid, b->architecture);
        else
            fprintf(out, "%d thread%s, %s", b->n_worker, b->n_worker == 1 ? "" : "s",
                    b->architecture);
        fprintf(out, b->n_sharing > 1 ? " (shared by %d ranks)\n" : "\n", b->n_sharing);
    }
    if (n < n_rank) fprintf(out, "      ... and %d more ranks\n", n_rank - n);
}

void gm_report_angles(FILE *out, const gm_sweep *sweep)
{
    static const gm_observable plain[] = {GM_MEAN, GM_VARIANCE, GM_MIN, GM_MAX};
    for (int s = 0; s < sweep->model->n_state; s++) {
        int n = 0;
        if (!(sweep->model->phase_mask >> s & 1)) continue;
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
            if (!sweep->record[plain[i]][s]) continue;
            if (n++ == 0)
                fprintf(out, "gridmarch: note: %s is an angle: its ", sweep->model->state[s].name);
            fprintf(out, "%s%s", n == 1 ? "" : ", ", gm_observable_name(plain[i]));
        }
        if (n > 0)
            fprintf(out, " rarely mean%s something; record last or trajectory\n",
                    n == 1 ? "s" : "");
    }
}

static double rate(const gm_summary *s)
{
    return (double)s->point_steps / (s->wall > 0 ? s->wall : 1e-9);
}

static double share(const gm_summary *s, double seconds)
{
    return s->wall > 0 ? 100 * seconds / s->wall : 0;
}

/* How unequal the ranks were. */
static void report_ranks(FILE *out, const gm_summary *s)
{
    int64_t fewest = s->rank_point[0], most = fewest;
    for (int i = 1; i < s->n_rank; i++) {
        if (s->rank_point[i] < fewest) fewest = s->rank_point[i];
        if (s->rank_point[i] > most) most = s->rank_point[i];
    }
    fprintf(out, "dynamic schedule: %lld to %lld points per rank", (long long)fewest,
            (long long)most);
    if (s->n_retired > 0) fprintf(out, "; ranks that lost their device: %d", s->n_retired);
    fputc('\n', out);
}

void gm_report_summary(FILE *out, const gm_summary *s)
{
    char wall[32], start[32], bytes[32];
    fprintf(out, "%lld point%s done", (long long)(s->done), s->done == 1 ? "" : "s");
    if (s->n_before > 0) fprintf(out, " (and %lld by earlier runs)", (long long)s->n_before);
    if (s->diverged > 0)
        fprintf(out, ", %lld diverged (see status and failed_step)", (long long)s->diverged);
    fprintf(out, " in %s, start-up %s\n", gm_text_seconds(s->wall, wall),
            gm_text_seconds(s->start_up, start));
    fprintf(out, "%.3g point-steps/s, %.3g node-steps/s on %d rank%s (%s)\n", rate(s),
            rate(s) * (double)s->n_node, s->n_rank, s->n_rank == 1 ? "" : "s", s->backend);
    fprintf(out,
            "busy, as a share of the time: march %.0f%%, copies up %.0f%%, down %.0f%%, disk "
            "%.0f%%",
            share(s, s->march), share(s, s->up), share(s, s->down), share(s, s->disk));
    if (s->n_rank > 1) fprintf(out, "; waiting for slower ranks %.0f%%", share(s, s->wait));
    putc('\n', out);
    if (s->schedule == GM_SCHEDULE_DYNAMIC) report_ranks(out, s);
    fprintf(out, "%s: %s of results\n", s->path, gm_text_bytes(s->bytes, bytes));
}

static void put_summary(gm_json *j, const gm_summary *s)
{
    gm_json_string(j, "model", s->model);
    gm_json_string(j, "precision", s->precision);
    gm_json_integer(j, "points", s->n_point);
    gm_json_integer(j, "points_before", s->n_before);
    gm_json_integer(j, "done", s->done);
    gm_json_integer(j, "diverged", s->diverged);
    gm_json_integer(j, "midway", s->n_midway);
    gm_json_integer(j, "steps", s->n_step);
    gm_json_integer(j, "nodes", s->n_node);
    gm_json_number(j, "wall_s", s->wall);
    gm_json_number(j, "start_up_s", s->start_up);
    gm_json_number(j, "read_s", s->read);
    gm_json_number(j, "device_s", s->device);
    gm_json_number(j, "compile_s", s->compile);
    gm_json_number(j, "create_s", s->create);
    gm_json_number(j, "march_s", s->march);
    gm_json_number(j, "up_s", s->up);
    gm_json_number(j, "down_s", s->down);
    gm_json_number(j, "disk_s", s->disk);
    gm_json_number(j, "wait_s", s->wait);
    if (s->finish > 0) gm_json_number(j, "finish_s", s->finish);
    gm_json_number(j, "point_steps_per_s", rate(s));
    gm_json_number(j, "node_steps_per_s", rate(s) * (double)s->n_node);
    gm_json_integer(j, "bytes", s->bytes);
    gm_json_integer(j, "tile_points", s->tiling.tile_points);
    gm_json_integer(j, "chunk_steps", s->tiling.chunk_steps);
    gm_json_string(j, "schedule", s->schedule == GM_SCHEDULE_DYNAMIC ? "dynamic" : "static");
    if (s->n_retired > 0) gm_json_integer(j, "ranks_retired", s->n_retired);
    if (s->stopped_by) gm_json_string(j, "stopped_by", gm_stop_text(s->stopped_by));
}

/* point: [n_rank] what each computed; NULL: not known yet. */
static void put_bindings(gm_json *j, const gm_binding *table, const int64_t *point, int n_rank,
                         int most)
{
    gm_json_open(j, "devices", '[');
    for (int i = 0; i < n_rank && i < most; i++) {
        gm_json_open(j, NULL, '{');
        gm_json_integer(j, "rank", i);
        gm_json_string(j, "host", table[i].host);
        gm_json_string(j, "device", table[i].device);
        gm_json_string(j, "uuid", table[i].uuid);
        gm_json_string(j, "architecture", table[i].architecture);
        gm_json_integer(j, "workers", table[i].n_worker);
        if (point) gm_json_integer(j, "points", point[i]);
        gm_json_close(j, '}');
    }
    gm_json_close(j, ']');
}

void gm_report_json(FILE *out, const gm_summary *s, const gm_binding *table)
{
    gm_json j = {0};
    gm_json_open(&j, NULL, '{');
    gm_json_string(&j, "file", s->path);
    gm_json_string(&j, "backend", s->backend);
    gm_json_string(&j, "kernel", s->kernel);
    gm_json_integer(&j, "ranks", s->n_rank);
    put_summary(&j, s);
    put_bindings(&j, table, s->rank_point, s->n_rank, s->n_rank);
    gm_json_close(&j, '}');
    if (!j.failed) fprintf(out, "%s\n", j.text);
    gm_json_clear(&j);
}

char *gm_report_run_text(const gm_binding *table, int n_rank, const char *kernel, double seconds,
                         const gm_summary *summary)
{
    const int most = 12; /* rows that fit a slot of the file */
    char date[32];
    time_t t = time(NULL);
    struct tm utc;
    gm_json j = {0};
    gmtime_r(&t, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    gm_json_open(&j, NULL, '{');
    gm_json_string(&j, "program", "gridmarch " GM_VERSION);
    gm_json_string(&j, seconds < 0 ? "started" : "ended", date);
    gm_json_string(&j, "kernel", kernel);
    gm_json_integer(&j, "ranks", n_rank);
    if (summary) put_summary(&j, summary);
    put_bindings(&j, table, summary ? summary->rank_point : NULL, n_rank, most);
    if (n_rank > most) gm_json_integer(&j, "devices_not_listed", n_rank - most);
    gm_json_close(&j, '}');
    if (j.failed) gm_json_clear(&j);
    return j.text;
}
