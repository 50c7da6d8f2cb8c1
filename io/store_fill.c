/* Fill values of a new file. Each part has a thread, so that what else a run needs before it can
 * march goes on meanwhile, and a parallel file system gets data from every host. */
#include "store_fill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alive.h"
#include "core/fault.h"
#include "core/stop.h"
#include "core/thread.h"
#include "store_space.h"

/* Linux keeps a file in memory in units of the size of the first writing, and large units make
 * small writes later slow (seen with ext4). */
enum { CALL_BYTES = 128 << 10 };

struct gm_fill {
    char *path, *name; /* owned */
    gm_region *region; /* owned [n_region] */
    int n_region, part, n_part;
    unsigned char *buffer; /* owned [n_buffer] */
    int64_t n_buffer;
    pthread_t thread;
    bool has_thread;
    int over, now; /* atomic flags: of the thread; for the thread */
    gm_status status;
    char message[1024]; /* of the thread, whose own is lost with it */
};

static int64_t longest_piece = 16 << 20;

void gm_fill_limit_piece(int64_t n_byte)
{
    longest_piece = n_byte;
}

static void set_elements(unsigned char *buffer, int64_t n_byte, gm_type type, double fill)
{
    const float f32 = (float)fill;
    const uint8_t u8 = type == GM_TYPE_U8 ? (uint8_t)fill : 0;
    const int64_t i64 = type == GM_TYPE_I64 ? (int64_t)fill : 0;
    const void *element = type == GM_TYPE_F32   ? (const void *)&f32
                          : type == GM_TYPE_F64 ? (const void *)&fill
                          : type == GM_TYPE_U8  ? (const void *)&u8
                                                : (const void *)&i64;
    const size_t size = (size_t)gm_type_size(type);
    for (size_t at = 0; at + size <= (size_t)n_byte; at += size) memcpy(buffer + at, element, size);
}

static gm_status check_stop(const gm_fill *f)
{
    const gm_stop signal = gm_stop_signal();
    if (signal)
        return GM_FAIL(GM_E_STOPPED, "stopped by %s while '%s' was being created; nothing is lost",
                       gm_stop_text(signal), f->name);
    if (__atomic_load_n(&f->now, __ATOMIC_RELAXED))
        return GM_FAIL(GM_E_STOPPED, "the creation of '%s' was given up", f->name);
    return GM_OK;
}

static gm_status write_piece(gm_fill *f, int fd, int64_t offset, int64_t n_byte)
{
    gm_status st = GM_OK;
    for (int64_t done = 0; done < n_byte && st == GM_OK; done += f->n_buffer) {
        const int64_t rest = n_byte - done;
        st = gm_space_write(fd, f->name, f->buffer, rest < f->n_buffer ? rest : f->n_buffer,
                            offset + done);
        gm_alive_mark(NULL);
    }
    return st;
}

/* This part's pieces of all regions; *turn counts the pieces of the file. */
static gm_status fill_region(gm_fill *f, int fd, const gm_region *r, int64_t *turn)
{
    gm_status st = GM_OK;
    set_elements(f->buffer, r->n_byte < f->n_buffer ? r->n_byte : f->n_buffer, r->type, r->fill);
    for (int64_t done = 0; done < r->n_byte; done += longest_piece) {
        const int64_t rest = r->n_byte - done;
        if ((*turn)++ % f->n_part != f->part) continue;
        GM_TRY(st, check_stop(f));
        GM_TRY(st,
               write_piece(f, fd, r->offset + done, rest < longest_piece ? rest : longest_piece));
        /* Begun now, writing to the disk does not all wait for the end. */
        sync_file_range(fd, r->offset + done, longest_piece, SYNC_FILE_RANGE_WRITE);
    }
cleanup:
    return st;
}

/* A part without pieces opens nothing: small files concern few ranks. */
static bool has_work(const gm_fill *f)
{
    int64_t n_turn = 0;
    for (int i = 0; i < f->n_region; i++)
        n_turn += (f->region[i].n_byte + longest_piece - 1) / longest_piece;
    return n_turn > f->part;
}

static gm_status fill_part(gm_fill *f)
{
    gm_status st = GM_OK;
    int64_t turn = 0;
    if (!has_work(f)) return GM_OK;
    const int fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return GM_FAIL(GM_E_IO, "cannot create '%s': %s", f->name,
                       errno == ENOENT ? "its unfinished file is not seen on every host, or was "
                                         "removed"
                                       : gm_posix_cause(errno));
    for (int i = 0; i < f->n_region; i++) GM_TRY(st, fill_region(f, fd, &f->region[i], &turn));
    errno = EIO;
    if (gm_fault(GM_FAULT_SYNC) || fdatasync(fd) != 0)
        st = GM_FAIL(GM_E_IO, "cannot save '%s': %s", f->name, gm_posix_cause(errno));
cleanup:
    close(fd);
    return st;
}

static void *work(void *fill)
{
    gm_fill *f = fill;
    f->status = fill_part(f);
    if (f->status != GM_OK) snprintf(f->message, sizeof f->message, "%s", gm_status_message());
    __atomic_store_n(&f->over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void fill_free(gm_fill *f)
{
    if (f == NULL) return;
    free(f->path);
    free(f->name);
    free(f->region);
    free(f->buffer);
    free(f);
}

gm_status gm_fill_start(const char *path, const char *name, const gm_region *region, int n_region,
                        int part, int n_part, gm_fill **out)
{
    gm_fill *f = calloc(1, sizeof *f);
    const size_t n_byte = (size_t)n_region * sizeof *region;
    *out = NULL;
    if (f != NULL) {
        f->n_region = n_region;
        f->part = part;
        f->n_part = n_part;
        f->n_buffer = longest_piece < CALL_BYTES ? longest_piece : CALL_BYTES;
        f->path = strdup(path);
        f->name = strdup(name);
        f->region = malloc(n_byte);
        f->buffer = malloc((size_t)f->n_buffer);
    }
    if (f == NULL || !f->path || !f->name || !f->region || !f->buffer) {
        fill_free(f);
        return GM_FAIL(GM_E_MEMORY, "not enough memory to create '%s'", name);
    }
    memcpy(f->region, region, n_byte);
    f->has_thread = gm_thread_start(&f->thread, work, f);
    if (!f->has_thread) work(f); /* no threads to be had: at once, then */
    *out = f;
    return GM_OK;
}

bool gm_fill_is_over(gm_fill *fill)
{
    return __atomic_load_n(&fill->over, __ATOMIC_ACQUIRE);
}

gm_status gm_fill_end(gm_fill **fill, bool now)
{
    gm_fill *f = *fill;
    gm_status st = GM_OK;
    if (f == NULL) return GM_OK;
    *fill = NULL;
    if (now) __atomic_store_n(&f->now, 1, __ATOMIC_RELAXED);
    if (f->has_thread) pthread_join(f->thread, NULL);
    if (f->status != GM_OK) st = GM_FAIL(f->status, "%s", f->message);
    fill_free(f);
    return st;
}
