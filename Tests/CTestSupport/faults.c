#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <sys/resource.h>
#include <unistd.h>

int ctest_has_faults(void) { return dlsym(RTLD_DEFAULT, "fault_begin") != NULL; }

void ctest_begin_faults(
    const char *directory, long first, long last, int action, long value, unsigned long calls) {
    void (*begin)(const char *, long, long, int, long, unsigned long) = dlsym(RTLD_DEFAULT, "fault_begin");
    if (begin) begin(directory, first, last, action, value, calls);
}

long ctest_end_faults(void) {
    long (*end)(void) = dlsym(RTLD_DEFAULT, "fault_end");
    return end ? end() : 0;
}

int ctest_disturbed_fault(void) {
    int (*disturbed)(void) = dlsym(RTLD_DEFAULT, "fault_disturbed");
    return disturbed ? disturbed() : -1;
}

int ctest_fork(void) {
    fflush(NULL);
    return fork();
}

long *ctest_shared_numbers(int count) {
    void *numbers = mmap(NULL, count * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return numbers == MAP_FAILED ? NULL : numbers;
}

int ctest_open_descriptors(const char *path) {
    DIR *stream = opendir("/proc/self/fd");
    if (!stream) return -1;
    int count = 0;
    size_t length = path ? strlen(path) : 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        char target[4096];
        ssize_t size = readlinkat(dirfd(stream), entry->d_name, target, sizeof(target) - 1);
        if (size < 0 || atoi(entry->d_name) == dirfd(stream)) continue;
        target[size] = 0;
        if (!path || strncmp(target, path, length) == 0) count++;
    }
    closedir(stream);
    return count;
}

static int limit(int resource, long number) {
    struct rlimit limit;
    if (number < 0) return 0;
    if (getrlimit(resource, &limit) != 0) return -1;
    limit.rlim_cur = (rlim_t)number < limit.rlim_max ? (rlim_t)number : limit.rlim_max;
    return setrlimit(resource, &limit);
}

int ctest_limit(long descriptors, long memory, long file_size) {
    if (file_size >= 0) signal(SIGXFSZ, SIG_IGN);
    return limit(RLIMIT_NOFILE, descriptors) | limit(RLIMIT_AS, memory) | limit(RLIMIT_FSIZE, file_size);
}

// EXT4_IOC_SHUTDOWN, without writing the end of the journal.
int ctest_cut_power(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    unsigned flags = 2;
    int result = ioctl(fd, _IOR('X', 125, unsigned), &flags);
    close(fd);
    return result;
}

int ctest_synchronize(int fd) { return syncfs(fd); }

int ctest_has_attributes(const char *path) { return setxattr(path, "user.webimage", "1", 1, 0) == 0; }
