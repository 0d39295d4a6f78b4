#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int ctest_open_terminal(int columns, char *path, size_t path_size) {
    int control = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (control < 0) return -1;
    struct winsize size = {.ws_row = 40, .ws_col = (unsigned short)columns};
    if (grantpt(control) == 0 && unlockpt(control) == 0 && ptsname_r(control, path, path_size) == 0 &&
        ioctl(control, TIOCSWINSZ, &size) == 0) {
        return control;
    }
    close(control);
    return -1;
}

int ctest_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int ctest_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int ctest_spawn(
    const char *program, char *const *arguments, char *const *environment, const char *directory, int input, int output,
    int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, errors, 2);
    posix_spawn_file_actions_addchdir_np(&actions, directory);
    // The threads of tests block signals, which a program would inherit: then no alarm would end it. A shell has the programs that it starts in the
    // background ignore an interrupt, and so would those that tests interrupt.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = 0;
    int result = posix_spawn(&pid, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result == 0 ? pid : -result;
}

int ctest_watch_directory(const char *path) {
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0) return -1;
    if (inotify_add_watch(watch, path, IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO) >= 0) return watch;
    close(watch);
    return -1;
}

int ctest_open_process(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int ctest_wait_for_change(int watch, int process, int milliseconds) {
    struct pollfd files[2] = {{.fd = watch, .events = POLLIN}, {.fd = process, .events = POLLIN}};
    if (poll(files, 2, milliseconds) <= 0) return 0;
    char events[4096];
    int changed = 0;
    while (read(watch, events, sizeof(events)) > 0) changed = 1;
    return changed ? 1 : -1;
}

void ctest_limit_heaps(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

// libdispatch's functions for other loops. No header of the toolchain declares them.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

int ctest_run_main_queue(int milliseconds) {
    struct pollfd file = {.fd = _dispatch_get_main_queue_handle_4CF(), .events = POLLIN};
    if (poll(&file, 1, milliseconds) <= 0) return 0;
    eventfd_t count;
    eventfd_read(file.fd, &count);
    _dispatch_main_queue_callback_4CF(NULL);
    return 1;
}

int ctest_thread_number(void) { return (int)gettid(); }

void ctest_move_thread(int processor) {
    cpu_set_t allowed, set;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
    // Threads that it starts inherit what it may use.
    sched_setaffinity(0, sizeof allowed, &allowed);
}
