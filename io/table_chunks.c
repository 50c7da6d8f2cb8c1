#include "io/table_chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_FILTERS = 3, MAX_RANK = 2, CHECKSUM_BYTES = 4, NAME_SIZE = 64 };

typedef struct storage {
    hid_t set;
    gm_place place;
    gm_problems *problems;
    int n_filter;
    H5Z_filter_t filter[MAX_FILTERS]; /* in the order of writing */
    int rank;
    hsize_t extent[MAX_RANK], chunk[MAX_RANK];
    int64_t chunk_bytes, n_byte; /* of a chunk unpacked; of the file */
} storage;

static bool read_filters(storage *s, hid_t property)
{
    char name[NAME_SIZE] = "";
    unsigned flags = 0;
    bool deflated = false;
    s->n_filter = H5Pget_nfilters(property);
    for (int i = 0; i < s->n_filter; i++) {
        size_t n_value = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(property, (unsigned)i, &flags, &n_value, NULL, sizeof name, name, NULL);
        const bool known = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                           filter == H5Z_FILTER_FLETCHER32;
        if (!known || i >= MAX_FILTERS || (deflated && filter != H5Z_FILTER_FLETCHER32)) {
            gm_problems_add(s->problems, s->place,
                            "the dataset is packed with the filter '%s' (%d) at place %d; save it "
                            "with gzip, with shuffle before and fletcher32 behind it, or unpacked",
                            name[0] ? name : "unknown", (int)filter, i + 1);
            return false;
        }
        s->filter[i] = filter;
        deflated = deflated || filter == H5Z_FILTER_DEFLATE;
    }
    return s->n_filter >= 0;
}

static bool read_shape(storage *s, hid_t property, int64_t most_bytes)
{
    hid_t space = H5Dget_space(s->set);
    hid_t type = H5Dget_type(s->set);
    s->rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    bool sound = s->rank >= 1 && s->rank <= MAX_RANK && type >= 0 &&
                 H5Sget_simple_extent_dims(space, s->extent, NULL) == s->rank &&
                 H5Pget_chunk(property, MAX_RANK, s->chunk) == s->rank;
    s->chunk_bytes = sound ? (int64_t)H5Tget_size(type) : 0;
    int64_t n_chunk = 1;
    for (int i = 0; i < s->rank && sound; i++)
        sound = s->chunk[i] > 0 &&
                !__builtin_mul_overflow(s->chunk_bytes, s->chunk[i], &s->chunk_bytes) &&
                s->chunk_bytes <= most_bytes &&
                !__builtin_mul_overflow(n_chunk, (s->extent[i] - 1) / s->chunk[i] + 1, &n_chunk) &&
                n_chunk <= s->n_byte;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (!sound)
        gm_problems_add(s->problems, s->place,
                        "the dataset claims larger or more chunks than the file can hold");
    return sound;
}

/* Bytes that a deflated stream gives, at most one more than wanted; -1: it is damaged. */
static int64_t inflated_bytes(const unsigned char *data, int64_t n_byte, int64_t wanted)
{
    unsigned char sink[1 << 14];
    z_stream stream;
    int64_t n = 0;
    int code = Z_OK;
    memset(&stream, 0, sizeof stream);
    if (inflateInit(&stream) != Z_OK) return -1;
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)n_byte;
    while (code == Z_OK && n <= wanted) {
        stream.next_out = sink;
        stream.avail_out = sizeof sink;
        code = inflate(&stream, Z_NO_FLUSH);
        n += (int64_t)(sizeof sink - stream.avail_out);
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END || code == Z_OK ? n : -1;
}

/* Does a chunk, as it lies in the file, unpack to its nominal size? mask: filters that it skips. */
static bool unpacks(const storage *s, const unsigned char *data, int64_t n_byte, uint32_t mask)
{
    for (int i = s->n_filter - 1; i >= 0; i--) {
        if (mask >> i & 1) continue;
        if (s->filter[i] == H5Z_FILTER_FLETCHER32) n_byte -= CHECKSUM_BYTES;
        if (n_byte < 0) return false;
        if (s->filter[i] == H5Z_FILTER_DEFLATE)
            n_byte = inflated_bytes(data, n_byte, s->chunk_bytes);
    }
    return n_byte == s->chunk_bytes;
}

/* A chunk that is not there holds the fill value. */
static bool check_chunk(const storage *s, const hsize_t *offset)
{
    hsize_t n_byte = 0;
    uint32_t mask = 0;
    bool sound = false;
    if (H5Dget_chunk_storage_size(s->set, offset, &n_byte) < 0 || n_byte == 0) return true;
    if (n_byte > (hsize_t)s->n_byte || n_byte > UINT32_MAX) return false;
    unsigned char *data = malloc((size_t)n_byte);
    if (data && H5Dread_chunk(s->set, H5P_DEFAULT, offset, &mask, data) >= 0)
        sound = unpacks(s, data, (int64_t)n_byte, mask);
    free(data);
    return sound;
}

static bool check_chunks(const storage *s)
{
    hsize_t at[MAX_RANK] = {0};
    const hsize_t width = s->rank == 2 ? s->extent[1] : 1;
    const hsize_t step = s->rank == 2 ? s->chunk[1] : 1;
    for (at[0] = 0; at[0] < s->extent[0]; at[0] += s->chunk[0])
        for (at[1] = 0; at[1] < width; at[1] += step) {
            if (check_chunk(s, at)) continue;
            gm_problems_add(s->problems, s->place,
                            "the dataset is damaged: the part from row %llu, column %llu on does "
                            "not unpack to its size",
                            (unsigned long long)at[0] + 1, (unsigned long long)at[1] + 1);
            return false;
        }
    return true;
}

bool gm_table_check_storage(hid_t set, gm_place place, int64_t n_byte, int64_t compression,
                            gm_problems *problems)
{
    storage s = {.set = set, .place = place, .problems = problems, .n_byte = n_byte};
    hid_t property = H5Dget_create_plist(set);
    const H5D_layout_t layout = property < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(property);
    bool sound =
        layout == H5D_COMPACT || (layout == H5D_CONTIGUOUS && H5Pget_external_count(property) == 0);
    if (layout == H5D_CHUNKED)
        sound = read_filters(&s, property) && read_shape(&s, property, n_byte * compression) &&
                check_chunks(&s);
    else if (!sound)
        gm_problems_add(problems, place,
                        "the dataset lies in other files (virtual or external); save it in one");
    if (property >= 0) H5Pclose(property);
    return sound;
}
