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
static constexpr int ROWS = GM_DOUBLE ? 8 : 16, PER = ROWS / 4;
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
};

static constexpr int PRODUCTS = 4;

static __device__ __forceinline__ void multiply(int product, bool both, gm_real d[PER],
                                                const Left &a, const Left &b, const Right &w)
{
    const Left &from = product < 2 ? a : b;
    if (product < 2 || both) mma_fp64(d, from.value[product % 2], w.value[product]);
}

#elif GM_FAST

struct alignas(8) Left {
    uint32_t pair[2];

    __device__ __forceinline__ void set(const gm_real x[PER])
    {
        pair[0] = bf16_pair(x[0], x[1]);
        pair[1] = bf16_pair(x[2], x[3]);
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
};

static constexpr int PRODUCTS = 1;

static __device__ __forceinline__ void multiply(int, bool both, gm_real d[PER], const Left &a,
                                                const Left &b, const Right &w)
{
    if (both)
        mma_bf16(d, a.pair[0], a.pair[1], b.pair[0], b.pair[1], w.pair[0], w.pair[1]);
    else
        mma_bf16(d, a.pair[0], a.pair[1], w.pair[0]);
}

#else

struct alignas(16) Left {
    uint32_t tf32[4], high[2], low[2];

    __device__ __forceinline__ void set(const gm_real x[PER])
    {
        float t[PER], rest[PER];
        for (int i = 0; i < PER; i++) {
            t[i] = tf32_of(x[i]);
            rest[i] = x[i] - t[i];
        }
        tf32[0] = bits(t[0]), tf32[1] = bits(t[2]), tf32[2] = bits(t[1]), tf32[3] = bits(t[3]);
        high[0] = bf16_pair(x[0], x[1]), high[1] = bf16_pair(x[2], x[3]);
        low[0] = bf16_pair(rest[0], rest[1]), low[1] = bf16_pair(rest[2], rest[3]);
    }
};

struct alignas(16) Right {
    static constexpr int QUADS = 1, PAIRS = 1, WORDS = 6;
    uint32_t tf32[4], low[2];

    __device__ __forceinline__ void set(const gm_real w[4])
    {
        float t[4];
        for (int i = 0; i < 4; i++) {
            t[i] = tf32_of(w[i]);
            tf32[i] = bits(t[i]);
        }
        low[0] = bf16_pair(w[0] - t[0], w[1] - t[1]);
        low[1] = bf16_pair(w[2] - t[2], w[3] - t[3]);
    }
};

static constexpr int PRODUCTS = 4;

static __device__ __forceinline__ void multiply(int product, bool both, gm_real d[PER],
                                                const Left &a, const Left &b, const Right &w)
{
    if (product == 0) {
        const uint32_t high0 = upper_pair(w.tf32[0], w.tf32[1]);
        const uint32_t high1 = upper_pair(w.tf32[2], w.tf32[3]);
        if (both)
            mma_bf16(d, a.low[0], a.low[1], b.low[0], b.low[1], high0, high1);
        else
            mma_bf16(d, a.low[0], a.low[1], high0);
    } else if (product == 1) {
        if (both)
            mma_bf16(d, a.high[0], a.high[1], b.high[0], b.high[1], w.low[0], w.low[1]);
        else
            mma_bf16(d, a.high[0], a.high[1], w.low[0]);
    } else if (product == 2) {
        mma_tf32(d, a.tf32, w.tf32[0], w.tf32[1]);
    } else if (both) {
        mma_tf32(d, b.tf32, w.tf32[2], w.tf32[3]);
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

/* Weights in memory: all 16-byte parts of N fragments, then all 8-byte parts, lanes innermost. */
template <int N> struct Packed {
    static constexpr int BYTES = N * WARP * (int)sizeof(uint32_t) * Right::WORDS;

    /* One part at a time, so that each is one wide access. */
    template <typename F>
    static __device__ __forceinline__ void parts(Right *w, const char *memory, int i, F move)
    {
        char *word = (char *)w;
        const int lane = i * WARP + threadIdx.x % WARP;
#pragma unroll
        for (int k = 0; k < Right::QUADS; k++, word += 16)
            move((uint4 *)word, (uint4 *)memory + k * N * WARP + lane);
        for (int k = 0; k < Right::PAIRS; k++, word += 8)
            move((uint2 *)word, (uint2 *)(memory + Right::QUADS * N * WARP * 16) + lane);
    }

    static __device__ __forceinline__ Right load(const char *memory, int i)
    {
        alignas(16) Right w;
        parts(&w, memory, i, [](auto *mine, const auto *theirs) { *mine = *theirs; });
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
