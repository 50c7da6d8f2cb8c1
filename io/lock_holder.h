/** Private to io/lock.c: the record that a lock file holds, and whether its writer is alive. */
#ifndef GM_IO_LOCK_HOLDER_H
#define GM_IO_LOCK_HOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum { GM_HOLDER_TEXT = 128, GM_HOLDER_BEAT_SECONDS = 5 };

typedef struct gm_holder {
    char host[GM_HOLDER_TEXT], pid[GM_HOLDER_TEXT], job[GM_HOLDER_TEXT], since[GM_HOLDER_TEXT];
    char place[GM_HOLDER_TEXT]; /* boot and process namespace, where pid has a meaning */
    char start[GM_HOLDER_TEXT]; /* of the process: tells it from a later one of its number */
} gm_holder;

/** This process. */
void gm_holder_self(gm_holder *out);

bool gm_holder_write(int fd, const gm_holder *holder);

/** False if nobody has written one. Anything may stand in the file. */
bool gm_holder_read(int fd, gm_holder *holder);

typedef enum { GM_HOLDER_ALIVE, GM_HOLDER_DEAD, GM_HOLDER_UNKNOWN } gm_holder_life;

/** Ask the operating system, where it is this host's.
 *  @param fd  the lock file: very long without a sign of life is dead */
gm_holder_life gm_holder_ask(const gm_holder *holder, const gm_holder *self, int fd);

/** Watch the lock file for some beats: does it change? Takes up to 16 s. */
gm_holder_life gm_holder_watch(const char *path);

/** "process 123 on node7, job 42, since ..." */
void gm_holder_name(const gm_holder *holder, char *text, size_t size);

#endif
