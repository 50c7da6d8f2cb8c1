/* Allocations that fail on purpose: the linker leads the program's own calls here (-Wl,--wrap). */
#include <errno.h>
#include <stdlib.h>

#include "core/fault.h"

void *__real_malloc(size_t n_byte);
void *__real_calloc(size_t n, size_t n_byte);
void *__real_realloc(void *block, size_t n_byte);
int __real_posix_memalign(void **block, size_t alignment, size_t n_byte);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);

void *__wrap_malloc(size_t n_byte);
void *__wrap_calloc(size_t n, size_t n_byte);
void *__wrap_realloc(void *block, size_t n_byte);
int __wrap_posix_memalign(void **block, size_t alignment, size_t n_byte);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

static bool fails(void)
{
    if (!gm_fault(GM_FAULT_ALLOC)) return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t n_byte)
{
    return fails() ? NULL : __real_malloc(n_byte);
}

void *__wrap_calloc(size_t n, size_t n_byte)
{
    return fails() ? NULL : __real_calloc(n, n_byte);
}

void *__wrap_realloc(void *block, size_t n_byte)
{
    return fails() ? NULL : __real_realloc(block, n_byte);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t n_byte)
{
    return fails() ? ENOMEM : __real_posix_memalign(block, alignment, n_byte);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
    return fails() ? NULL : __real_strndup(text, n);
}
