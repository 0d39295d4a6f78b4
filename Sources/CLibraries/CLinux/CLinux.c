#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

bool webimage_is_main_thread(void) { return (pid_t)syscall(SYS_gettid) == getpid(); }

int webimage_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void webimage_advise_huge_pages(void *base, size_t byte_count) { madvise(base, byte_count, MADV_HUGEPAGE); }

void *webimage_allocate_aligned(size_t alignment, size_t byte_count) {
    void *block = NULL;
    return posix_memalign(&block, alignment, byte_count) == 0 ? block : NULL;
}

void webimage_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

unsigned webimage_current_processor(void) {
    int processor = sched_getcpu();
    return processor < 0 ? 0 : (unsigned)processor;
}
