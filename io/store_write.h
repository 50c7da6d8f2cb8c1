/** Private to io/store_write.c and its tests. */
#ifndef GM_IO_STORE_WRITE_H
#define GM_IO_STORE_WRITE_H

#include <stdint.h>

/** Bytes that one MPI-IO call moves at most; below 1 GiB. */
void gm_store_limit_piece(int64_t n_byte);

#endif
