/* Tables and labels as text. */
#include <stdlib.h>

#include "table_check.h"

static const gm_place named = {"s.yaml", 3, 12};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    gm_bytes bytes = {gm_fuzz_copy(data, n_byte), (int64_t)n_byte};
    gm_problems *problems = NULL;
    gm_table table = {0};
    char **label = NULL;
    gm_fuzz_check(gm_problems_create(&problems) == GM_OK, "memory for problems");
    check_table(gm_table_read_text("t.csv", &bytes, problems, &table), problems, &table);
    const char *path = gm_fuzz_file(data, n_byte);
    if (gm_read_labels(named, path, 3, problems, &label) == GM_OK) gm_labels_destroy(&label, 3);
    if (gm_read_centres(named, path, 3, problems, &label) == GM_OK) gm_labels_destroy(&label, 3);
    gm_problems_destroy(&problems);
    gm_bytes_clear(&bytes);
    return 0;
}
