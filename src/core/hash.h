/** A 128-bit FNV-1a hash of numbers and texts: tells contents apart, resists no attacker. */
#ifndef GM_CORE_HASH_H
#define GM_CORE_HASH_H

#include <stdint.h>

enum { GM_HASH_TEXT_SIZE = 33 }; /* 32 hexadecimal digits and the NUL */

typedef struct gm_hash {
    uint64_t high, low;
} gm_hash;

gm_hash gm_hash_begin(void);

/** Add the values of an array, the same on any byte order; -0 counts as 0. */
void gm_hash_add_double(gm_hash *hash, const double *value, int64_t n);

/** Add a text, its end included, so that "a","bc" and "ab","c" differ. */
void gm_hash_add_text(gm_hash *hash, const char *text);

/** Add bytes as they lie in memory. */
void gm_hash_add_bytes(gm_hash *hash, const void *data, int64_t n_byte);

void gm_hash_format(gm_hash hash, char text[GM_HASH_TEXT_SIZE]);

#endif
