/* gridmarch verify: are the data of finished points what was computed? */
#include "app/commands.h"

#include <stdio.h>

#include "io/store.h"

enum { MAX_SHOWN = 20 };

/* Its place along each dimension of the points, as h5py and xarray count. */
static void print_point(const gm_store_check *check, int64_t point)
{
    int64_t index[sizeof check->extent / sizeof *check->extent];
    int64_t rest = point;
    for (int d = check->n_dim - 1; d >= 0; d--) {
        index[d] = rest % check->extent[d];
        rest /= check->extent[d];
    }
    printf("  damaged: point %lld, [", (long long)point);
    for (int d = 0; d < check->n_dim; d++) printf("%s%lld", d ? ", " : "", (long long)index[d]);
    puts("]");
}

static void print_check(const char *path, const gm_store_check *check)
{
    int n_shown = 0;
    printf("%s: %lld finished point%s checked", path, (long long)check->n_checked,
           check->n_checked == 1 ? "" : "s");
    if (check->n_damaged == 0) printf(check->n_checked > 0 ? ", all as computed" : "");
    if (check->n_without > 0)
        printf("; %lld without a checksum%s", (long long)check->n_without,
               check->lost_checksums ? "" : ", from a version that stored none");
    putchar('\n');
    if (!check->has_coordinates)
        puts(
            "  coordinates not checked: the file is of a version that stored no checksums of them");
    if (check->changed) printf("  changed: coordinates %s\n", check->changed);
    for (int64_t i = 0; i < check->n_point && n_shown < MAX_SHOWN; i++)
        if (check->damaged[i]) {
            print_point(check, i);
            n_shown++;
        }
    if (check->n_damaged > n_shown)
        printf("  ... and %lld more\n", (long long)(check->n_damaged - n_shown));
    fflush(stdout);
}

static gm_status judge(const char *path, const gm_store_check *check)
{
    if (check->n_damaged > 0)
        return GM_FAIL(
            GM_E_DAMAGED,
            "%lld of %lld finished points in %s are damaged: the command that made it, with "
            "--retry-damaged, computes them again",
            (long long)check->n_damaged, (long long)check->n_checked, path);
    if (check->lost_checksums)
        return GM_FAIL(GM_E_DAMAGED,
                       "%s was made with checksums of its points, but the variable 'checksum' is "
                       "gone: nothing tells whether the data are sound",
                       path);
    if (check->changed)
        return GM_FAIL(GM_E_DAMAGED,
                       "%s: values of the coordinates %s are not those that were computed with; "
                       "the sweep file in its provenance has them",
                       path, check->changed);
    return GM_OK;
}

gm_status gm_command_verify(const gm_options *options)
{
    gm_status st = GM_OK;
    gm_store_check check = {0};
    GM_TRY(st, gm_store_verify(options->target, &check));
    print_check(options->target, &check);
    st = judge(options->target, &check);
cleanup:
    gm_store_check_clear(&check);
    return st;
}
