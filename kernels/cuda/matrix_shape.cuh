/* How a warp, a block and their shared memory are cut for one sweep: all known to the compiler.
 *
 * ROWS points and up to `NTW` fragments of nodes belong to a warp; `SPLITS` warps share the points
 * and hold all nodes between them; `GROUPS` such teams make a block. Few points
 * are split over many warps, for latency, and many over few, since a team that needs no exchange
 * needs no barrier. All follows from the sweep: results depend on no other number. */
#ifndef GM_KERNELS_CUDA_MATRIX_SHAPE_CUH
#define GM_KERNELS_CUDA_MATRIX_SHAPE_CUH

#include "kernels/cuda/fragment.cuh"
#include "kernels/cuda/noise.cuh"

static __device__ constexpr int least(int a, int b)
{
    return a < b ? a : b;
}

static __device__ constexpr int most(int a, int b)
{
    return a > b ? a : b;
}

static __device__ constexpr int ceiling(int64_t n, int64_t unit)
{
    return (int)((n + unit - 1) / unit);
}

static __device__ constexpr int ones(uint32_t mask)
{
    return mask == 0 ? 0 : (int)(mask & 1) + ones(mask >> 1);
}

/* --- registers: how many fragments a warp can hold ----------------------------------------------
 */

static constexpr int REAL_WORDS = (int)sizeof(gm_real) / 4;
static constexpr int N_ARRAY = GM_FIXED_integrator == GM_STEP_EULER  ? 1
                               : GM_FIXED_integrator == GM_STEP_HEUN ? 2
                                                                     : 3;
/* With twice the points, what a Heun or RK4 step starts from does not fit beside the rest. */
static constexpr bool BASE_SHARED = DOUBLED && N_ARRAY > 1;
static constexpr int STATISTIC_WORDS = 4 + 3 * REAL_WORDS;
static constexpr int VALUE_WORDS =
    (GM_N_STATE * (N_ARRAY - BASE_SHARED) + GM_N_COUPLING) * REAL_WORDS +
    ones(GM_FIXED_statistics) * STATISTIC_WORDS;
/* The rest is for what a step works with. Doubles want more warps rather than large ones: their
 * arithmetic is slow to answer. */
static constexpr int VALUE_REGISTERS = GM_DOUBLE ? 70 : DOUBLED ? 100 : 190;
static constexpr int SM_WARPS = GM_DOUBLE ? 12 : 8;
static constexpr int MOST_NTW = most(VALUE_REGISTERS / (PER * VALUE_WORDS), 1);

/* --- warps: enough of them to fill a large card --------------------------------------------------
 */

static constexpr int FULL_BLOCKS = 132, FULL_WARPS = FULL_BLOCKS * 8;
static constexpr int BLOCK_WARPS = 4, MOST_BLOCK_WARPS = 16;
static constexpr int TEAMS = ceiling(GM_FIXED_n_point, ROWS);
/* Each warp of a team reads all sources: too many warps wait for shared memory. */
static constexpr int MOST_SPLITS = GM_DOUBLE || GM_FAST ? NT : ceiling(NT, 2);
static constexpr int WANTED_SPLITS = least(MOST_SPLITS, most(FULL_WARPS / TEAMS, 1));
static constexpr int LEAST_SPLITS = ceiling(NT, MOST_NTW);
static constexpr int NTW = ceiling(NT, least(most(WANTED_SPLITS, LEAST_SPLITS), MOST_BLOCK_WARPS));
static constexpr int SPLITS = ceiling(NT, NTW);
static constexpr int EL = NTW * PER;               /* values of a lane */
static constexpr int PADDED = SPLITS * NTW * TILE; /* nodes with all that fill up */

/* --- shared memory -------------------------------------------------------------------------------
 */

static __device__ constexpr int round_up(int n)
{
    return (n + 15) / 16 * 16;
}

/* Where the architecture has them and the weights of two blocks fit, four warps take their
 * products together: see warpgroup.cuh. */
static constexpr int WARPGROUP_BYTES = ((GM_FAST ? 0 : 2 * NT) + KP) * NT * 256;
static constexpr bool WARPGROUP = GM_FIXED_warpgroup && !GM_DOUBLE && SPLITS == 1 &&
                                  2 * WARPGROUP_BYTES <= GM_FIXED_shared_limit - 8192;

/* Otherwise weights lie in registers, in shared memory, or, where they do not fit, behind the
 * cache. */
static constexpr bool WEIGHTS_IN_REGISTERS = KP * NTW * Right::WORDS <= 64 && SPLITS > 1;
static constexpr int WEIGHT_BYTES = WARPGROUP ? WARPGROUP_BYTES : Packed<KP * NT>::BYTES;
static constexpr int N_NODE_KNOB = gm_n_node_knob();
static constexpr int TABLE_BYTES = round_up((N_NODE_KNOB + 1) * PADDED * (int)sizeof(gm_real));
/* Parts of the exchange that take turns; with one, a barrier more. */
static constexpr int HALVES = DOUBLED ? 1 : 2;
static constexpr int EXCHANGE_BYTES = SPLITS > 1
                                          ? HALVES *GM_N_COUPLING *NT *WARP *(int)sizeof(Left)
                                          : 0;
static constexpr bool NOISY = GM_N_NOISE > 0 && GM_FIXED_noise;
static constexpr int NORMALS_BYTES =
    NOISY ? SPLITS * EL * NOISE_GROUPS * 4 * WARP * (int)sizeof(gm_real) : 0;
static constexpr int BASE_BYTES =
    BASE_SHARED ? SPLITS * EL * GM_N_STATE * WARP * (int)sizeof(gm_real) : 0;
static constexpr int TEAM_BYTES = EXCHANGE_BYTES + NORMALS_BYTES + BASE_BYTES;

static __device__ constexpr bool fits(bool weights, int groups)
{
    return TABLE_BYTES + (weights ? WEIGHT_BYTES : 0) + groups * TEAM_BYTES <=
           GM_FIXED_shared_limit;
}

static __device__ constexpr int groups_that_fit(bool weights, int groups)
{
    return groups > 1 && !fits(weights, groups) ? groups_that_fit(weights, groups - 1) : groups;
}

static constexpr bool WEIGHTS_SHARED =
    WARPGROUP || (!WEIGHTS_IN_REGISTERS && !STREAMS && fits(true, 1));
static constexpr int WANTED_GROUPS = TEAMS <= FULL_BLOCKS ? 1 : most(BLOCK_WARPS / SPLITS, 1);
static constexpr int GROUPS = WARPGROUP ? 4 : groups_that_fit(WEIGHTS_SHARED, WANTED_GROUPS);
static constexpr int THREADS = GROUPS * SPLITS * WARP;
static constexpr int MIN_BLOCKS = TEAMS <= FULL_BLOCKS ? 1 : most(SM_WARPS / (GROUPS * SPLITS), 1);
static constexpr int TABLE_AT = WEIGHTS_SHARED ? WEIGHT_BYTES : 0;
static constexpr int TEAMS_AT = TABLE_AT + TABLE_BYTES;
static constexpr int SHARED_BYTES = TEAMS_AT + GROUPS * TEAM_BYTES;

/* Fragments that hold nodes only, in every warp: the others need a check. */
static constexpr int SURE = least(NTW, most(N / TILE - (SPLITS - 1) * NTW, 0));

#endif
