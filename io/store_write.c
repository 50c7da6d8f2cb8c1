/* An open result file on one rank: raw values through MPI-IO at known offsets, nothing of HDF5.
 *
 * Beside the MPI file each rank holds a POSIX descriptor of the same file. It does what MPI-IO
 * cannot: wait for the disk without the other ranks, and say why a write failed. */
#include "store_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checksum.h"
#include "core/alive.h"
#include "core/fault.h"
#include "store.h"
#include "store_space.h"

struct gm_store {
    char *path;              /* owned */
    const gm_layout *layout; /* borrowed */
    int64_t *offset;         /* owned [layout->n_variable] */
    int64_t run_offset;
    MPI_File file; /* MPI_FILE_NULL: not open */
    int fd;        /* -1: not open */
    int64_t n_byte;
    double seconds;
};

static int64_t piece = 256 << 20;

void gm_store_limit_piece(int64_t n_byte)
{
    piece = n_byte;
}

static void store_free(gm_store **store)
{
    gm_store *s = *store;
    if (s == NULL) return;
    if (s->fd >= 0) close(s->fd);
    free(s->offset);
    free(s->path);
    free(s);
    *store = NULL;
}

/* Is the file long enough for everything that may be written? */
static gm_status check_length(const gm_store *s)
{
    struct stat info;
    int64_t end = s->run_offset + (int64_t)GM_STORE_RUN_SLOTS * GM_STORE_RUN_BYTES;
    for (int i = 0; i < s->layout->n_variable; i++) {
        const int64_t n_byte = s->layout->n_point * s->layout->variable[i].row_bytes;
        if (s->offset[i] + n_byte > end) end = s->offset[i] + n_byte;
    }
    if (fstat(s->fd, &info) != 0)
        return GM_FAIL(GM_E_IO, "cannot open '%s': %s", s->path, gm_posix_cause(errno));
    if (info.st_size < end)
        return GM_FAIL(GM_E_RESULT, "'%s' ends at byte %lld, its variables at byte %lld", s->path,
                       (long long)info.st_size, (long long)end);
    return GM_OK;
}

static gm_status prepare(const char *path, const gm_layout *layout, const int64_t *offset,
                         int64_t run_offset, gm_store **out)
{
    gm_status st = GM_OK;
    const size_t n_byte = (size_t)layout->n_variable * sizeof *offset;
    gm_store *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->layout = layout;
        s->run_offset = run_offset;
        s->file = MPI_FILE_NULL;
        s->fd = -1;
        s->path = strdup(path);
        s->offset = malloc(n_byte);
    }
    if (s == NULL || s->path == NULL || s->offset == NULL) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory to open '%s'", path);
        goto cleanup;
    }
    memcpy(s->offset, offset, n_byte);
    s->fd = open(path, O_RDWR | O_CLOEXEC);
    if (s->fd < 0) {
        st = GM_FAIL(GM_E_IO, "cannot open '%s': %s", path,
                     errno == ENOENT ? "no such file" : gm_posix_cause(errno));
        goto cleanup;
    }
    GM_TRY(st, check_length(s));
    *out = s, s = NULL;
cleanup:
    store_free(&s);
    return st;
}

static gm_status agree(MPI_Comm comm, gm_status st)
{
    char message[1024] = "";
    int rank = 0;
    int first = INT_MAX;
    int code = (int)st;
    if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return GM_FAIL(GM_E_MPI, "MPI has no rank");
    const int own = st == GM_OK ? INT_MAX : rank;
    if (MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return GM_FAIL(GM_E_MPI, "MPI_Allreduce failed");
    if (first == INT_MAX) return GM_OK;
    snprintf(message, sizeof message, "%s", gm_status_message());
    if (MPI_Bcast(&code, 1, MPI_INT, first, comm) != MPI_SUCCESS ||
        MPI_Bcast(message, sizeof message, MPI_CHAR, first, comm) != MPI_SUCCESS)
        return GM_FAIL(GM_E_MPI, "MPI_Bcast failed");
    return GM_FAIL((gm_status)code, "%s", message);
}

gm_status gm_store_agree(MPI_Comm comm, gm_status st)
{
    gm_alive_wait(true);
    const gm_status all = agree(comm, st);
    gm_alive_wait(false);
    return all;
}

int gm_store_open_file(MPI_Comm comm, const char *path, MPI_File *file)
{
    gm_alive_wait(true);
    const int code = MPI_File_open(comm, path, MPI_MODE_WRONLY, MPI_INFO_NULL, file);
    if (code == MPI_SUCCESS) MPI_File_set_errhandler(*file, MPI_ERRORS_RETURN);
    gm_alive_wait(false);
    return code;
}

int gm_store_close_file(MPI_File *file)
{
    gm_alive_wait(true);
    const int code = MPI_File_close(file);
    gm_alive_wait(false);
    return code;
}

static gm_status fail_mpi(const gm_store *s, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "no reason given";
    int n = 0;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &n);
    return GM_FAIL(GM_E_IO, "cannot %s '%s': MPI-IO: %s", what, s->path, text);
}

void gm_store_remove_litter(const char *path, int rank)
{
#ifdef OPEN_MPI
    static const char *const ending[] = {"locktest", "data", "metadata"};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        char *name = NULL;
        if (asprintf(&name, "%s.%s.%d", path, ending[i], rank) < 0) return;
        unlink(name);
        free(name);
    }
#else
    (void)path;
    (void)rank;
#endif
}

gm_status gm_store_open(MPI_Comm comm, const char *path, const gm_layout *layout,
                        const int64_t *offset, int64_t run_offset, gm_store **out)
{
    int rank = 0;
    gm_store *s = NULL;
    *out = NULL;
    gm_status st = gm_store_agree(comm, prepare(path, layout, offset, run_offset, &s));
    if (st != GM_OK || s == NULL) {
        store_free(&s);
        return st;
    }
    const int code = gm_store_open_file(comm, path, &s->file);
    st = code == MPI_SUCCESS ? GM_OK : fail_mpi(s, "open", code);
    st = gm_store_agree(comm, st);
    if (st != GM_OK) {
        /* Closing is collective, and not all ranks have something to close: the handle is lost. */
        store_free(&s);
        return st;
    }
    MPI_Comm_rank(comm, &rank);
    gm_store_remove_litter(path, rank);
    *out = s;
    return GM_OK;
}

/* MPI-IO does not say what the operating system answered: ask it with the same bytes. */
static gm_status explain(const gm_store *s, int64_t offset, const char *value, int64_t n_byte,
                         const char *name, int code)
{
    gm_status st = gm_space_write(s->fd, s->path, value, n_byte, offset);
    if (st == GM_OK) st = fail_mpi(s, "write", code);
    return gm_status_extend(st, "variable '%s'", name);
}

static gm_status write_span(gm_store *s, int64_t offset, const char *value, int64_t n_byte,
                            const char *name)
{
    for (int64_t done = 0; done < n_byte;) {
        const int64_t n = n_byte - done < piece ? n_byte - done : piece;
        MPI_Status status;
        int n_done = 0;
        if (gm_fault(GM_FAULT_WRITE)) {
            const gm_status st =
                GM_FAIL(GM_E_IO, "cannot write '%s': %s", s->path, gm_posix_cause(ENOSPC));
            return gm_status_extend(st, "variable '%s'", name);
        }
        const int code =
            MPI_File_write_at(s->file, offset + done, value + done, (int)n, MPI_BYTE, &status);
        if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &n_done);
        if (n_done != n) return explain(s, offset + done, value + done, n, name, code);
        done += n;
        s->n_byte += n;
    }
    return GM_OK;
}

gm_status gm_store_write(gm_store *store, int variable, int64_t point, int64_t n_point,
                         int64_t row_begin, int64_t n_byte, const void *value, int64_t stride)
{
    const gm_layout *layout = store->layout;
    if (variable < 0 || variable >= layout->n_variable)
        return GM_FAIL(GM_E_INTERNAL, "variable %d does not exist", variable);
    const gm_variable *v = &layout->variable[variable];
    if (point < 0 || n_point < 0 || n_point > layout->n_point - point || row_begin < 0 ||
        n_byte < 0 || n_byte > v->row_bytes - row_begin)
        return GM_FAIL(
            GM_E_INTERNAL, "points %lld + %lld, bytes %lld + %lld are outside of variable '%s'",
            (long long)point, (long long)n_point, (long long)row_begin, (long long)n_byte, v->name);

    if (store->offset[variable] < 0) return GM_OK;
    const bool is_one_span = n_byte == v->row_bytes && stride == n_byte;
    const int64_t n_span = is_one_span ? 1 : n_point;
    const int64_t span = is_one_span ? n_point * n_byte : n_byte;
    const double begin = MPI_Wtime();
    gm_status st = GM_OK;
    for (int64_t k = 0; k < n_span && st == GM_OK; k++)
        st = write_span(store, store->offset[variable] + (point + k) * v->row_bytes + row_begin,
                        (const char *)value + k * stride, span, v->name);
    store->seconds += MPI_Wtime() - begin;
    return st;
}

gm_status gm_store_sum(gm_store *store, int variable, int64_t point, int64_t n_byte, uint32_t *sum)
{
    enum { READ_BYTES = 1 << 20 };
    gm_status st = GM_OK;
    const gm_variable *v = &store->layout->variable[variable];
    const int64_t offset = store->offset[variable] + point * v->row_bytes;
    char *piece = malloc(READ_BYTES);
    if (piece == NULL) return GM_FAIL(GM_E_MEMORY, "not enough memory to read '%s'", store->path);
    *sum = 0;
    for (int64_t done = 0; done < n_byte;) {
        const int64_t left = n_byte - done;
        const ssize_t n =
            pread(store->fd, piece, (size_t)(left < READ_BYTES ? left : READ_BYTES), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            st = GM_FAIL(GM_E_IO, "cannot read '%s': variable '%s': %s", store->path, v->name,
                         n < 0 ? gm_posix_cause(errno) : "it ends there");
            break;
        }
        *sum = gm_checksum_add(*sum, piece, n);
        done += n;
    }
    free(piece);
    return st;
}

gm_status gm_store_write_run(gm_store *store, int slot, const char *text)
{
    char bytes[GM_STORE_RUN_BYTES] = "";
    if (slot < 0 || slot >= GM_STORE_RUN_SLOTS)
        return GM_FAIL(GM_E_INTERNAL, "run slot %d does not exist", slot);
    size_t n = strnlen(text, GM_STORE_RUN_BYTES);
    if (n == GM_STORE_RUN_BYTES) {
        n = GM_STORE_RUN_BYTES - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--; /* not within a character */
    }
    memcpy(bytes, text, n);
    const double begin = MPI_Wtime();
    gm_status st = write_span(store, store->run_offset + (int64_t)slot * GM_STORE_RUN_BYTES, bytes,
                              GM_STORE_RUN_BYTES, "provenance/run");
    store->seconds += MPI_Wtime() - begin;
    return st;
}

gm_status gm_store_sync(gm_store *store)
{
    const double begin = MPI_Wtime();
    errno = EIO;
    while (gm_fault(GM_FAULT_SYNC) || fdatasync(store->fd) != 0) {
        if (errno == EINTR) continue;
        return GM_FAIL(GM_E_IO, "cannot save '%s': %s", store->path, gm_posix_cause(errno));
    }
    store->seconds += MPI_Wtime() - begin;
    return GM_OK;
}

gm_status gm_store_close(gm_store **store)
{
    gm_store *s = *store;
    gm_status st = GM_OK;
    if (s == NULL) return GM_OK;
    const int code = gm_store_close_file(&s->file);
    if (code != MPI_SUCCESS) st = fail_mpi(s, "close", code);
    if (close(s->fd) != 0 && st == GM_OK)
        st = GM_FAIL(GM_E_IO, "cannot close '%s': %s", s->path, gm_posix_cause(errno));
    s->fd = -1;
    store_free(store);
    return st;
}

void gm_store_usage(const gm_store *store, int64_t *n_byte, double *seconds)
{
    *n_byte = store->n_byte;
    *seconds = store->seconds;
}
