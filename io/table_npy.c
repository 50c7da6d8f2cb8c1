/** NumPy's .npy format, versions 1 to 3: magic, a Python dict as header, then raw values. */
#include "io/table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 8, TYPE_SIZE = 8 };

/** What the header says. shape holds the first MAX_DIM of n_dim lengths. */
typedef struct npy_header {
    char type[TYPE_SIZE]; /* "<f8" */
    bool fortran_order;
    int n_dim; /* -1: no shape seen */
    int64_t shape[MAX_DIM];
} npy_header;

/** A place in the header's text. */
typedef struct scanner {
    const char *at, *end;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n')) s->at++;
}

static bool take(scanner *s, char c)
{
    skip_blanks(s);
    if (s->at >= s->end || *s->at != c) return false;
    s->at++;
    return true;
}

/* A quoted string without escapes, cut to size - 1. */
static bool take_string(scanner *s, char *text, size_t size)
{
    size_t n = 0;
    skip_blanks(s);
    if (s->at >= s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char quote = *s->at++;
    for (; s->at < s->end && *s->at != quote; s->at++)
        if (n < size - 1) text[n++] = *s->at;
    text[n] = '\0';
    return take(s, quote);
}

static bool take_bool(scanner *s, bool *value)
{
    skip_blanks(s);
    size_t left = (size_t)(s->end - s->at);
    *value = left >= 4 && memcmp(s->at, "True", 4) == 0;
    bool is_false = left >= 5 && memcmp(s->at, "False", 5) == 0;
    if (!*value && !is_false) return false;
    s->at += *value ? 4 : 5;
    return true;
}

static bool take_length(scanner *s, int64_t *value)
{
    *value = 0;
    skip_blanks(s);
    const char *begin = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        int digit = *s->at - '0';
        if (*value > (INT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    bool found = s->at > begin;
    if (s->at < s->end && *s->at == 'L') s->at++; /* written by Python 2 */
    return found;
}

static bool take_shape(scanner *s, npy_header *header)
{
    int64_t length;
    if (!take(s, '(')) return false;
    for (header->n_dim = 0; !take(s, ')'); header->n_dim++) {
        if (header->n_dim > 64 || !take_length(s, &length)) return false;
        if (header->n_dim < MAX_DIM) header->shape[header->n_dim] = length;
        if (take(s, ',')) continue;
        if (!take(s, ')')) return false;
        header->n_dim++;
        break;
    }
    return true;
}

static bool scan_header(scanner *s, npy_header *header)
{
    char key[16];
    bool has_order = false;
    *header = (npy_header){.n_dim = -1};
    if (!take(s, '{')) return false;
    while (!take(s, '}')) {
        bool good = false;
        if (!take_string(s, key, sizeof key) || !take(s, ':')) return false;
        if (strcmp(key, "descr") == 0) {
            skip_blanks(s);
            bool is_list = s->at < s->end && *s->at == '[';
            good = !is_list && take_string(s, header->type, sizeof header->type);
            if (is_list) { /* a structured type; its list need not be understood to be refused */
                strcpy(header->type, "record");
                return true;
            }
        } else if (strcmp(key, "fortran_order") == 0) {
            good = has_order = take_bool(s, &header->fortran_order);
        } else if (strcmp(key, "shape") == 0) {
            good = take_shape(s, header);
        }
        if (!good) return false;
        take(s, ',');
    }
    return header->type[0] && has_order && header->n_dim >= 0;
}

/* The header's text and where the values start; false if the file ends before. */
static bool find_header(const gm_bytes *bytes, scanner *s, int64_t *data)
{
    const unsigned char *byte = (const unsigned char *)bytes->byte;
    if (bytes->n < 12 || memcmp(byte, "\x93NUMPY", 6) != 0 || byte[6] < 1 || byte[6] > 3)
        return false;
    int64_t start = byte[6] == 1 ? 10 : 12;
    int64_t length = byte[8] | (int64_t)byte[9] << 8;
    if (byte[6] > 1) length |= (int64_t)byte[10] << 16 | (int64_t)byte[11] << 24;
    if (length > bytes->n - start) return false;
    *s = (scanner){bytes->byte + start, bytes->byte + start + length};
    *data = start + length;
    return true;
}

/* kind 'f', 'i', 'u', 'b' and size of a type such as "<f8"; false if it is not read here. */
static bool parse_type(const char *type, char *kind, int *size, bool *swap)
{
    static const char *const known[] = {"f4", "f8", "i1", "i2", "i4", "i8",
                                        "u1", "u2", "u4", "u8", "b1"};
    if (strlen(type) != 3 || !strchr("<>|=", type[0])) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type + 1, known[i]) != 0) continue;
        *kind = type[1];
        *size = type[2] - '0';
        *swap = type[0] == '>';
        return true;
    }
    return false;
}

/* One value from little-endian bytes (big-endian if swap). */
static double decode(const char *byte, char kind, int size, bool swap)
{
    uint64_t bits = 0;
    for (int k = 0; k < size; k++)
        bits |= (uint64_t)(unsigned char)byte[swap ? size - 1 - k : k] << (8 * k);
    if (kind == 'b') return bits != 0;
    if (kind == 'u') return (double)bits;
    if (kind == 'i') { /* move the sign bit to the top and back */
        int unused = 64 - 8 * size;
        return (double)((int64_t)(bits << unused) >> unused);
    }
    if (size == 4) {
        uint32_t low = (uint32_t)bits;
        float single;
        memcpy(&single, &low, sizeof single);
        return (double)single;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rows and columns, if the shape is one of a table that n_byte bytes can hold. */
static bool check_shape(const npy_header *header, int size, int64_t n_byte, gm_place place,
                        gm_problems *problems, gm_table *table)
{
    if (header->n_dim != 1 && header->n_dim != 2) {
        gm_problems_add(problems, place, "holds an array of %d dimensions, expected 1 or 2",
                        header->n_dim);
        return false;
    }
    int64_t n_row = header->shape[0];
    int64_t n_column = header->n_dim == 2 ? header->shape[1] : 1;
    if (n_row == 0 || n_column == 0) {
        gm_problems_add(problems, place, "holds no numbers (%lld x %lld)", (long long)n_row,
                        (long long)n_column);
        return false;
    }
    bool fits = n_row <= n_byte / size && n_column <= n_byte / size / n_row;
    if (!fits || n_row * n_column * size != n_byte) {
        gm_problems_add(problems, place,
                        "the header says %lld x %lld values of %d byte%s, but %lld bytes follow%s",
                        (long long)n_row, (long long)n_column, size, size == 1 ? "" : "s",
                        (long long)n_byte, fits ? "" : " (is the file cut short?)");
        return false;
    }
    table->n_row = n_row;
    table->n_column = n_column;
    return true;
}

static void decode_all(const npy_header *header, const char *byte, char kind, int size, bool swap,
                       gm_table *table)
{
    for (int64_t i = 0; i < table->n_row; i++)
        for (int64_t j = 0; j < table->n_column; j++) {
            int64_t at = header->fortran_order ? j * table->n_row + i : i * table->n_column + j;
            table->value[i * table->n_column + j] = decode(byte + at * size, kind, size, swap);
        }
}

gm_status gm_table_read_npy(const char *path, const gm_bytes *bytes, gm_problems *problems,
                            gm_table *out)
{
    gm_place place = {path, 0, 0};
    npy_header header;
    scanner s;
    gm_table table = {0};
    int64_t data = 0;
    char kind = 'f';
    int size = 0;
    bool swap = false;
    if (!find_header(bytes, &s, &data) || !scan_header(&s, &header)) {
        gm_problems_add(problems, place,
                        "not a .npy file of version 1 to 3, or its header is "
                        "damaged");
        return GM_E_INPUT;
    }
    if (!parse_type(header.type, &kind, &size, &swap)) {
        char shown[TYPE_SIZE];
        gm_field_show(header.type, header.type + strlen(header.type), shown, sizeof shown);
        gm_problems_add(problems, place,
                        "holds values of type '%s'; allowed are f4, f8, i1 to i8, u1 to u8, b1",
                        shown);
        return GM_E_INPUT;
    }
    if (!check_shape(&header, size, bytes->n - data, place, problems, &table)) return GM_E_INPUT;
    table.value = malloc((size_t)(table.n_row * table.n_column) * sizeof *table.value);
    if (!table.value)
        return GM_FAIL(GM_E_MEMORY, "not enough memory for '%s' (%lld x %lld values)", path,
                       (long long)table.n_row, (long long)table.n_column);
    decode_all(&header, bytes->byte + data, kind, size, swap, &table);
    *out = table;
    return GM_OK;
}
