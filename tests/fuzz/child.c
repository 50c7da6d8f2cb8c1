/* What fails in the child is blamed by its stack: on the library if a call of it was under way. */
#include "child.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIBRARY = 77, OURS = 78, MOST_SECONDS = 5, MOST_FRAMES = 64, STACK_BYTES = 1 << 16 };
static const rlim_t most_bytes = (rlim_t)1 << 30;

#if defined __SANITIZE_ADDRESS__ ||                                                                \
    defined __clang__ /* whose shadow takes terabytes of addresses */
enum { HAS_SANITIZER = 1 };
#else
enum { HAS_SANITIZER = 0 };
#endif

static int blame(int number)
{
    void *frame[MOST_FRAMES];
    const int n = backtrace(frame, MOST_FRAMES);
    for (int i = 0; i < n; i++) {
        Dl_info info;
        if (!dladdr(frame[i], &info) || !info.dli_fname || !strstr(info.dli_fname, "libhdf5"))
            continue;
        fprintf(stderr, "fuzz: signal %d in the HDF5 library, %s\n", number,
                info.dli_sname ? info.dli_sname : "?");
        return LIBRARY;
    }
    return OURS;
}

/* Called by the address sanitizer before it reports, where there is one. */
void __asan_on_error(void);
void __asan_on_error(void)
{
    if (blame(0) == LIBRARY) _exit(LIBRARY);
}

static void end(int number)
{
    _exit(blame(number));
}

static void listen(void)
{
    static char memory[STACK_BYTES]; /* recursion without end leaves no other */
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    void *first[1];
    struct sigaction action;
    backtrace(first, 1); /* loads what it needs now, not in a signal handler */
    memset(&action, 0, sizeof action);
    action.sa_handler = end;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static void be_child(void (*read_file)(const char *, int64_t), const char *path, int64_t n_byte)
{
    const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS + 1};
    const struct rlimit bytes = {most_bytes, most_bytes};
    listen();
    setrlimit(RLIMIT_CPU, &seconds);
    if (!HAS_SANITIZER) setrlimit(RLIMIT_AS, &bytes);
    read_file(path, n_byte);
    _exit(0);
}

void gm_fuzz_guarded(void (*read_file)(const char *path, int64_t n_byte), const char *path,
                     int64_t n_byte)
{
    int state = 0;
    const pid_t child = fork();
    gm_fuzz_check(child >= 0, "a process for a child");
    if (child == 0) be_child(read_file, path, n_byte);
    while (waitpid(child, &state, 0) != child) /* libFuzzer's timer interrupts it */
        gm_fuzz_check(errno == EINTR, "the child's end");
    if (WIFEXITED(state) && WEXITSTATUS(state) == LIBRARY) return;
    gm_fuzz_check(WIFEXITED(state) && WEXITSTATUS(state) == 0, "a child that reads the file");
    read_file(path, n_byte);
}
