/** Faults on purpose, so that tests can see what a full disk or a failing allocation does.
 *
 *  GRIDMARCH_FAULT holds rules with commas between:
 *    - SITE[#RANK]@N=ACTION acts at the Nth time that a rank comes by the site
 *    - SITE[#RANK]@N+=ACTION at that one and each later one
 *    - SITE[#RANK]%P=ACTION with probability P percent
 *    - seed=S chooses the random numbers
 *
 *  ACTION is `fail`, `kill` (SIGKILL), `exit` (as a library may) or milliseconds of delay, up to an
 *  hour. Examples:
 *    - write#1@3+=fail: rank 1's disk is full from its third write on
 *    - seed=7,write%20=50: a fifth of all writes takes 50 ms longer
 *
 *  Without the variable a call costs one comparison. */
#ifndef GM_CORE_FAULT_H
#define GM_CORE_FAULT_H

#include <stdbool.h>

/* X(enumerator, name in rules) */
#define GM_FAULT_LIST(X)                                                                           \
    X(GM_FAULT_WRITE, "write")     /* raw values into the result file, its creation included */    \
    X(GM_FAULT_SYNC, "sync")       /* waiting for the disk */                                      \
    X(GM_FAULT_MARK, "mark")       /* after the data are on the disk, before they are marked */    \
    X(GM_FAULT_ALLOC, "alloc")     /* any allocation of the program's own code */                  \
    X(GM_FAULT_LAUNCH, "launch")   /* handing a chunk to the device */                             \
    X(GM_FAULT_MESSAGE, "message") /* progress between ranks */                                    \
    X(GM_FAULT_LOCK, "lock")       /* asking the file system for a lock */                         \
    X(GM_FAULT_SELFCHECK, "selfcheck")         /* a byte that the self-check writes is another */  \
    X(GM_FAULT_CHECKPOINT, "checkpoint")       /* between the steps of writing one */              \
    X(GM_FAULT_DEVICE_MEMORY, "device_memory") /* taking a tile's memory on the device */          \
    X(GM_FAULT_PROBE, "probe")                 /* trying an HDF5 file; fail: all memory is taken */

typedef enum gm_fault_site {
#define X(id, name) id,
    GM_FAULT_LIST(X)
#undef X
        GM_N_FAULT
} gm_fault_site;

/** Read the rules for this rank. Until then there are no faults.
 *  @return false with the rule that makes no sense in *bad (borrowed) */
bool gm_fault_begin(int rank, const char **bad);

extern bool gm_fault_armed;

/** What gm_fault does once there are rules. */
bool gm_fault_strike(gm_fault_site site);

/** To be called at a site: true if it is to fail now. */
static inline bool gm_fault(gm_fault_site site)
{
    return gm_fault_armed && gm_fault_strike(site);
}

#endif
