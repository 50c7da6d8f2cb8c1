/** Philox 4x32 (Salmon et al. 2011) for NVRTC, which cannot read Random123's headers: the same
 * names and the same numbers. tests/unit/test_philox.c holds it against Random123. */
#ifndef GM_KERNELS_CUDA_PHILOX_NVRTC_H
#define GM_KERNELS_CUDA_PHILOX_NVRTC_H

typedef struct philox4x32_ctr_t {
    uint32_t v[4];
} philox4x32_ctr_t;

typedef struct philox4x32_key_t {
    uint32_t v[2];
} philox4x32_key_t;

GM_FN philox4x32_ctr_t philox4x32_R(unsigned rounds, philox4x32_ctr_t c, philox4x32_key_t k)
{
    for (unsigned round = 0; round < rounds; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c.v[0];
        const uint64_t b = (uint64_t)0xCD9E8D57u * c.v[2];
        const philox4x32_ctr_t next = {{(uint32_t)(b >> 32) ^ c.v[1] ^ k.v[0], (uint32_t)b,
                                        (uint32_t)(a >> 32) ^ c.v[3] ^ k.v[1], (uint32_t)a}};
        c = next;
        k.v[0] += 0x9E3779B9u;
        k.v[1] += 0xBB67AE85u;
    }
    return c;
}

#endif
