#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// Returns a duplicate above the descriptor numbers that are assigned in the worker.
static int moved_up(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 16); }

static int spawn(
    pid_t *pid, const char *program, char *const *arguments, char *const *environment, int socket, int bytes, bool keeps_errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!keeps_errors) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, socket, webimage_worker_socket);
    posix_spawn_file_actions_adddup2(&actions, bytes, webimage_worker_bytes);
    posix_spawn_file_actions_addclosefrom_np(&actions, webimage_worker_bytes + 1);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int result = posix_spawn(pid, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

int webimage_worker_spawn(
    const char *program, char *const *arguments, char *const *environment, int socket, int bytes, bool keeps_errors) {
    int ends[2] = {moved_up(socket), moved_up(bytes)};
    pid_t pid = 0;
    int result = ends[0] < 0 || ends[1] < 0
                     ? errno
                     : spawn(&pid, program, arguments, environment, ends[0], ends[1], keeps_errors);
    for (int end = 0; end < 2; end++)
        if (ends[end] >= 0) close(ends[end]);
    if (result != 0) return -result;
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process >= 0) return process;
    int error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -error;
}

int webimage_process_wait(int process, int milliseconds, struct webimage_process_end *end) {
    struct pollfd file = {.fd = process, .events = POLLIN};
    int count;
    do count = poll(&file, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    if (count == 0) return 0;
    siginfo_t info = {0};
    int result;
    do result = waitid((idtype_t)3 /* P_PIDFD */, (id_t)process, &info, WEXITED | WNOHANG);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (info.si_pid == 0) return 0;
    bool exited = info.si_code == CLD_EXITED;
    end->signal = exited ? 0 : info.si_status;
    end->code = exited ? info.si_status : 0;
    return 1;
}

void webimage_process_kill(int process) { syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0); }
