/* The messages are made beforehand: a signal handler may do little more than write them. */
#include "app/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 512 };

typedef struct crash {
    int number;
    const char *name;
    const char *cause;
    char message[MESSAGE_SIZE];
} crash;

static crash crashes[] = {
    {SIGILL, "SIGILL", "an instruction that this processor lacks, or code that C leaves undefined",
     ""},
    {SIGFPE, "SIGFPE", "a division of whole numbers by zero", ""},
    {SIGSEGV, "SIGSEGV", "access to memory that is not the program's, or recursion without end",
     ""},
    {SIGBUS, "SIGBUS", "access to memory that is not there", ""},
};

enum { N_CRASH = sizeof crashes / sizeof *crashes };

/* The default is back already (SA_RESETHAND). Threads that meet the same fault meanwhile find it.
 */
static void last_words(int number)
{
    for (int i = 0; i < N_CRASH; i++) {
        if (crashes[i].number != number) continue;
        const char *text = crashes[i].message;
        if (write(STDERR_FILENO, text, strlen(text)) < 0) break;
    }
    raise(number);
}

#ifdef __SANITIZE_ADDRESS__ /* whose own last words say more */
enum { IS_WATCHED = true };
#else
enum { IS_WATCHED = false };
#endif

void gm_crash_listen(int rank, const char *model)
{
    struct sigaction action;
    if (IS_WATCHED) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = last_words;
    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    for (int i = 0; i < N_CRASH; i++) {
        crash *c = &crashes[i];
        snprintf(c->message, sizeof c->message,
                 "gridmarch: rank %d: %s while marching the model %.100s: %s. If the model is your "
                 "own, look there first\n",
                 rank, c->name, model, c->cause);
        sigaction(c->number, &action, NULL);
    }
}
