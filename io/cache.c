/* An entry is a file named by its key: a header that says what must follow, and the content. */
#include "io/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"
#include "io/cache_folder.h"

enum { FORMAT_VERSION = 1, TEMPORARY_SIZE = sizeof GM_CACHE_TEMPORARY + GM_HASH_TEXT_SIZE };

static const char magic[8] = "gmcache";

typedef struct header {
    char magic[sizeof magic];
    int64_t version;
    int64_t n_byte;
    gm_hash hash; /* of the key and the content */
} header;

static int64_t limit = INT64_C(256) << 20;

void gm_cache_limit(int64_t n_byte)
{
    limit = n_byte;
}

static gm_hash hash_content(const char *key, const void *data, int64_t n_byte)
{
    gm_hash hash = gm_hash_begin();
    gm_hash_add_text(&hash, key);
    gm_hash_add_bytes(&hash, data, n_byte);
    return hash;
}

/* --- reading -------------------------------------------------------------------------------------
 */

static bool read_all(int file, void *data, int64_t n_byte)
{
    char *next = data;
    while (n_byte > 0) {
        const ssize_t n = read(file, next, (size_t)n_byte);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        next += n;
        n_byte -= n;
    }
    return true;
}

/* Content of an open entry, checked. *spoilt: it will never be good. */
static char *read_entry(int file, const char *key, int64_t *n_byte, bool *spoilt)
{
    struct stat info;
    header head;
    if (fstat(file, &info) != 0) return NULL;
    *spoilt = true;
    if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || !read_all(file, &head, sizeof head) ||
        memcmp(head.magic, magic, sizeof magic) != 0 || head.version != FORMAT_VERSION ||
        head.n_byte < 0 || head.n_byte != info.st_size - (int64_t)sizeof head)
        return NULL;
    char *data = malloc((size_t)head.n_byte + 1);
    if (!data) {
        *spoilt = false;
        return NULL;
    }
    data[head.n_byte] = '\0';
    if (read_all(file, data, head.n_byte)) {
        const gm_hash hash = hash_content(key, data, head.n_byte);
        *spoilt = hash.high != head.hash.high || hash.low != head.hash.low;
    }
    if (*spoilt) {
        free(data);
        return NULL;
    }
    *n_byte = head.n_byte;
    return data;
}

bool gm_cache_read(const char *key, void **data, int64_t *n_byte)
{
    bool spoilt = false;
    char *content = NULL;
    if (!gm_cache_is_key(key)) return false;
    const int folder = gm_cache_folder_open(false);
    if (folder < 0) return false;
    const int file = openat(folder, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
        content = read_entry(file, key, n_byte, &spoilt);
        if (content) futimens(file, NULL); /* read just now: the last to go */
        close(file);
    }
    if (spoilt) unlinkat(folder, key, 0);
    close(folder);
    if (content) *data = content;
    return content != NULL;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static bool write_all(int file, const void *data, int64_t n_byte)
{
    const char *next = data;
    while (n_byte > 0) {
        const ssize_t n = write(file, next, (size_t)n_byte);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        next += n;
        n_byte -= n;
    }
    return true;
}

/* A name that no other writer has, on whatever host of a shared folder. */
static void name_temporary(char name[TEMPORARY_SIZE])
{
    static int n_name;
    char who[256] = "", text[512], digits[GM_HASH_TEXT_SIZE];
    struct timespec now;
    gethostname(who, sizeof who - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%s %ld %lld %ld %d", who, (long)getpid(), (long long)now.tv_sec,
             now.tv_nsec, n_name++);
    gm_hash hash = gm_hash_begin();
    gm_hash_add_text(&hash, text);
    gm_hash_format(hash, digits);
    snprintf(name, TEMPORARY_SIZE, GM_CACHE_TEMPORARY "%s", digits);
}

static void write_entry(int folder, const char *key, const header *head, const void *data)
{
    char name[TEMPORARY_SIZE];
    name_temporary(name);
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return;
    bool whole = write_all(file, head, sizeof *head) && write_all(file, data, head->n_byte);
    whole = close(file) == 0 && whole; /* network file systems say here that they are full */
    whole = whole && renameat(folder, name, folder, key) == 0;
    if (!whole) unlinkat(folder, name, 0);
}

void gm_cache_write(const char *key, const void *data, int64_t n_byte)
{
    header head = {.version = FORMAT_VERSION, .n_byte = n_byte};
    if (!gm_cache_is_key(key) || n_byte < 0 || n_byte > limit - (int64_t)sizeof head) return;
    memcpy(head.magic, magic, sizeof magic);
    head.hash = hash_content(key, data, n_byte);
    const int folder = gm_cache_folder_open(true);
    if (folder < 0) return;
    write_entry(folder, key, &head, data);
    gm_cache_folder_trim(folder, limit);
    close(folder);
}
