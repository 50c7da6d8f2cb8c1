/** Time for measuring how long things take. */
#ifndef GM_CORE_CLOCK_H
#define GM_CORE_CLOCK_H

/** Seconds since some fixed moment; never jumps. */
double gm_clock_seconds(void);

#endif
