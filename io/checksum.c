#include "io/checksum.h"

#include <zlib.h>

uint32_t gm_checksum_add(uint32_t sum, const void *value, int64_t n_byte)
{
    return (uint32_t)crc32_z(sum, value, (size_t)n_byte);
}

uint32_t gm_checksum_join(uint32_t first, uint32_t second, int64_t n_byte)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)n_byte);
}
