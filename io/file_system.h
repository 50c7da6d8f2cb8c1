/** What kind of file system a folder lies on, as far as it matters to ranks that write one file. */
#ifndef GM_IO_FILE_SYSTEM_H
#define GM_IO_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/** Its name ("NFS", "Lustre"); "" for one that is not known here.
 *  @param magic  f_type of statfs */
const char *gm_file_system_name(int64_t magic);

/** What to think of before writing a result there; "" for nothing.
 *  @param several_hosts  ranks of more than one host write it */
const char *gm_file_system_concern(int64_t magic, bool several_hosts);

/** f_type of the folder that holds path; 0 if that cannot be told. */
int64_t gm_file_system_of(const char *path);

#endif
