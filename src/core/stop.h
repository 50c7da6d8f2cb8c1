/** Wishes to end a run before it is complete: signals of a scheduler or a user, time, a file. */
#ifndef GM_CORE_STOP_H
#define GM_CORE_STOP_H

#include <stdbool.h>

/* X(enumerator, what it is called in "stopped by ...") */
#define GM_STOP_LIST(X)                                                                            \
    X(GM_STOP_NONE, "nothing")                                                                     \
    X(GM_STOP_SIGTERM, "SIGTERM")                                                                  \
    X(GM_STOP_SIGINT, "SIGINT")                                                                    \
    X(GM_STOP_SIGUSR1, "SIGUSR1")                                                                  \
    X(GM_STOP_TIME, "--max-time")                                                                  \
    X(GM_STOP_FILE, "the stop file")

typedef enum gm_stop {
#define X(id, text) id,
    GM_STOP_LIST(X)
#undef X
} gm_stop;

/** Static, never NULL. */
const char *gm_stop_text(gm_stop stop);

/** From now on the first SIGTERM, SIGINT or SIGUSR1 of this process is only noted. A second one
 * that comes later than a second ends the process as if nobody listened: launchers and schedulers
 * may both pass on one wish. */
void gm_stop_listen(void);

/** The signal that was noted; GM_STOP_NONE without one. */
gm_stop gm_stop_signal(void);

/** When a run is to end by itself. */
typedef struct gm_stop_rule {
    double at;        /* gm_clock_seconds; 0: never */
    const char *file; /* end once it exists; NULL: none. Borrowed */
    double looked_at; /* when the file was last looked for */
} gm_stop_rule;

/** Is there a reason to end now? A file is looked for about once a second. */
gm_stop gm_stop_check(gm_stop_rule *rule);

/** Read a time span: 90 (seconds), 90s, 5m, 1h, 2h30m, 1d, or 1:30:00.
 *  @return false if the text is no span of at least a second and at most 10^9 */
bool gm_stop_read_span(const char *text, double *seconds);

#endif
