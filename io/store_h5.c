/* Errors of HDF5 become a gm_status here, with the one line of its error stack that helps. */
#include "store_h5.h"

#include <stdio.h>
#include <string.h>

#include "store.h"

enum { CAUSE_SIZE = 512 };

void gm_h5_quiet_begin(gm_h5_quiet *quiet)
{
    if (H5Eget_auto2(H5E_DEFAULT, &quiet->print, &quiet->data) < 0) {
        quiet->print = NULL;
        quiet->data = NULL;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void gm_h5_quiet_end(const gm_h5_quiet *quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->data);
}

/* Keep the innermost entry. Where it quotes the operating system, keep only the quotation. */
static herr_t take_cause(unsigned n, const H5E_error2_t *entry, void *out)
{
    static const char mark[] = "error message = '";
    char *cause = out;
    if (n > 0 || entry->desc == NULL) return 0;
    const char *quoted = strstr(entry->desc, mark);
    const char *text = quoted != NULL ? quoted + strlen(mark) : entry->desc;
    size_t n_byte = quoted != NULL ? strcspn(text, "'") : strlen(text);
    if (n_byte >= CAUSE_SIZE) n_byte = CAUSE_SIZE - 1;
    memcpy(cause, text, n_byte);
    cause[n_byte] = '\0';
    return 0;
}

gm_status gm_h5_check(int64_t code, gm_status status, const char *path, const char *what,
                      const char *name)
{
    char cause[CAUSE_SIZE] = "HDF5 gives no reason";
    if (code >= 0) return GM_OK;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
    if (name[0] == '\0') return GM_FAIL(status, "'%s': cannot %s: %s", path, what, cause);
    return GM_FAIL(status, "'%s': cannot %s '%s': %s", path, what, name, cause);
}

void gm_h5_release(hid_t *id)
{
    if (*id >= 0) H5Idec_ref(*id);
    *id = H5I_INVALID_HID;
}

hid_t gm_h5_type(gm_type type)
{
    switch (type) {
    case GM_TYPE_F32: return H5T_NATIVE_FLOAT;
    case GM_TYPE_F64: return H5T_NATIVE_DOUBLE;
    case GM_TYPE_U8: return H5T_NATIVE_UINT8;
    case GM_TYPE_I64: return H5T_NATIVE_INT64;
    }
    return H5I_INVALID_HID;
}

hid_t gm_h5_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_sec2(access) < 0) gm_h5_release(&access);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERSION_GE(1, 10, 7))
    if (access >= 0 && H5Pset_file_locking(access, true, true) < 0) gm_h5_release(&access);
#endif
    return access;
}

int gm_h5_dimensions(const gm_layout *layout, const gm_variable *variable, int *dim)
{
    int rank = layout->n_point_dim;
    if (rank + variable->has_time + variable->has_node > GM_H5_MAX_RANK) return 0;
    for (int i = 0; i < rank; i++) dim[i] = i;
    if (variable->has_time) dim[rank++] = layout->time_dim;
    if (variable->has_node) dim[rank++] = layout->node_dim;
    return rank;
}

const char *gm_store_library(char text[32])
{
    unsigned major = 0, minor = 0, release = 0;
    if (H5get_libversion(&major, &minor, &release) < 0) return "unknown";
    snprintf(text, 32, "%u.%u.%u", major, minor, release);
    return text;
}
