/* Matrix products on tensor cores: sources of a warp's points times the weights that all share.
 *
 * A warp owns ROWS points; a fragment holds them for 8 nodes, PER values a lane. Where a value lies
 * (PTX ISA, mma.m16n8k8, m16n8k16, m8n8k4): with lane = 4 g + q, value e belongs to point
 * g + 8 (e / 2) and to node 2 q + e % 2. What a product leaves has the layout that the next one
 * takes, if its sources are numbered so that a lane finds its own two nodes: the weights are packed
 * once in that order.
 *
 * Precision, by the operands:
 *   fp64  doubles, one product.
 *   fp32  x = t + l, W = T + L, t and T in tf32 (11 bits): t T in tf32, l T and t L in bf16.
 *         The error, about 3e-7 of sum |W x|, is that of a sum in single precision.
 *   fast  one product in bf16 (8 bits): about 1e-3 of sum |W x|. */
#ifndef GM_KERNELS_CUDA_FRAGMENT_CUH
#define GM_KERNELS_CUDA_FRAGMENT_CUH

#include "kernels/cuda/sweep.cuh"

static constexpr int WARP = 32, TILE = 8; /* lanes; nodes of a fragment */
static constexpr int N = GM_FIXED_n_node;
static constexpr int NT = (N + TILE - 1) / TILE; /* fragments of nodes */
static constexpr int KP = (NT + 1) / 2;          /* pairs of them, as sources */

/* Do the weights of a large network stay behind the cache, to be read anew at every stage? Then
 * they are what a step waits for: a warp takes twice the points, for the same reading, if there are
 * points enough, and single-precision weights are kept whole and split when they come. */
static constexpr int WEIGHT_WORDS = GM_DOUBLE ? 8 : GM_FAST ? 2 : 6; /* of a lane, in a fragment */
static constexpr bool STREAMS =
    !GM_DOUBLE &&
    KP * NT * WARP * 4 * WEIGHT_WORDS + 4 * NT * 1024 * GM_N_COUPLING > GM_FIXED_shared_limit;
static constexpr int STREAM_BYTES = /* of 32 points: states, sources, normal numbers */
    NT * TILE * 32 * 4 *
    (GM_N_STATE + 2 * GM_N_COUPLING + (GM_FIXED_noise ? (GM_N_NOISE + 3) / 4 * 4 : 0));
static constexpr bool DOUBLED = STREAMS && GM_FIXED_n_point > 16 * 132 &&
                                STREAM_BYTES + 4 * NT *TILE * 4 <= GM_FIXED_shared_limit;

static constexpr int M_TILES = DOUBLED ? 2 : 1;
static constexpr int ROWS = GM_DOUBLE ? 8 : 16 * M_TILES, PER = ROWS / 4;
static constexpr int LANE_ROWS = PER / 2; /* points of a lane */

static __device__ __forceinline__ uint32_t bits(float x)
{
    return __float_as_uint(x);
}

/* Two numbers rounded to bf16, the first in the low half. */
[[maybe_unused]] static __device__ __forceinline__ uint32_t bf16_pair(float first, float second)
{
    uint32_t pair;
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

/* The same, cut off instead of rounded: the upper halves of both words. */
[[maybe_unused]] static __device__ __forceinline__ uint32_t upper_pair(uint32_t first,
                                                                       uint32_t second)
{
    return __byte_perm(first, second, 0x7632);
}

/* Rounded to 11 bits, a tie away from 0. Infinity stays; what is no number may become one, but then
 * the rest, x - t, is none. */
[[maybe_unused]] static __device__ __forceinline__ float tf32_of(float x)
{
    return __uint_as_float((bits(x) + 0x1000) & 0xffffe000);
}

/* As the tensor core cuts off what it takes for tf32. */
[[maybe_unused]] static __device__ __forceinline__ float cut_off(float x)
{
    return __uint_as_float(bits(x) & 0xffffe000);
}

[[maybe_unused]] static __device__ __forceinline__ void mma_bf16(gm_real d[PER], uint32_t a0,
                                                                 uint32_t a1, uint32_t a2,
                                                                 uint32_t a3, uint32_t b0,
                                                                 uint32_t b1)
{
#if !GM_DOUBLE
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}

/* The same of 8 sources. */
[[maybe_unused]] static __device__ __forceinline__ void mma_bf16(gm_real d[PER], uint32_t a0,
                                                                 uint32_t a1, uint32_t b0)
{
#if !GM_DOUBLE
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0));
#endif
}

[[maybe_unused]] static __device__ __forceinline__ void mma_pairs(bool both, gm_real d[4],
                                                                  const uint32_t a[2],
                                                                  const uint32_t b[2],
                                                                  uint32_t weight_a,
                                                                  uint32_t weight_b)
{
    if (both)
        mma_bf16(d, a[0], a[1], b[0], b[1], weight_a, weight_b);
    else
        mma_bf16(d, a[0], a[1], weight_a);
}

[[maybe_unused]] static __device__ __forceinline__ void mma_tf32(gm_real d[PER],
                                                                 const uint32_t a[4], uint32_t b0,
                                                                 uint32_t b1)
{
#if !GM_DOUBLE
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

[[maybe_unused]] static __device__ __forceinline__ void mma_fp64(gm_real d[PER], double a, double b)
{
#if GM_DOUBLE
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
#endif
}

/* multiply adds one of PRODUCTS partial products; `both`: there is a tile b. */

/* --- Left: what 8 nodes send, as a product takes it ------------------------------------------- */
/* --- Right: the weights from 16 source nodes, a and b, to 8 target nodes; lane: target g ------ */

#if GM_DOUBLE

struct alignas(16) Left {
    double value[2];

    __device__ __forceinline__ void set(const gm_real x[PER])
    {
        value[0] = x[0];
        value[1] = x[1];
    }
};

struct alignas(16) Right {
    static constexpr int QUADS = 2, PAIRS = 0, WORDS = 8; /* of 16 bytes, of 8 bytes, of 4 */
    double value[4];

    __device__ __forceinline__ void set(const gm_real w[4])
    {
        for (int i = 0; i < 4; i++) value[i] = w[i];
    }

    __device__ __forceinline__ void complete() {}
};

static constexpr int PRODUCTS = 4;

static __device__ __forceinline__ void multiply(int product, bool both, gm_real d[PER],
                                                const Left &a, const Left &b, const Right &w)
{
    const Left &from = product < 2 ? a : b;
    if (product < 2 || both) mma_fp64(d, from.value[product % 2], w.value[product]);
}

#elif GM_FAST

struct alignas(8 * M_TILES) Left {
    uint32_t pair[M_TILES][2];

    __device__ __forceinline__ void set(const gm_real x[PER])
    {
        for (int i = 0; i < 2 * M_TILES; i++)
            pair[i / 2][i % 2] = bf16_pair(x[2 * i], x[2 * i + 1]);
    }
};

struct alignas(8) Right {
    static constexpr int QUADS = 0, PAIRS = 1, WORDS = 2;
    uint32_t pair[2];

    __device__ __forceinline__ void set(const gm_real w[4])
    {
        pair[0] = bf16_pair(w[0], w[1]);
        pair[1] = bf16_pair(w[2], w[3]);
    }

    __device__ __forceinline__ void complete() {}
};

static constexpr int PRODUCTS = 1;

static __device__ __forceinline__ void multiply(int, bool both, gm_real d[PER], const Left &a,
                                                const Left &b, const Right &w)
{
    for (int m = 0; m < M_TILES; m++)
        mma_pairs(both, d + 4 * m, a.pair[m], b.pair[m], w.pair[0], w.pair[1]);
}

#else

struct alignas(16) Left {
    uint32_t tf32[M_TILES][4], high[M_TILES][2], low[M_TILES][2];

    __device__ __forceinline__ void set(const gm_real x[PER])
    {
        float t[PER], rest[PER];
        for (int i = 0; i < PER; i++) {
            t[i] = tf32_of(x[i]);
            rest[i] = x[i] - t[i];
            tf32[i / 4][i % 2 * 2 + i % 4 / 2] = bits(t[i]);
        }
        for (int i = 0; i < 2 * M_TILES; i++) {
            high[i / 2][i % 2] = bf16_pair(x[2 * i], x[2 * i + 1]);
            low[i / 2][i % 2] = bf16_pair(rest[2 * i], rest[2 * i + 1]);
        }
    }
};

struct alignas(16) Right {
    static constexpr int QUADS = 1, PAIRS = STREAMS ? 0 : 1, WORDS = STREAMS ? 4 : 6;
    uint32_t tf32[4], low[2]; /* the product looks at the upper bits of tf32 alone */

    __device__ __forceinline__ void set(const gm_real w[4])
    {
        for (int i = 0; i < 4; i++) tf32[i] = bits(STREAMS ? w[i] : tf32_of(w[i]));
        split(w);
    }

    __device__ __forceinline__ void split(const gm_real w[4])
    {
        float rest[4];
        for (int i = 0; i < 4; i++) rest[i] = w[i] - (STREAMS ? cut_off(w[i]) : tf32_of(w[i]));
        low[0] = bf16_pair(rest[0], rest[1]);
        low[1] = bf16_pair(rest[2], rest[3]);
    }

    /* After a whole weight was read. */
    __device__ __forceinline__ void complete()
    {
        float w[4];
        for (int i = 0; i < 4; i++) w[i] = __uint_as_float(tf32[i]);
        if (STREAMS) split(w);
    }
};

static constexpr int PRODUCTS = 4;

static __device__ __forceinline__ void multiply(int product, bool both, gm_real d[PER],
                                                const Left &a, const Left &b, const Right &w)
{
    for (int m = 0; m < M_TILES; m++) {
        gm_real *const e = d + 4 * m;
        if (product == 0)
            mma_pairs(both, e, a.low[m], b.low[m], upper_pair(w.tf32[0], w.tf32[1]),
                      upper_pair(w.tf32[2], w.tf32[3]));
        else if (product == 1)
            mma_pairs(both, e, a.high[m], b.high[m], w.low[0], w.low[1]);
        else if (product == 2)
            mma_tf32(e, a.tf32[m], w.tf32[0], w.tf32[1]);
        else if (both)
            mma_tf32(e, b.tf32[m], w.tf32[2], w.tf32[3]);
    }
}

#endif

/* What must not be kept from one read to the next: volatile for the compiler. */
static __device__ __forceinline__ void read_shared(uint4 *to, const uint4 *from)
{
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to->x), "=r"(to->y), "=r"(to->z), "=r"(to->w)
                 : "r"((uint32_t)__cvta_generic_to_shared(from)));
}

static __device__ __forceinline__ void read_shared(uint2 *to, const uint2 *from)
{
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(to->x), "=r"(to->y)
                 : "r"((uint32_t)__cvta_generic_to_shared(from)));
}

/* Weights in memory: all 16-byte parts of COUNT fragments, then all 8-byte parts, lanes innermost.
 */
template <int COUNT> struct Packed {
    static constexpr int BYTES = COUNT * WARP * (int)sizeof(uint32_t) * Right::WORDS;

    /* One part at a time, so that each is one wide access. */
    template <typename F>
    static __device__ __forceinline__ void parts(Right *w, const char *memory, int i, F move)
    {
        char *word = (char *)w;
        const int lane = i * WARP + threadIdx.x % WARP;
#pragma unroll
        for (int k = 0; k < Right::QUADS; k++, word += 16)
            move((uint4 *)word, (uint4 *)memory + k * COUNT * WARP + lane);
        for (int k = 0; k < Right::PAIRS; k++, word += 8)
            move((uint2 *)word, (uint2 *)(memory + Right::QUADS * COUNT * WARP * 16) + lane);
    }

    static __device__ __forceinline__ Right load(const char *memory, int i)
    {
        alignas(16) Right w;
        parts(&w, memory, i, [](auto *mine, const auto *theirs) { *mine = *theirs; });
        w.complete();
        return w;
    }

    /* From shared memory, anew each time: kept in registers, weights would push out states. */
    static __device__ __forceinline__ Right load_shared(const char *memory, int i)
    {
        alignas(16) Right w;
        parts(&w, memory, i, [](auto *mine, const auto *theirs) { read_shared(mine, theirs); });
        return w;
    }

    static __device__ __forceinline__ void store(char *memory, int i, Right w)
    {
        parts(&w, memory, i, [](const auto *mine, auto *theirs) { *theirs = *mine; });
    }
};

#endif
