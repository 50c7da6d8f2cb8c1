#include "kernels/cpu/device.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

int gm_cpu_count(const char **reason)
{
    *reason = "";
    return 1;
}

bool gm_cpu_runs_level(const char *level)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!strcmp(level, "x86-64-v4"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    if (!strcmp(level, "x86-64-v3"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
#endif
    (void)level;
    return true;
}

/* The best level that runs here, or the one that GRIDMARCH_CPU_LEVEL names. */
static gm_status choose_level(const gm_cpu_level **out)
{
    const char *wish = getenv("GRIDMARCH_CPU_LEVEL");
    for (const gm_cpu_level *level = gm_cpu_levels; level->name; level++) {
        if (wish && strcmp(wish, level->name) != 0) continue;
        if (!gm_cpu_runs_level(level->name)) {
            if (wish) return GM_FAIL(GM_E_DEVICE, "this processor cannot run %s code", wish);
            continue;
        }
        *out = level;
        return GM_OK;
    }
    if (wish) {
        char names[256] = "";
        for (const gm_cpu_level *level = gm_cpu_levels; level->name; level++) {
            if (names[0]) strcat(names, ", ");
            strcat(names, level->name);
        }
        return GM_FAIL(GM_E_USAGE, "GRIDMARCH_CPU_LEVEL is \"%s\"; there are: %s", wish, names);
    }
    return GM_FAIL(GM_E_DEVICE, "this processor is older than x86-64-v2");
}

/* Processors that this process may use: the launcher's binding counts. */
static int usable_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return get_nprocs();
    int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

gm_status gm_cpu_open(int index, int n_thread, gm_device **out)
{
    const gm_cpu_level *level = NULL;
    gm_status st = choose_level(&level);
    (void)index;
    if (st != GM_OK) return st;
    gm_device *device = calloc(1, sizeof *device);
    if (!device) return GM_FAIL(GM_E_MEMORY, "out of memory");
    device->level = level;
    device->n_thread = n_thread > 0 ? n_thread : usable_processors();
    *out = device;
    return GM_OK;
}

void gm_cpu_close(gm_device **device)
{
    free(*device);
    *device = NULL;
}

static void processor_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    fclose(file);
}

static int64_t available_bytes(void)
{
    char line[256];
    long long kib = 0;
    struct sysinfo info;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1) break;
    if (file) fclose(file);
    if (kib > 0) return (int64_t)kib * 1024;
    return sysinfo(&info) == 0 ? (int64_t)info.freeram * info.mem_unit : INT64_C(1) << 30;
}

gm_status gm_cpu_describe(gm_device *device, gm_device_info *info)
{
    memset(info, 0, sizeof *info);
    processor_name(info->name, sizeof info->name);
    snprintf(info->architecture, sizeof info->architecture, "%s", device->level->name);
    info->free_bytes = available_bytes();
    info->n_worker = device->n_thread;
    return GM_OK;
}

const gm_cpu_kernel *gm_cpu_find(const gm_cpu_level *level, const char *model,
                                 gm_precision precision)
{
    for (int i = 0; i < level->n_kernel; i++)
        if (!strcmp(level->kernel[i]->model, model) && level->kernel[i]->precision == precision)
            return level->kernel[i];
    return NULL;
}
