/** Counter-based random numbers: the same draw for the same seed, point, node, variable and step,
 *  whatever marches it (Philox 4x32-10; Salmon et al. 2011, through Random123).
 *
 *  One Philox block gives four words. A node's noises take 1, 2 or 4 words a step (their number,
 *  rounded up), so a block serves 4, 2 or 1 consecutive steps; beyond four noises a second block
 *  ("group") is drawn. Counter: block number (48 bits) | group (8) | purpose (8) | point (48) |
 *  node (16). Key: the seed. */
#ifndef GM_KERNELS_NOISE_H
#define GM_KERNELS_NOISE_H

#include <Random123/philox.h>

#include "kernels/math.h"

enum { GM_DRAW_NOISE = 0, GM_DRAW_INITIAL = 1 };

/** Words that n noises take in one step. */
#define GM_NOISE_WORDS(n) ((n) <= 1 ? 1 : (n) == 2 ? 2 : 4)

GM_FN void gm_draw_words(uint64_t seed, uint64_t point, uint32_t node, uint32_t purpose,
                         uint32_t group, uint64_t block, uint32_t word[4])
{
    philox4x32_ctr_t counter;
    philox4x32_key_t key;
    counter.v[0] = (uint32_t)block;
    counter.v[1] = (uint32_t)(block >> 32 & 0xffff) | group << 16 | purpose << 24;
    counter.v[2] = (uint32_t)point;
    counter.v[3] = (uint32_t)(point >> 32 & 0xffff) | node << 16;
    key.v[0] = (uint32_t)seed;
    key.v[1] = (uint32_t)(seed >> 32);
    counter = philox4x32_R(10, counter, key);
    word[0] = counter.v[0];
    word[1] = counter.v[1];
    word[2] = counter.v[2];
    word[3] = counter.v[3];
}

#ifndef GM_OWN_NOISE_RADIUS
GM_FN gm_real gm_noise_radius(gm_real u)
{
    return gm_sqrt(-2 * gm_log(u));
}
#endif

/* Two standard normal numbers from two words (Box-Muller). */
GM_FN void gm_normal_pair(uint32_t a, uint32_t b, gm_real *first, gm_real *second)
{
    const gm_real unit = GM_C(2.3283064365386963e-10); /* 2^-32 */
    gm_real u = (gm_real)a * unit + unit / 2;
    gm_real turn = (gm_real)b * unit;
    gm_real radius = gm_noise_radius(u);
    gm_real sine, cosine;
    gm_sincos_turn(turn, &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

/** Four standard normal numbers. */
GM_FN void gm_draw_normals(uint64_t seed, uint64_t point, uint32_t node, uint32_t group,
                           uint64_t block, gm_real normal[4])
{
    uint32_t word[4];
    gm_draw_words(seed, point, node, GM_DRAW_NOISE, group, block, word);
    gm_normal_pair(word[0], word[1], &normal[0], &normal[1]);
    gm_normal_pair(word[2], word[3], &normal[2], &normal[3]);
}

/** Uniform initial value of a state between low and high; in double on every backend. */
GM_FN double gm_draw_initial(uint64_t seed, uint64_t point, uint32_t node, uint32_t state,
                             double low, double high)
{
    uint32_t word[4];
    gm_draw_words(seed, point, node, GM_DRAW_INITIAL, state / 4, 0, word);
    double u = ((double)word[state % 4] + 0.5) * 2.3283064365386963e-10;
    return low + (high - low) * u;
}

#endif
