/** Private to io/probe*.c: what a process that tries a file may take. */
#ifndef GM_IO_PROBE_LIMIT_H
#define GM_IO_PROBE_LIMIT_H

#include <stdint.h>

/** Seconds, of the clock and of computing: far more than any sound file of this size takes. */
static inline int gm_probe_seconds(int64_t n_byte)
{
    const int64_t most = 1 << 20;
    const int64_t seconds = 10 + n_byte / 10000000;
    return (int)(seconds < most ? seconds : most);
}

/** Bytes of addresses: those of the program, and what a packed table of this size may unpack to
 *  (see table_hdf5.c). */
static inline uint64_t gm_probe_bytes(int64_t n_byte)
{
    const uint64_t most = UINT64_C(1) << 46;
    const uint64_t per_byte = UINT64_C(1100) * 2 * sizeof(double);
    const uint64_t base = UINT64_C(4) << 30;
    if ((uint64_t)n_byte > (most - base) / per_byte) return most;
    return base + per_byte * (uint64_t)n_byte;
}

#endif
