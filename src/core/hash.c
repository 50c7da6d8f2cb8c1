/** FNV-1a with 128 bits: hash = (hash xor byte) * (2^88 + 0x13b), modulo 2^128. */
#include "core/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 word128;

gm_hash gm_hash_begin(void)
{
    return (gm_hash){UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d)};
}

static word128 add_byte(word128 hash, unsigned byte)
{
    return (hash ^ byte) * (((word128)1 << 88) + 0x13b);
}

static word128 load(const gm_hash *hash)
{
    return ((word128)hash->high << 64) | hash->low;
}

static void store(gm_hash *hash, word128 value)
{
    hash->high = (uint64_t)(value >> 64);
    hash->low = (uint64_t)value;
}

void gm_hash_add_double(gm_hash *hash, const double *value, int64_t n)
{
    word128 h = load(hash);
    for (int64_t i = 0; i < n; i++) {
        double plus = value[i] + 0.0;
        uint64_t bits;
        memcpy(&bits, &plus, sizeof bits);
        for (int k = 0; k < 64; k += 8) h = add_byte(h, (unsigned)(bits >> k) & 0xff);
    }
    store(hash, h);
}

void gm_hash_add_text(gm_hash *hash, const char *text)
{
    word128 h = load(hash);
    for (; *text; text++) h = add_byte(h, (unsigned char)*text);
    store(hash, add_byte(h, 0));
}

void gm_hash_add_bytes(gm_hash *hash, const void *data, int64_t n_byte)
{
    const unsigned char *byte = data;
    word128 h = load(hash);
    for (int64_t i = 0; i < n_byte; i++) h = add_byte(h, byte[i]);
    store(hash, h);
}

void gm_hash_format(gm_hash hash, char text[GM_HASH_TEXT_SIZE])
{
    snprintf(text, GM_HASH_TEXT_SIZE, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}
