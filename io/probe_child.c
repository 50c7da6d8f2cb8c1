/* The child's side: limits first, then the reads, and an end like the parent's, which closes the
 * library as well. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "io/probe.h"
#include "io/probe_limit.h"
#include "io/store.h"
#include "io/table.h"

#ifdef __SANITIZE_ADDRESS__ /* whose shadow takes terabytes of addresses */
enum { HAS_SHADOW = 1 };
#else
enum { HAS_SHADOW = 0 };
#endif

static void lower(int resource, uint64_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most) now.rlim_cur = most;
    setrlimit((__rlimit_resource_t)resource, &now);
}

static void limit(int64_t n_byte)
{
    const int seconds = gm_probe_seconds(n_byte);
    static const int number[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,
                                 SIGILL,  SIGXCPU, SIGALRM, SIGTRAP};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) signal(number[i], SIG_DFL);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_CPU, (uint64_t)seconds);
    if (!HAS_SHADOW) lower(RLIMIT_AS, gm_probe_bytes(n_byte));
    alarm((unsigned)seconds + 1); /* also when the parent is gone */
}

/* As a library may: all memory there is, and then not seeing that there is none. */
static void take_all_memory(void)
{
    enum { PIECE = 64 << 20, MOST_PIECES = 1 << 14 };
    for (int i = 0; i < MOST_PIECES; i++)
        if (!malloc(PIECE)) abort();
}

static void read_table(const char *path, int64_t n_byte, const char *dataset)
{
    gm_problems *problems = NULL;
    gm_table table = {0};
    if (gm_problems_create(&problems) == GM_OK)
        (void)gm_table_read_hdf5((gm_place){path, 0, 0}, path, n_byte, dataset, problems, &table);
    gm_table_clear(&table);
    gm_problems_destroy(&problems);
}

int gm_probe_answer(int argc, char **argv)
{
    enum { KIND = 2, PATH = 3, DATASET = 4 };
    struct stat info;
    const char *bad = NULL;
    if (argc <= PATH || stat(argv[PATH], &info) != 0) return EXIT_SUCCESS;
    if (write(STDOUT_FILENO, "", 1) != 1) return EXIT_SUCCESS; /* begun */
    limit(info.st_size);
    if (gm_fault_begin(0, &bad) && gm_fault(GM_FAULT_PROBE)) take_all_memory();
    if (strcmp(argv[KIND], "table") == 0)
        read_table(argv[PATH], info.st_size, argc > DATASET ? argv[DATASET] : NULL);
    else
        gm_store_try(argv[PATH]);
    return EXIT_SUCCESS;
}
