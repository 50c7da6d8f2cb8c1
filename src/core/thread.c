#include "core/thread.h"

#include <signal.h>

/* A thread begins with the mask of the one that starts it. */
bool gm_thread_start(pthread_t *thread, void *(*work)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, work, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
