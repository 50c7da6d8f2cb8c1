#include "core/alive.h"

#include <stddef.h>

/* Read by other threads: changed by atomic operations alone. */
static uint64_t n_mark, n_wait;
static const char *doing = "starting";
static bool waiting;

void gm_alive_mark(const char *what)
{
    if (what) __atomic_store_n(&doing, what, __ATOMIC_RELAXED);
    __atomic_add_fetch(&n_mark, 1, __ATOMIC_RELEASE);
}

void gm_alive_wait(bool waits)
{
    __atomic_store_n(&waiting, waits, __ATOMIC_RELAXED);
    __atomic_add_fetch(&n_wait, 1, __ATOMIC_RELEASE);
}

gm_alive gm_alive_look(void)
{
    const uint64_t n = __atomic_load_n(&n_mark, __ATOMIC_ACQUIRE);
    return (gm_alive){.n_mark = n,
                      .n_wait = __atomic_load_n(&n_wait, __ATOMIC_ACQUIRE),
                      .what = __atomic_load_n(&doing, __ATOMIC_RELAXED),
                      .waits = __atomic_load_n(&waiting, __ATOMIC_RELAXED)};
}
