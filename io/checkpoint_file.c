/* head | records [copy 0][point] | records [copy 1][point]: neighbours of one copy are written in
 * one piece. */
#include "checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checksum.h"
#include "core/fault.h"
#include "core/hash.h"
#include "core/layout.h"
#include "store_space.h"

enum { HEAD_BYTES = 4096, PIECE_BYTES = 4 << 20 };

static const char magic[8] = "GMCHECK1";

/* At the beginning of the file; numbers as they lie in memory. */
typedef struct head {
    char magic[8];
    char sweep[GM_HASH_TEXT_SIZE + 7];
    int64_t n_point, n_step, n_byte;
    uint32_t checksum, unused; /* of all before */
} head;

/* In front of a record's state. */
typedef struct label {
    uint32_t checksum, mark; /* checksum: of all behind it, the state too */
    int64_t point, step;
    uint64_t kernel;
} label;

_Static_assert(sizeof(label) == GM_CHECKPOINT_LABEL_BYTES, "a label has no gaps");

enum { MARK = 0x676d6370 };

struct gm_checkpoint_file {
    char *path; /* owned */
    int fd;     /* -1: there is no file yet */
    head head;
    uint64_t kernel;
    int64_t stride; /* bytes of a record with its label */
};

/* --- the file as a whole -------------------------------------------------------------------------
 */

static char *path_beside(const char *result)
{
    char *path = NULL;
    return asprintf(&path, "%s.checkpoint", result) < 0 ? NULL : path;
}

static gm_status fail_memory(void)
{
    return GM_FAIL(GM_E_MEMORY, "not enough memory for a checkpoint");
}

static gm_status fail_file(const char *path, const char *what)
{
    return GM_FAIL(GM_E_IO, "cannot %s '%s': %s", what, path, gm_posix_cause(errno));
}

/* All bytes, or fewer at the end of the file. */
static gm_status read_at(const char *path, int fd, void *value, int64_t n_byte, int64_t offset,
                         int64_t *n_read)
{
    *n_read = 0;
    while (*n_read < n_byte) {
        const ssize_t n =
            pread(fd, (char *)value + *n_read, (size_t)(n_byte - *n_read), offset + *n_read);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_file(path, "read");
        if (n == 0) break;
        *n_read += n;
    }
    return GM_OK;
}

static uint32_t head_checksum(const head *h)
{
    return gm_checksum_add(0, h, offsetof(head, checksum));
}

/* GM_OK also for a head that is not ours or not whole: *whole says so. */
static gm_status read_head(const char *path, int fd, head *h, bool *whole)
{
    int64_t n = 0;
    memset(h, 0, sizeof *h);
    const gm_status st = read_at(path, fd, h, sizeof *h, 0, &n);
    *whole = n == (int64_t)sizeof *h && memcmp(h->magic, magic, sizeof magic) == 0 &&
             h->checksum == head_checksum(h) && h->n_point > 0 && h->n_byte > 0 &&
             h->n_byte < INT64_MAX / 4 / h->n_point - (int64_t)sizeof(label) - HEAD_BYTES;
    return st;
}

gm_status gm_checkpoint_file_look(const char *result, bool *there)
{
    gm_status st = GM_OK;
    char first[sizeof magic] = "";
    static const char unwritten[sizeof magic] = "";
    struct stat info;
    int64_t n = 0;
    int fd = -1;
    char *path = path_beside(result);
    if (!path) return fail_memory();
    *there = lstat(path, &info) == 0;
    if (*there && S_ISREG(info.st_mode) &&
        (fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) < 0)
        st = fail_file(path, "read");
    if (fd >= 0) st = read_at(path, fd, first, sizeof first, 0, &n);
    if (st == GM_OK && *there &&
        (fd < 0 ||
         (memcmp(first, magic, (size_t)n) != 0 && memcmp(first, unwritten, sizeof first) != 0)))
        st = GM_FAIL(GM_E_RESULT,
                     "'%s' is in the place where a run keeps its checkpoints, and is none: rename "
                     "it",
                     path);
    if (fd >= 0) close(fd);
    free(path);
    return st;
}

void gm_checkpoint_file_remove(const char *result)
{
    char *path = path_beside(result);
    if (path) unlink(path);
    free(path);
}

void gm_checkpoint_file_close(gm_checkpoint_file **file)
{
    gm_checkpoint_file *f = *file;
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    free(f->path);
    free(f);
    *file = NULL;
}

static gm_status create_closed(const char *result, gm_checkpoint_file **out)
{
    gm_checkpoint_file *f = calloc(1, sizeof *f);
    *out = f;
    if (f) {
        f->fd = -1;
        f->path = path_beside(result);
    }
    if (f && f->path) return GM_OK;
    gm_checkpoint_file_close(out);
    return fail_memory();
}

/* Open the file if there is one. */
static gm_status open_existing(gm_checkpoint_file *f, int flags)
{
    f->fd = open(f->path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return f->fd < 0 && errno != ENOENT ? fail_file(f->path, "open") : GM_OK;
}

gm_status gm_checkpoint_file_open(const char *result, const gm_checkpoint_shape *shape, bool *fits,
                                  gm_checkpoint_file **out)
{
    gm_status st = GM_OK;
    gm_checkpoint_file *f = NULL;
    gm_hash sweep = gm_hash_begin(), kernel = gm_hash_begin();
    head found;
    *out = NULL;
    *fits = true;
    GM_TRY(st, create_closed(result, &f));
    gm_hash_add_text(&sweep, shape->sweep);
    gm_hash_add_text(&kernel, shape->kernel);
    memcpy(f->head.magic, magic, sizeof magic);
    gm_hash_format(sweep, f->head.sweep);
    f->head.n_point = shape->n_point;
    f->head.n_step = shape->n_step;
    f->head.n_byte = shape->n_byte;
    f->head.checksum = head_checksum(&f->head);
    f->kernel = kernel.low;
    f->stride = (int64_t)sizeof(label) + shape->n_byte;
    GM_TRY(st, open_existing(f, O_RDWR));
    if (f->fd >= 0) {
        GM_TRY(st, read_head(f->path, f->fd, &found, fits));
        *fits = *fits && memcmp(&found, &f->head, sizeof found) == 0;
    }
    if (*fits) *out = f, f = NULL;
cleanup:
    gm_checkpoint_file_close(&f);
    return st;
}

/* Several ranks may do this at once: all write the same. */
static gm_status make_file(gm_checkpoint_file *f)
{
    if (f->fd >= 0) return GM_OK;
    f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (f->fd < 0) return fail_file(f->path, "create");
    if (ftruncate(f->fd, HEAD_BYTES + 2 * f->head.n_point * f->stride) != 0)
        return fail_file(f->path, "create");
    const gm_status st = gm_space_write(f->fd, f->path, &f->head, sizeof f->head, 0);
    return st == GM_OK ? gm_space_sync_folder(f->path) : st;
}

/* --- records -------------------------------------------------------------------------------------
 */

static int64_t place(const gm_checkpoint_file *f, int64_t copy, int64_t point)
{
    return HEAD_BYTES + (copy * f->head.n_point + point) * f->stride;
}

static uint32_t record_checksum(const label *l, const void *state, int64_t n_byte)
{
    const size_t begin = offsetof(label, mark);
    const uint32_t sum = gm_checksum_add(0, (const char *)l + begin, sizeof *l - begin);
    return gm_checksum_add(sum, state, n_byte);
}

/* Where the next bytes at or behind an offset are that are not a hole; -1: there are none. */
static int64_t next_data(const gm_checkpoint_file *f, int64_t offset)
{
    const off_t found = lseek(f->fd, offset, SEEK_DATA);
    if (found >= 0) return found;
    return errno == ENXIO ? -1 : offset; /* file systems that do not know holes */
}

typedef struct list {
    gm_checkpoint_entry *entry; /* owned */
    int64_t n, capacity;
} list;

static gm_status add_entry(list *all, gm_checkpoint_entry entry)
{
    if (all->n == all->capacity) {
        const int64_t capacity = all->capacity ? 2 * all->capacity : 64;
        gm_checkpoint_entry *grown = realloc(all->entry, (size_t)capacity * sizeof *grown);
        if (!grown) return fail_memory();
        all->entry = grown;
        all->capacity = capacity;
    }
    all->entry[all->n++] = entry;
    return GM_OK;
}

static gm_status list_copy(const gm_checkpoint_file *f, const uint8_t *status, int64_t copy,
                           list *all)
{
    gm_status st = GM_OK;
    for (int64_t p = 0; p < f->head.n_point; p++) {
        label l = {0};
        int64_t n = 0;
        const int64_t data = next_data(f, place(f, copy, p));
        if (data < 0) break;
        if (data >= place(f, copy, p + 1)) p = (data - place(f, copy, 0)) / f->stride;
        if (p >= f->head.n_point) break;
        if (status[p] != GM_POINT_PENDING) continue;
        GM_TRY(st, read_at(f->path, f->fd, &l, sizeof l, place(f, copy, p), &n));
        if (l.mark == MARK && l.point == p && l.step > 0 && l.step < f->head.n_step)
            GM_TRY(st, add_entry(all, (gm_checkpoint_entry){p, l.step, copy}));
    }
cleanup:
    return st;
}

static int by_point_newest_first(const void *a, const void *b)
{
    const gm_checkpoint_entry *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    return x->step > y->step ? -1 : x->step < y->step;
}

gm_status gm_checkpoint_file_list(const gm_checkpoint_file *file, const uint8_t *status,
                                  gm_checkpoint_entry **out, int64_t *n)
{
    gm_status st = GM_OK;
    list all = {0};
    *out = NULL;
    *n = 0;
    for (int64_t copy = 0; copy < 2 && file->fd >= 0; copy++)
        GM_TRY(st, list_copy(file, status, copy, &all));
    if (all.n > 0) qsort(all.entry, (size_t)all.n, sizeof *all.entry, by_point_newest_first);
    *out = all.entry, all.entry = NULL;
    *n = all.n;
cleanup:
    free(all.entry);
    return st;
}

static gm_status read_record(const gm_checkpoint_file *f, const gm_checkpoint_entry *entry,
                             label *l, void *state, bool *whole)
{
    gm_status st = GM_OK;
    const int64_t n_label = (int64_t)sizeof *l;
    const int64_t offset = place(f, entry->copy, entry->point);
    int64_t n[2] = {0};
    GM_TRY(st, read_at(f->path, f->fd, l, n_label, offset, &n[0]));
    GM_TRY(st, read_at(f->path, f->fd, state, f->head.n_byte, offset + n_label, &n[1]));
    *whole = n[0] == n_label && n[1] == f->head.n_byte && l->point == entry->point &&
             l->step == entry->step && l->checksum == record_checksum(l, state, n[1]);
cleanup:
    return st;
}

gm_status gm_checkpoint_file_read(const gm_checkpoint_file *file, const gm_checkpoint_entry *entry,
                                  void *state, bool *good)
{
    label l = {0};
    const gm_status st = read_record(file, entry, &l, state, good);
    *good = st == GM_OK && *good && l.kernel == file->kernel;
    return st;
}

/* A test may break off here. */
static gm_status border(const gm_checkpoint_file *f)
{
    if (!gm_fault(GM_FAULT_CHECKPOINT)) return GM_OK;
    return GM_FAIL(GM_E_IO, "cannot write '%s': it fails on purpose", f->path);
}

/* Records that lie one behind the other, as one piece of at most about PIECE_BYTES. */
static int64_t neighbours(const gm_checkpoint_file *f, const gm_checkpoint_entry *entry, int64_t n)
{
    int64_t k = 1;
    while (k < n && (k + 1) * f->stride <= PIECE_BYTES && entry[k].copy == entry[0].copy &&
           entry[k].point == entry[0].point + k)
        k++;
    return k;
}

gm_status gm_checkpoint_file_write(gm_checkpoint_file *file, const gm_checkpoint_entry *entry,
                                   int64_t n, const void *state)
{
    gm_status st = GM_OK;
    const int64_t n_byte = file->head.n_byte, stride = file->stride;
    const int64_t room = stride > PIECE_BYTES ? stride : PIECE_BYTES;
    char *piece = malloc((size_t)(n * stride < room ? n * stride : room));
    if (!piece) return fail_memory();
    GM_TRY(st, border(file));
    GM_TRY(st, make_file(file));
    for (int64_t i = 0, k = 0; i < n; i += k) {
        k = neighbours(file, entry + i, n - i);
        for (int64_t r = 0; r < k; r++) {
            const char *value = (const char *)state + (i + r) * n_byte;
            label l = {0, MARK, entry[i + r].point, entry[i + r].step, file->kernel};
            l.checksum = record_checksum(&l, value, n_byte);
            memcpy(piece + r * stride, &l, sizeof l);
            memcpy(piece + r * stride + sizeof l, value, (size_t)n_byte);
        }
        GM_TRY(st, gm_space_write(file->fd, file->path, piece, k * stride,
                                  place(file, entry[i].copy, entry[i].point)));
        GM_TRY(st, border(file));
    }
    errno = EIO;
    if (gm_fault(GM_FAULT_SYNC) || fdatasync(file->fd) != 0) st = fail_file(file->path, "save");
    if (st == GM_OK) st = border(file);
cleanup:
    free(piece);
    return st;
}

static gm_status erase_span(gm_checkpoint_file *f, int64_t copy, int64_t point, int64_t n)
{
    gm_status st = GM_OK;
    static const label none;
    if (fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place(f, copy, point),
                  n * f->stride) == 0)
        return GM_OK;
    for (int64_t p = point; p < point + n; p++)
        GM_TRY(st, gm_space_write(f->fd, f->path, &none, sizeof none, place(f, copy, p)));
cleanup:
    return st;
}

gm_status gm_checkpoint_file_erase(gm_checkpoint_file *file, const int64_t *point, int64_t n)
{
    gm_status st = GM_OK;
    for (int64_t i = 0, k = 0; i < n && file->fd >= 0; i += k) {
        for (k = 1; i + k < n && point[i + k] == point[i] + k; k++) continue;
        for (int64_t copy = 0; copy < 2; copy++) GM_TRY(st, erase_span(file, copy, point[i], k));
    }
cleanup:
    return st;
}

/* --- looking -------------------------------------------------------------------------------------
 */

static gm_status survey(const gm_checkpoint_file *f, const uint8_t *status,
                        gm_checkpoint_survey *out)
{
    gm_status st = GM_OK;
    gm_checkpoint_entry *entry = NULL;
    int64_t n = 0, last = -1;
    void *state = malloc((size_t)f->head.n_byte);
    if (!state) return fail_memory();
    GM_TRY(st, gm_checkpoint_file_list(f, status, &entry, &n));
    for (int64_t i = 0; i < n; i++) {
        label l = {0};
        bool whole = false;
        if (entry[i].point == last) continue;
        GM_TRY(st, read_record(f, &entry[i], &l, state, &whole));
        if (!whole) continue;
        last = entry[i].point;
        if (out->n == 0 || entry[i].step < out->least) out->least = entry[i].step;
        if (out->n == 0 || entry[i].step > out->most) out->most = entry[i].step;
        out->n++;
    }
cleanup:
    free(entry);
    free(state);
    return st;
}

gm_status gm_checkpoint_file_survey(const char *result, const uint8_t *status, int64_t n_point,
                                    gm_checkpoint_survey *out)
{
    gm_status st = GM_OK;
    gm_checkpoint_file *f = NULL;
    bool whole = false;
    memset(out, 0, sizeof *out);
    GM_TRY(st, create_closed(result, &f));
    GM_TRY(st, open_existing(f, O_RDONLY));
    if (f->fd >= 0) GM_TRY(st, read_head(f->path, f->fd, &f->head, &whole));
    if (!whole || f->head.n_point != n_point) goto cleanup;
    f->stride = (int64_t)sizeof(label) + f->head.n_byte;
    out->n_step = f->head.n_step;
    GM_TRY(st, survey(f, status, out));
cleanup:
    gm_checkpoint_file_close(&f);
    return st;
}
