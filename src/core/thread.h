/** Threads beside the main one. */
#ifndef GM_CORE_THREAD_H
#define GM_CORE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/** Start a thread that handles no signal: those are for the main thread.
 *  @return false where no thread is to be had */
bool gm_thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument);

#endif
