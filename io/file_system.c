#include "io/file_system.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include "store_space.h"

typedef enum { PARALLEL, LATE, LOCAL, LAYERS, MEMORY, N_KIND } kind;

/* Numbers of statfs(2) and of the file systems' own headers. */
static const struct {
    int64_t magic;
    const char *name;
    kind kind;
} known[] = {
    {0x0BD00BD0, "Lustre", PARALLEL},
    {0x47504653, "GPFS", PARALLEL},
    {0x19830326, "BeeGFS", PARALLEL},
    {0x00C36400, "CephFS", PARALLEL},
    {0xAAD7AAEA, "PanFS", PARALLEL},
    {0x20030528, "OrangeFS", PARALLEL},
    {0x6969, "NFS", LATE},
    {0xFF534D42, "CIFS", LATE},
    {0xFE534D42, "SMB", LATE},
    {0x517B, "SMB", LATE},
    {0x01021997, "9P", LATE},
    {0x5346414F, "AFS", LATE},
    {0x65735546, "FUSE", LATE},
    {0x786F4256, "a VirtualBox folder", LATE},
    {0xEF53, "ext4", LOCAL},
    {0x58465342, "XFS", LOCAL},
    {0x9123683E, "Btrfs", LOCAL},
    {0x2FC12FC1, "ZFS", LOCAL},
    {0x4D44, "FAT", LOCAL},
    {0x794C7630, "overlayfs", LAYERS},
    {0x01021994, "tmpfs", MEMORY},
    {0x858458F6, "ramfs", MEMORY},
};

static const char *const concern[N_KIND][2] = {
    [PARALLEL] = {"", ""},
    [LATE] = {"", "a host may see late what another has written, and locks may be missing: a "
                  "parallel file system is safer and faster when ranks of several hosts write"},
    [LOCAL] = {"", "it is usually each host's own, and ranks of several hosts must share it"},
    [LAYERS] = {"it is a container's own as a rule, and is lost with it",
                "it is a container's own as a rule, and ranks of several hosts must share it"},
    [MEMORY] = {"it is kept in memory, and is lost when the host restarts",
                "it is each host's own memory, and ranks of several hosts must share it"},
};

/* Index in known; -1. */
static int find(int64_t magic)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].magic == magic) return (int)i;
    return -1;
}

const char *gm_file_system_name(int64_t magic)
{
    const int i = find(magic);
    return i < 0 ? "" : known[i].name;
}

const char *gm_file_system_concern(int64_t magic, bool several_hosts)
{
    const int i = find(magic);
    return i < 0 ? "" : concern[known[i].kind][several_hosts];
}

int64_t gm_file_system_of(const char *path)
{
    struct statfs info;
    char *folder = gm_space_folder(path);
    const bool found = folder && statfs(folder, &info) == 0;
    free(folder);
    return found ? (int64_t)(uint32_t)info.f_type : 0;
}
