/* The progress line: redrawn in place on a terminal, a plain line now and then elsewhere. */
#include <stdlib.h>
#include <unistd.h>

#include "app/report.h"
#include "core/clock.h"

struct gm_meter {
    const gm_watch *watch;
    int64_t n_point;
    double point_steps; /* to be marched */
    int n_rank;
    bool terminal, drawn;
    double start, shown_at;
};

gm_status gm_meter_create(const gm_watch *watch, int64_t n_point, double point_steps, int n_rank,
                          gm_meter **out)
{
    gm_meter *m = calloc(1, sizeof *m);
    if (!m) return GM_FAIL(GM_E_MEMORY, "out of memory");
    m->watch = watch;
    m->n_point = n_point;
    m->point_steps = point_steps;
    m->n_rank = n_rank;
    m->terminal = isatty(STDERR_FILENO);
    m->start = m->shown_at = gm_clock_seconds();
    *out = m;
    return GM_OK;
}

void gm_meter_show(void *context, const gm_progress *mine)
{
    gm_meter *m = context;
    gm_progress all;
    int n_finished = 0;
    char eta[32];
    const double time = gm_clock_seconds();
    const double elapsed = time - m->start;
    (void)mine;
    if (time - m->shown_at < (m->terminal ? 0.2 : 10.0)) return;
    m->shown_at = time;
    gm_watch_total(m->watch, &all, &n_finished);
    const double part = m->point_steps > 0 ? (double)all.point_steps / m->point_steps : 1;
    const double busy = elapsed * m->n_rank / 100;
    const double left = part > 0 ? elapsed * (1 - part) / part : 0;
    fprintf(stderr,
            "%s%5.1f%%  %lld/%lld points  %.3g point-steps/s  %s left  march %.0f%% up %.0f%% down "
            "%.0f%% disk %.0f%%%s",
            m->terminal ? "\r\033[K" : "", 100 * part, (long long)all.points, (long long)m->n_point,
            (double)all.point_steps / elapsed, part > 0 ? gm_text_seconds(left, eta) : "?",
            all.march / busy, all.up / busy, all.down / busy, all.disk / busy,
            m->terminal ? "" : "\n");
    fflush(stderr);
    m->drawn = true;
}

void gm_meter_destroy(gm_meter **meter)
{
    if (*meter && (*meter)->drawn && (*meter)->terminal) fputs("\r\033[K", stderr);
    free(*meter);
    *meter = NULL;
}
