#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool webimage_is_main_thread(void) { return (pid_t)syscall(SYS_gettid) == getpid(); }

int webimage_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void webimage_advise_huge_pages(void *base, size_t byte_count) { madvise(base, byte_count, MADV_HUGEPAGE); }

size_t webimage_usable_size(void *block) { return malloc_usable_size(block); }

void *webimage_allocate_aligned(size_t alignment, size_t byte_count) {
    void *block = NULL;
    return posix_memalign(&block, alignment, byte_count) == 0 ? block : NULL;
}

void webimage_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int webimage_rename(const char *from, const char *to, bool exclusive) {
    if (!exclusive) return rename(from, to) == 0 ? 0 : -errno;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    // The file system cannot do that in one step. A second name for the file can be had exclusively too.
    if (link(from, to) != 0) return -errno;
    unlink(from);
    return 0;
}

int webimage_open_unnoticed(const char *path, int flags) {
    int fd = open(path, flags | O_NOATIME);
    // Only the owner of a file may ask for that.
    if (fd < 0 && errno == EPERM) fd = open(path, flags);
    return fd < 0 ? -errno : fd;
}

int webimage_set_access_time(int fd, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_sec = seconds, .tv_nsec = nanoseconds}, {.tv_nsec = UTIME_OMIT}};
    return futimens(fd, times) == 0 ? 0 : -errno;
}

unsigned webimage_current_processor(void) {
    int processor = sched_getcpu();
    return processor < 0 ? 0 : (unsigned)processor;
}
