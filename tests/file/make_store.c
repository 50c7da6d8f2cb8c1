/* Makes result files for test_store_file.py.
 *   make_store grid FILE      points 0 and 3 of a small grid are written, point 1 has diverged
 *   make_store zip FILE       nothing is written
 *   make_store forever FILE   as grid, then says "ready" and writes until it is killed */
#include <stdio.h>
#include <string.h>

#include "io/store.h"
#include "tests/support/store_create.h"
#include "tests/support/store_layout.h"

static gm_status write_point(gm_store *store, int64_t point)
{
    gm_status st = GM_OK;
    float row[GRID_N_TIME][GRID_N_NODE];
    const uint8_t done = GM_POINT_DONE;
    const int64_t run = 0;
    for (int t = 0; t < GRID_N_TIME; t++)
        for (int i = 0; i < GRID_N_NODE; i++) row[t][i] = (float)(point * 100 + t * 10 + i);
    GM_TRY(st, gm_store_write(store, GRID_E, point, 1, 0, sizeof row, row, sizeof row));
    GM_TRY(st, gm_store_write(store, GRID_RUN, point, 1, 0, sizeof run, &run, sizeof run));
    GM_TRY(st, gm_store_sync(store));
    GM_TRY(st, gm_store_write(store, GRID_STATUS, point, 1, 0, 1, &done, 1));
cleanup:
    return st;
}

static gm_status write_some(gm_store *store)
{
    gm_status st = GM_OK;
    const uint8_t diverged = GM_POINT_DIVERGED;
    const int64_t step = 17;
    GM_TRY(st, gm_store_write_run(store, 0, "{\"host\": \"zürich\"}"));
    GM_TRY(st, write_point(store, 0));
    GM_TRY(st, write_point(store, 3));
    GM_TRY(st, gm_store_write(store, GRID_FAILED_STEP, 1, 1, 0, sizeof step, &step, sizeof step));
    GM_TRY(st, gm_store_write(store, GRID_STATUS, 1, 1, 0, 1, &diverged, 1));
cleanup:
    return st;
}

static gm_status write_forever(gm_store *store)
{
    gm_status st = GM_OK;
    puts("ready");
    fflush(stdout);
    for (int64_t point = 0; st == GM_OK; point = (point + 1) % GRID_N_POINT)
        st = write_point(store, point);
    return st;
}

static gm_status make(const char *kind, const char *path)
{
    gm_status st = GM_OK;
    static char sweep[100001]; /* longer than attributes could be in old versions of HDF5 */
    memset(sweep, '#', sizeof sweep - 1);
    const gm_attribute texts[] = {{GM_PROVENANCE_SWEEP, sweep},
                                  {GM_PROVENANCE_CANONICAL, "dt: 0.1\n"},
                                  {GM_PROVENANCE_KERNEL, "cpu fp32"},
                                  {"note", ""}};
    const bool is_zip = strcmp(kind, "zip") == 0;
    const gm_layout *layout = is_zip ? &zip_layout : &grid_layout;
    gm_store_header *header = NULL;
    gm_store *store = NULL;
    GM_TRY(st, store_create(path, layout, texts, 4, false));
    if (is_zip) goto cleanup;
    GM_TRY(st, gm_store_inspect(path, layout, &header));
    GM_TRY(st,
           gm_store_open(MPI_COMM_SELF, path, layout, header->offset, header->run_offset, &store));
    GM_TRY(st, write_some(store));
    if (strcmp(kind, "forever") == 0) GM_TRY(st, write_forever(store));
    GM_TRY(st, gm_store_close(&store));
cleanup:
    gm_store_header_destroy(&header);
    return st;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    const gm_status st = make(argv[1], argv[2]);
    if (st != GM_OK) fprintf(stderr, "make_store: %s\n", gm_status_message());
    MPI_Finalize();
    return gm_status_exit_code(st);
}
