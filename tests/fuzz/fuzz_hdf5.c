/* Tables in HDF5: the file's only dataset, and one by its name. */
#include "child.h"
#include "table_check.h"

static void read_table(const char *path, int64_t n_byte, const char *dataset)
{
    const gm_place named = {"s.yaml", 1, 1};
    gm_problems *problems = NULL;
    gm_table table = {0};
    gm_fuzz_check(gm_problems_create(&problems) == GM_OK, "memory for problems");
    check_table(gm_table_read_hdf5(named, path, n_byte, dataset, problems, &table), problems,
                &table);
    gm_problems_destroy(&problems);
}

static void read_tables(const char *path, int64_t n_byte)
{
    read_table(path, n_byte, NULL);
    read_table(path, n_byte, "w");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    gm_fuzz_guarded(read_tables, gm_fuzz_file(data, n_byte), (int64_t)n_byte);
    return 0;
}
