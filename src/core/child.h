/** Starting another program as a child, without a shell and without fork. */
#ifndef GM_CORE_CHILD_H
#define GM_CORE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct gm_child {
    const char *program;      /**< its path: PATH is not searched */
    char *const *argument;    /**< ends with NULL */
    char *const *environment; /**< ends with NULL */
    int output;               /**< descriptor for its standard output */
    int error;                /**< the same for its standard error; -1: thrown away */
    bool has_group;           /**< in a process group of its own: all it starts ends with that */
} gm_child;

/** Start a program with no input, no signal blocked, and SIGPIPE ending it.
 *  @param[out] id  for the caller to wait for
 *  @return 0, or an errno number; nothing was started then */
int gm_child_start(const gm_child *child, pid_t *id);

#endif
