#include "app/pace.h"

enum { FIRST_STEPS = 16, GROWTH = 8 };

static const double wanted_seconds = 1.0;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

gm_pace gm_pace_begin(int64_t most)
{
    return (gm_pace){.n_step = least(FIRST_STEPS, most), .most = most};
}

void gm_pace_learn(gm_pace *pace, int64_t submitted, double submit_seconds, int64_t collected,
                   double collect_seconds)
{
    if (collected == 0) return;
    const double per_step =
        submit_seconds / (double)submitted + collect_seconds / (double)collected;
    int64_t wish = least(collected * GROWTH, pace->most);
    if (per_step * (double)wish > wanted_seconds) wish = (int64_t)(wanted_seconds / per_step);
    pace->n_step = wish > 0 ? wish : 1;
}
