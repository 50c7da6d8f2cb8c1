/* Tables in NumPy's format. */
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    gm_bytes bytes = {gm_fuzz_copy(data, n_byte), (int64_t)n_byte};
    gm_problems *problems = NULL;
    gm_table table = {0};
    gm_fuzz_check(gm_problems_create(&problems) == GM_OK, "memory for problems");
    check_table(gm_table_read_npy("t.npy", &bytes, problems, &table), problems, &table);
    gm_problems_destroy(&problems);
    gm_bytes_clear(&bytes);
    return 0;
}
