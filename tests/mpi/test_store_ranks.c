/* All ranks write their points of one file at once; rank 0 then reads it with HDF5 and compares.
 * For any number of ranks, more than there are points included. Prints what fails; exit code 1. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/store.h"
#include "io/store_write.h"
#include "tests/support/store_create.h"
#include "tests/support/store_layout.h"

static int n_failed;

static void expect(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "FAILED: %s (last message: %s)\n", what, gm_status_message());
    n_failed++;
}

static float expected_value(int64_t point, int sample, int node)
{
    return (float)(point * 1000 + sample * 10 + node);
}

static void create(const char *path, int64_t *offset, int64_t *run_offset)
{
    const gm_attribute texts[] = {{GM_PROVENANCE_SWEEP, "model: x\n"},
                                  {GM_PROVENANCE_CANONICAL, "dt: 0.1\n"},
                                  {GM_PROVENANCE_KERNEL, "cpu fp32"}};
    gm_store_header *header = NULL;
    expect(store_create(path, &grid_layout, texts, 3, false) == GM_OK, "create");
    expect(gm_store_inspect(path, &grid_layout, &header) == GM_OK, "inspect after create");
    if (header == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(offset, header->offset, GRID_N_VARIABLE * sizeof *offset);
    *run_offset = header->run_offset;
    gm_store_header_destroy(&header);
}

/* Points go round the ranks; trajectories in two chunks; done only after the data are on the
 * disk.*/
static void write_points(gm_store *store, int rank, int n_rank)
{
    float row[GRID_N_TIME][GRID_N_NODE];
    const int64_t half = GRID_N_TIME / 2 * (int64_t)sizeof row[0];
    for (int64_t point = rank; point < GRID_N_POINT; point += n_rank) {
        for (int t = 0; t < GRID_N_TIME; t++)
            for (int i = 0; i < GRID_N_NODE; i++) row[t][i] = expected_value(point, t, i);
        expect(gm_store_write(store, GRID_E, point, 1, 0, half, row, half) == GM_OK, "first half");
        expect(gm_store_write(store, GRID_E, point, 1, half, half, row[GRID_N_TIME / 2], half) ==
                   GM_OK,
               "second half");
        expect(gm_store_sync(store) == GM_OK, "sync");
        const uint8_t done = GM_POINT_DONE;
        expect(gm_store_write(store, GRID_STATUS, point, 1, 0, 1, &done, 1) == GM_OK, "status");
    }
    if (rank == 0) expect(gm_store_write_run(store, 0, "{\"run\": 0}") == GM_OK, "run");
}

static void compare(const char *path)
{
    static float got[GRID_N_POINT][GRID_N_TIME][GRID_N_NODE];
    gm_store_header *header = NULL;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "E", H5P_DEFAULT);
    expect(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0, "read");
    H5Dclose(dataset);
    H5Fclose(file);
    for (int p = 0; p < GRID_N_POINT; p++)
        for (int t = 0; t < GRID_N_TIME; t++)
            for (int i = 0; i < GRID_N_NODE; i++)
                expect(got[p][t][i] == expected_value(p, t, i), "values come back");
    expect(gm_store_inspect(path, &grid_layout, &header) == GM_OK, "inspect after the writing");
    if (header == NULL) return;
    for (int p = 0; p < GRID_N_POINT; p++)
        expect(header->status[p] == GM_POINT_DONE, "every point is done");
    expect(header->n_run == 1 && strcmp(header->run[0], "{\"run\": 0}") == 0, "run document");
    gm_store_header_destroy(&header);
}

/* A file that one rank cannot see fails on all ranks, with the same message. */
static void open_where_one_rank_cannot(const char *path, const int64_t *offset, int64_t run_offset,
                                       int rank, int n_rank)
{
    gm_store *store = NULL;
    const char *own_path = rank == n_rank - 1 ? "/nowhere/result.h5" : path;
    const gm_status st =
        gm_store_open(MPI_COMM_WORLD, own_path, &grid_layout, offset, run_offset, &store);
    expect(st == GM_E_IO && store == NULL, "open fails on all ranks");
    expect(strstr(gm_status_message(), "/nowhere/result.h5") != NULL, "all ranks name the cause");
}

int main(int argc, char **argv)
{
    int rank = 0;
    int n_rank = 0;
    int64_t offset[GRID_N_VARIABLE + 1] = {0};
    char folder[] = "/tmp/gm_test_store_ranks.XXXXXX";
    char path[sizeof folder + 16];
    char lock_test[sizeof path + 32];
    struct stat info;
    gm_store *store = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_rank);
    if (rank == 0 && mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/result.h5", folder);
    if (rank == 0) create(path, offset, &offset[GRID_N_VARIABLE]);
    MPI_Bcast(offset, GRID_N_VARIABLE + 1, MPI_INT64_T, 0, MPI_COMM_WORLD);

    const gm_status st =
        gm_store_open(MPI_COMM_WORLD, path, &grid_layout, offset, offset[GRID_N_VARIABLE], &store);
    expect(st == GM_OK, "open");
    if (st == GM_OK) {
        gm_store_limit_piece(16);
        write_points(store, rank, n_rank);
        expect(gm_store_close(&store) == GM_OK && store == NULL, "close");
    }
    snprintf(lock_test, sizeof lock_test, "%s.locktest.%d", path, rank);
    expect(stat(lock_test, &info) != 0, "no file of the lock test is left behind");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) compare(path);
    open_where_one_rank_cannot(path, offset, offset[GRID_N_VARIABLE], rank, n_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && (unlink(path) != 0 || rmdir(folder) != 0)) expect(false, "clean up");
    MPI_Finalize();
    return n_failed > 0;
}
