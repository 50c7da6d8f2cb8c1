/* The Philox that NVRTC gets gives the numbers of Random123's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <Random123/philox.h>

#define GM_FN            static inline
#define philox4x32_ctr_t nvrtc_counter
#define philox4x32_key_t nvrtc_key
#undef philox4x32_R
#define philox4x32_R nvrtc_philox
#include "kernels/cuda/philox_nvrtc.h"
#undef philox4x32_ctr_t
#undef philox4x32_key_t
#undef philox4x32_R

static void counters_of_all_sizes_give_random123s_words(void **state)
{
    (void)state;
    uint32_t seed = 12345;
    for (int trial = 0; trial < 10000; trial++) {
        struct r123array4x32 counter;
        struct r123array2x32 key;
        nvrtc_counter ours;
        nvrtc_key our_key;
        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525u + 1013904223u;
            counter.v[i] = ours.v[i] = trial % 3 == 0 ? seed >> 24 : seed;
        }
        for (int i = 0; i < 2; i++) {
            seed = seed * 1664525u + 1013904223u;
            key.v[i] = our_key.v[i] = trial % 5 == 0 ? 0 : seed;
        }
        counter = philox4x32_R(10, counter, key);
        ours = nvrtc_philox(10, ours, our_key);
        for (int i = 0; i < 4; i++) assert_int_equal(ours.v[i], counter.v[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_all_sizes_give_random123s_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
