/** What the main thread of this process is at, told to those who watch whether it gets on.
 *
 *  A main thread that passes no mark for minutes hangs: so work that may take that long passes one
 *  now and then. Waiting for other ranks is no sign of that, and is told apart. */
#ifndef GM_CORE_ALIVE_H
#define GM_CORE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/** The main thread gets on, or another that works for it.
 *  @param what  what it does from now on ("marching"), static; NULL: the same as before */
void gm_alive_mark(const char *what);

/** The main thread begins (true) or ends (false) to wait for other ranks. No mark: time between is
 *  no work. */
void gm_alive_wait(bool waits);

typedef struct gm_alive {
    uint64_t n_mark, n_wait; /* since the start: marks; begins and ends of waiting */
    const char *what;        /* never NULL */
    bool waits;
} gm_alive;

/** For any thread. */
gm_alive gm_alive_look(void);

#endif
