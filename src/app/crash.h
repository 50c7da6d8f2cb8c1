/** The last words of a process that a fault of the processor ends, as a user's model can cause. */
#ifndef GM_APP_CRASH_H
#define GM_APP_CRASH_H

/** From now on SIGILL, SIGFPE, SIGSEGV and SIGBUS are answered with one message on standard error
 *  that names signal, rank and model; the signal then ends the process as before. */
void gm_crash_listen(int rank, const char *model);

#endif
