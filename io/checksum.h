/** CRC-32 (of zlib, PNG, Ethernet), so that anyone can check a result: Python's zlib.crc32 is the
 * same. */
#ifndef GM_IO_CHECKSUM_H
#define GM_IO_CHECKSUM_H

#include <stdint.h>

/** Go on with more bytes; begins with 0. */
uint32_t gm_checksum_add(uint32_t sum, const void *value, int64_t n_byte);

/** The checksum of two pieces, one after the other. n_byte: of the second. */
uint32_t gm_checksum_join(uint32_t first, uint32_t second, int64_t n_byte);

#endif
