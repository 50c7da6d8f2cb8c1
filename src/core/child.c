#include "core/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static int give_files(posix_spawn_file_actions_t *files, const gm_child *child)
{
    int fault = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!fault) fault = posix_spawn_file_actions_adddup2(files, child->output, STDOUT_FILENO);
    if (fault) return fault;
    if (child->error >= 0)
        return posix_spawn_file_actions_adddup2(files, child->error, STDERR_FILENO);
    return posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

static int give_signals(posix_spawnattr_t *how, bool has_group)
{
    const int flags =
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (has_group ? POSIX_SPAWN_SETPGROUP : 0);
    sigset_t none, pipe_signal;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    int fault = posix_spawnattr_setflags(how, (short)flags);
    if (!fault) fault = posix_spawnattr_setpgroup(how, 0);
    if (!fault) fault = posix_spawnattr_setsigmask(how, &none);
    if (!fault) fault = posix_spawnattr_setsigdefault(how, &pipe_signal);
    return fault;
}

int gm_child_start(const gm_child *child, pid_t *id)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int fault = posix_spawn_file_actions_init(&files);
    if (fault) return fault;
    fault = posix_spawnattr_init(&how);
    if (fault) {
        posix_spawn_file_actions_destroy(&files);
        return fault;
    }
    fault = give_files(&files, child);
    if (!fault) fault = give_signals(&how, child->has_group);
    if (!fault)
        fault = posix_spawn(id, child->program, &files, &how, child->argument, child->environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return fault;
}
