/* The sweep file reader: text, and behind a line "%%" settings as of --set, one a line. */
#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "core/layout.h"
#include "core/sweep_sections.h"
#include "fuzz.h"
#include "tests/unit/sweep_fixture.h"

/* What is large by right takes long under sanitizers: axes are limited, samples not laid out. */
enum { MAX_SETTING = 8, MANY_VALUES = 1 << 16 };

static int split(char *text, char **setting)
{
    int n = 0;
    char *rest = NULL;
    char *mark = strstr(text, "\n%%\n");
    if (!mark) return 0;
    mark[1] = '\0';
    for (char *line = strtok_r(mark + 4, "\n", &rest); line && n < MAX_SETTING;
         line = strtok_r(NULL, "\n", &rest))
        setting[n++] = line;
    return n;
}

/* What follows on a sweep that was accepted. */
static void use(const gm_sweep *sweep)
{
    double knob[GM_MAX_PARAM + GM_MAX_STATE];
    uint64_t seed = 0;
    gm_data *data = NULL;
    gm_layout *layout = NULL;
    char *canonical = NULL;
    gm_fuzz_check(sweep->n_point > 0 && sweep->n_step > 0 && sweep->dt > 0, "a sweep has points");
    gm_sweep_point(sweep, sweep->n_point - 1, knob, &seed);
    gm_fuzz_check(gm_data_create(sweep, &data) == GM_OK, "memory for data");
    if (gm_sweep_n_sample(sweep) < MANY_VALUES && gm_layout_create(sweep, data, &layout) == GM_OK)
        gm_layout_destroy(&layout);
    if (gm_sweep_canonical(sweep, data, &canonical) == GM_OK) free(canonical);
    gm_data_destroy(&data, sweep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_byte)
{
    char *setting[MAX_SETTING];
    char *text = gm_fuzz_copy(data, n_byte);
    gm_sweep_limit_values(MANY_VALUES);
    gm_problems *problems = NULL;
    gm_sweep *sweep = NULL;
    const int n = split(text, setting);
    const size_t length = n > 0 ? strlen(text) : n_byte;
    gm_fuzz_check(gm_problems_create(&problems) == GM_OK, "memory for problems");
    const gm_status st =
        gm_sweep_parse("dir/s.yaml", text, (int64_t)length, (const char *const *)setting, n,
                       &fixture_catalog, problems, &sweep);
    gm_fuzz_check((st == GM_OK) == (sweep != NULL), "a sweep or a reason");
    gm_fuzz_check((st == GM_E_INPUT) == (gm_problems_count(problems) > 0), "problems are told");
    if (sweep) use(sweep);
    gm_sweep_destroy(&sweep);
    gm_problems_destroy(&problems);
    free(text);
    return 0;
}
