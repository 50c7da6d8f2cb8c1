/* Result files, looked at as `gridmarch info`, `verify` and a resumed run do. Their last part, the
 * records of runs, is mostly NUL: an input may leave it out. */
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "io/store.h"

enum { WHOLE_BYTES = 160 << 10 };

static void read_result(const char *path, int64_t n_byte)
{
    (void)n_byte;
    gm_store_header *header = NULL;
    gm_store_check check = {0};
    size_t n = 0;
    if (gm_store_inspect(path, NULL, &header) == GM_OK) {
        for (int64_t i = 0; i < header->n_point; i++) n += header->status[i];
        n += strlen(header->canonical) + strlen(header->kernel) + strlen(header->sweep_text);
        for (int i = 0; i < header->n_run; i++) n += strlen(header->run[i]);
        gm_fuzz_check(n < SIZE_MAX, "each text ends");
    }
    gm_store_header_destroy(&header);
    if (gm_store_verify(path, &check) == GM_OK)
        gm_fuzz_check(check.n_damaged <= check.n_checked, "counts of points");
    gm_store_check_clear(&check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    const char *path = gm_fuzz_file(data, n_byte);
    const off_t whole = n_byte < WHOLE_BYTES ? WHOLE_BYTES : (off_t)n_byte;
    gm_fuzz_check(truncate(path, whole) == 0, path);
    gm_fuzz_guarded(read_result, path, whole);
    return 0;
}
