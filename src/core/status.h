/** Status codes and the one error message a thread carries.
 *
 *  A function that can fail returns a gm_status. Where a fault is seen, GM_FAIL writes the message;
 *  on the way up gm_status_extend may put the surroundings in front. Only `app` prints it. */
#ifndef GM_CORE_STATUS_H
#define GM_CORE_STATUS_H

/* X(name, process exit code, what it means to a user) */
#define GM_STATUS_LIST(X)                                                                          \
    X(GM_OK, 0, "success")                                                                         \
    X(GM_E_INTERNAL, 1, "a fault in gridmarch itself")                                             \
    X(GM_E_USAGE, 2, "bad command line")                                                           \
    X(GM_E_INPUT, 2, "bad sweep file or input data")                                               \
    X(GM_E_RESULT, 3, "the result file exists, differs, or is not ours")                           \
    X(GM_E_IO, 4, "reading or writing failed, or no space")                                        \
    X(GM_E_MEMORY, 5, "not enough memory")                                                         \
    X(GM_E_DEVICE, 6, "no usable GPU, or a GPU call failed")                                       \
    X(GM_E_MPI, 7, "MPI failed, or the ranks do not agree")                                        \
    X(GM_E_POINTS, 8, "every point of the sweep diverged")                                         \
    X(GM_E_STOPPED, 9, "stopped before all points were computed")                                  \
    X(GM_E_DAMAGED, 10, "stored data differ from what was computed")                               \
    X(GM_E_HANG, 11, "a rank stopped answering or made no progress")

typedef enum gm_status {
#define X(name, exit_code, text) name,
    GM_STATUS_LIST(X)
#undef X
} gm_status;

/** Exit code of the process for a status. */
int gm_status_exit_code(gm_status status);

/** Static, never NULL. */
const char *gm_status_text(gm_status status);

/** The calling thread's last message; "" when there is none. Borrowed. */
const char *gm_status_message(void);

/** Store the message (printf form) and return status, so that `return GM_FAIL(...)` reads well. */
gm_status gm_status_fail(gm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Put "prefix: " in front of the message and return status. */
gm_status gm_status_extend(gm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The comma tells static analysers which value comes back. */
#define GM_FAIL(status, ...) (gm_status_fail((status), __VA_ARGS__), (status))

/* Run a call; on failure leave its status in st and go to cleanup. */
#define GM_TRY(st, call)                                                                           \
    do {                                                                                           \
        (st) = (call);                                                                             \
        if ((st) != GM_OK) goto cleanup;                                                           \
    } while (0)

#endif
