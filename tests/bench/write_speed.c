/* How fast do ranks write trajectories through io/store.h, next to plain MPI-IO that writes as many
 * bytes in pieces of the same size into a file of the same kind? In turns, in one run.
 *
 *   mpirun -n 4 write_speed FOLDER MIB_PER_RANK KIB_PER_ACCESS REPEAT
 *
 * Prints a JSON object: seconds of each turn (writing and waiting for the disk, slowest rank), and
 * of making the file. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/store.h"

enum { N_POINT_EACH = 16, E = 0, STATUS = 1, MAX_REPEAT = 64 };

static int rank, n_rank;

static gm_coordinate coordinate[3] = {
    {.name = "G", .unit = "1", .long_name = "coupling", .is_dimension = true},
    {.name = "time", .unit = "ms", .long_name = "time", .is_dimension = true},
    {.name = "node", .unit = "1", .long_name = "node", .n = 1, .is_dimension = true},
};
static gm_variable variable[2] = {
    [E] = {.name = "E",
           .unit = "1",
           .long_name = "activity",
           .type = GM_TYPE_F32,
           .fill = NAN,
           .has_time = true,
           .has_node = true,
           .observable = GM_TRAJECTORY},
    [STATUS] = {.name = "status",
                .unit = "1",
                .long_name = "state",
                .type = GM_TYPE_U8,
                .row_bytes = 1,
                .quantity = -1},
};
static gm_layout layout = {
    .n_point_dim = 1,
    .n_coordinate = 3,
    .coordinate = coordinate,
    .time_dim = 1,
    .node_dim = 2,
    .n_variable = 2,
    .variable = variable,
    .status = STATUS,
    .failed_step = -1,
    .run = -1,
    .checksum = -1,
    .n_node = 1,
};

static void need(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "write_speed: rank %d: %s: %s\n", rank, what, gm_status_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Seconds since begin, of the slowest rank. */
static double slowest(double begin)
{
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static void describe(int64_t bytes_each, double **value)
{
    layout.n_point = coordinate[0].n = (int64_t)N_POINT_EACH * n_rank;
    variable[E].row_bytes = bytes_each / N_POINT_EACH;
    layout.n_sample = coordinate[1].n = variable[E].row_bytes / 4;
    const int64_t n = layout.n_sample > layout.n_point ? layout.n_sample : layout.n_point;
    *value = malloc((size_t)n * sizeof **value);
    need(*value != NULL, "no memory");
    for (int64_t i = 0; i < n; i++) (*value)[i] = (double)i;
    for (int d = 0; d < 3; d++) coordinate[d].value = *value;
    layout.n_byte = layout.n_point * (variable[E].row_bytes + 1);
}

/* The file as a run makes it: metadata by rank 0, fill values by all. Returns its offsets. */
static double make_result(const char *path, int64_t offset[3])
{
    gm_creation *creation = NULL;
    gm_fill *fill = NULL;
    gm_region region[3];
    char partial[4096];
    int n_region = 3;
    const gm_attribute text[] = {
        {GM_PROVENANCE_SWEEP, "x"}, {GM_PROVENANCE_CANONICAL, "x"}, {GM_PROVENANCE_KERNEL, "x"}};
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 0) {
        need(gm_store_begin(path, &layout, text, 3, true, &creation) == GM_OK, "begin");
        memcpy(region, gm_creation_regions(creation, &n_region), sizeof region);
    }
    MPI_Bcast(region, sizeof region, MPI_BYTE, 0, MPI_COMM_WORLD);
    snprintf(partial, sizeof partial, "%s.partial", path);
    need(gm_fill_start(partial, path, region, 3, rank, n_rank, &fill) == GM_OK, "fill");
    need(gm_fill_end(&fill, false) == GM_OK, "fill");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) need(gm_store_publish(&creation) == GM_OK, "publish");
    for (int i = 0; i < 3; i++) offset[i] = region[i].offset;
    return slowest(begin);
}

/* A plain file of the same length whose bytes are on the disk. */
static double make_plain(const char *path, const char *value, int64_t n_access, int64_t access)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    need(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS,
         "open");
    for (int64_t i = 0; i < n_access; i++)
        need(MPI_File_write_at(file, (rank * n_access + i) * access, value, (int)access, MPI_BYTE,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS,
             "write");
    need(MPI_File_sync(file) == MPI_SUCCESS, "sync");
    MPI_File_close(&file);
    return slowest(begin);
}

/* The order of a run: the first chunk of every point of the tile, then the second ... */
static double write_plain(MPI_File file, int fd, const char *value, int64_t access)
{
    const int64_t row = variable[E].row_bytes;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int64_t at = 0; at < row; at += access)
        for (int64_t p = 0; p < N_POINT_EACH; p++)
            need(MPI_File_write_at(file, (rank * N_POINT_EACH + p) * row + at, value, (int)access,
                                   MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "write");
    need(fdatasync(fd) == 0, "sync");
    return slowest(begin);
}

static double write_store(gm_store *store, const char *value, int64_t access)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int64_t at = 0; at < variable[E].row_bytes; at += access)
        need(gm_store_write(store, E, rank * N_POINT_EACH, N_POINT_EACH, at, access, value, 0) ==
                 GM_OK,
             "write");
    need(gm_store_sync(store) == GM_OK, "sync");
    return slowest(begin);
}

static void put(const char *name, const double *seconds, int n)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < n; i++) printf("%s%.6f", i ? ", " : "", seconds[i]);
    putchar(']');
}

static void measure(const char *folder, int64_t bytes_each, int64_t access, int repeat)
{
    char result[2048], plain[2048];
    double *axis = NULL, create[MAX_REPEAT], first[MAX_REPEAT], ours[MAX_REPEAT],
           theirs[MAX_REPEAT];
    int64_t offset[3];
    char *value = malloc((size_t)access);
    need(value != NULL, "no memory");
    memset(value, 1, (size_t)access);
    describe(bytes_each, &axis);
    snprintf(result, sizeof result, "%s/write_speed.h5", folder);
    snprintf(plain, sizeof plain, "%s/write_speed.plain", folder);
    for (int i = 0; i < repeat; i++) {
        MPI_File file = MPI_FILE_NULL;
        gm_store *store = NULL;
        if (i % 2) create[i] = make_result(result, offset);
        first[i] = make_plain(plain, value, bytes_each / access, access);
        if (i % 2 == 0) create[i] = make_result(result, offset);
        need(gm_store_open(MPI_COMM_WORLD, result, &layout, offset, offset[2], &store) == GM_OK,
             "open");
        need(MPI_File_open(MPI_COMM_WORLD, plain, MPI_MODE_WRONLY, MPI_INFO_NULL, &file) ==
                 MPI_SUCCESS,
             "open");
        const int fd = open(plain, O_WRONLY | O_CLOEXEC);
        need(fd >= 0, "open");
        if (i % 2) ours[i] = write_store(store, value, access);
        theirs[i] = write_plain(file, fd, value, access);
        if (i % 2 == 0) ours[i] = write_store(store, value, access);
        close(fd);
        MPI_File_close(&file);
        need(gm_store_close(&store) == GM_OK, "close");
        if (rank == 0) unlink(result), unlink(plain);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("{\"ranks\": %d, \"bytes\": %lld, \"access\": %lld", n_rank,
               (long long)(bytes_each * n_rank), (long long)access);
        put("create_s", create, repeat);
        put("plain_create_s", first, repeat);
        put("write_s", ours, repeat);
        put("plain_write_s", theirs, repeat);
        puts("}");
    }
    free(axis);
    free(value);
}

int main(int argc, char **argv)
{
    setenv("OMPI_MCA_sharedfp", "^sm,lockedfile", 0); /* as gridmarch does */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_rank);
    const int64_t access = argc == 5 ? strtoll(argv[3], NULL, 10) << 10 : 0;
    const int64_t bytes_each = argc == 5 ? strtoll(argv[2], NULL, 10) << 20 : 0;
    const int repeat = argc == 5 ? (int)strtol(argv[4], NULL, 10) : 0;
    const bool is_right = access > 0 && bytes_each > 0 && repeat > 0 && repeat <= MAX_REPEAT &&
                          bytes_each % (N_POINT_EACH * access) == 0;
    if (!is_right && rank == 0)
        fprintf(stderr, "usage: write_speed FOLDER MIB_PER_RANK KIB_PER_ACCESS REPEAT\n"
                        "16 accesses must divide the bytes of a rank\n");
    if (is_right) measure(argv[1], bytes_each, access, repeat);
    MPI_Finalize();
    return is_right ? 0 : 2;
}
