#include "io/selfcheck.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "store_space.h"
#include "store_write.h"

/* Pieces of no round size: neighbours in one page, or block, belong to different ranks, as in the
 * ledger of a result. */
enum { N_PIECE = 3, PIECE_BYTES = 997, TRIES = 30, NAP_MS = 100 };

typedef struct check {
    MPI_Comm comm;
    char *name; /* owned */
    char host[64];
    int rank, n_rank;
} check;

static void fill_piece(int rank, int index, unsigned char piece[PIECE_BYTES])
{
    for (int i = 0; i < PIECE_BYTES; i++)
        piece[i] = (unsigned char)(1 + (rank * 31 + index * 7 + i) % 251);
}

static int64_t piece_offset(const check *c, int rank, int index)
{
    return ((int64_t)index * c->n_rank + rank) * PIECE_BYTES;
}

/* Rank 0. One that a killed run has left may be there. */
static gm_status create(const check *c)
{
    if (unlink(c->name) != 0 && errno != ENOENT)
        return GM_FAIL(GM_E_IO, "cannot remove '%s': %s", c->name, gm_posix_cause(errno));
    const int fd = open(c->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || close(fd) != 0)
        return GM_FAIL(GM_E_IO, "cannot create '%s': %s", c->name, gm_posix_cause(errno));
    return GM_OK;
}

/* Network file systems may take a moment to show a new file to other hosts. */
static gm_status open_seen(const check *c, int *fd)
{
    const struct timespec nap = {0, NAP_MS * 1000000L};
    for (int i = 0; i < TRIES; i++) {
        *fd = open(c->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (*fd >= 0) return GM_OK;
        if (errno != ENOENT && errno != ESTALE) break;
        if (i + 1 < TRIES) nanosleep(&nap, NULL);
    }
    return GM_FAIL(GM_E_IO,
                   "rank %d on %s cannot open '%s', which rank 0 has made: %s. All ranks write one "
                   "file: it must lie in a folder that all hosts share",
                   c->rank, c->host, c->name, gm_posix_cause(errno));
}

static gm_status look(const check *c)
{
    int fd = -1;
    const gm_status st = open_seen(c, &fd);
    if (fd >= 0) close(fd);
    return st;
}

static gm_status fail_mpi(const check *c, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    return GM_FAIL(GM_E_IO, "rank %d on %s cannot %s '%s': MPI-IO: %s", c->rank, c->host, what,
                   c->name, text);
}

static gm_status write_pieces(const check *c, MPI_File file)
{
    unsigned char piece[PIECE_BYTES];
    for (int k = 0; k < N_PIECE; k++) {
        MPI_Status status;
        int n = 0;
        fill_piece(c->rank, k, piece);
        if (gm_fault(GM_FAULT_SELFCHECK)) piece[PIECE_BYTES / 2] ^= 1;
        const int code = MPI_File_write_at(file, piece_offset(c, c->rank, k), piece, PIECE_BYTES,
                                           MPI_BYTE, &status);
        if (code != MPI_SUCCESS) return fail_mpi(c, "write", code);
        MPI_Get_count(&status, MPI_BYTE, &n);
        if (n != PIECE_BYTES)
            return GM_FAIL(GM_E_IO, "rank %d on %s cannot write '%s': no space left on device?",
                           c->rank, c->host, c->name);
    }
    return GM_OK;
}

static gm_status write_all(const check *c)
{
    MPI_File file = MPI_FILE_NULL;
    int code = gm_store_open_file(c->comm, c->name, &file);
    gm_status st = gm_store_agree(c->comm, code == MPI_SUCCESS ? GM_OK : fail_mpi(c, "open", code));
    if (st != GM_OK) return st; /* closing is collective, and not all may have it: it is lost */
    st = write_pieces(c, file);
    code = gm_store_close_file(&file);
    if (st == GM_OK && code != MPI_SUCCESS) st = fail_mpi(c, "close", code);
    return gm_store_agree(c->comm, st);
}

/* What the next rank has written. */
static gm_status read_back(const check *c)
{
    gm_status st = GM_OK;
    unsigned char expected[PIECE_BYTES], found[PIECE_BYTES];
    const int other = (c->rank + 1) % c->n_rank;
    int fd = -1;
    GM_TRY(st, open_seen(c, &fd));
    for (int k = 0; k < N_PIECE; k++) {
        fill_piece(other, k, expected);
        const ssize_t n = pread(fd, found, PIECE_BYTES, piece_offset(c, other, k));
        if (n == PIECE_BYTES && memcmp(found, expected, PIECE_BYTES) == 0) continue;
        st =
            GM_FAIL(GM_E_IO,
                    "the folder of '%s' does not keep what several ranks write into one file: rank "
                    "%d on %s reads other bytes than rank %d has written. Choose a folder on a "
                    "parallel file system, or run on one host",
                    c->name, c->rank, c->host, other);
        break;
    }
cleanup:
    if (fd >= 0) close(fd);
    return st;
}

gm_status gm_selfcheck_run(MPI_Comm comm, const char *path)
{
    gm_status st = GM_OK;
    check c = {.comm = comm};
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.n_rank);
    if (gethostname(c.host, sizeof c.host - 1) != 0) strcpy(c.host, "unknown");
    if (asprintf(&c.name, "%s.selfcheck", path) < 0) {
        c.name = NULL;
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
    }
    st = gm_store_agree(comm, st);
    if (st != GM_OK || !c.name) goto cleanup;
    if (c.rank == 0) st = create(&c);
    GM_TRY(st, gm_store_agree(comm, st));
    GM_TRY(st, gm_store_agree(comm, look(&c)));
    GM_TRY(st, write_all(&c));
    GM_TRY(st, gm_store_agree(comm, read_back(&c)));
cleanup:
    if (c.name) gm_store_remove_litter(c.name, c.rank);
    if (c.name && c.rank == 0) unlink(c.name);
    free(c.name);
    return st;
}
