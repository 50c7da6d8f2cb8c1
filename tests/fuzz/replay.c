/* Feeds files, and those of folders, to a harness: the replay of a corpus, for any compiler.
 *   replay_NAME FILE|FOLDER...     exit code 0 when all were read; 1 when none was found */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    gm_fuzz_check(file && fstat(fileno(file), &info) == 0, path);
    const size_t n = (size_t)info.st_size;
    uint8_t *data = malloc(n + 1);
    gm_fuzz_check(data && fread(data, 1, n, file) == n, path);
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one named is the one that crashed */
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 1;
}

static int replay(const char *path)
{
    struct stat info;
    int n = 0;
    if (stat(path, &info) != 0) return 0;
    if (!S_ISDIR(info.st_mode)) return replay_file(path);
    DIR *folder = opendir(path);
    gm_fuzz_check(folder != NULL, path);
    for (struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, d->d_name);
        if (d->d_name[0] != '.') n += replay(inside);
    }
    closedir(folder);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) n += replay(argv[i]);
    printf("%d inputs read\n", n);
    return n > 0 ? 0 : 1;
}
