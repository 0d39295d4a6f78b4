// Calls on open files.
#define _GNU_SOURCE
#include "fault-plan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The number of bytes to process of `size`.
static size_t part_of(size_t size, int action, long value) {
    if (action == FAULT_SHORT) return (size_t)value < size ? (size_t)value : size;
    return action == FAULT_DIE_WITHIN ? size / 2 : size;
}

#define TRANSFER(call, fd, size, expression) \
    do { \
        long value_ = 0; \
        int action_ = fault_has_descriptor(fd) ? fault_decide(call, &value_) : FAULT_COUNT; \
        if (action_ == FAULT_FAIL) { \
            errno = (int)value_; \
            return -1; \
        } \
        size = part_of(size, action_, value_); \
        ssize_t result_ = expression; \
        fault_finish(action_, value_); \
        return result_; \
    } while (0)

ssize_t read(int fd, void *bytes, size_t size) { TRANSFER(FAULT_READ, fd, size, FAULT_REAL(read)(fd, bytes, size)); }
ssize_t pread(int fd, void *bytes, size_t size, off_t at) {
    TRANSFER(FAULT_READ, fd, size, FAULT_REAL(pread)(fd, bytes, size, at));
}
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) {
    TRANSFER(FAULT_READ, fd, size, FAULT_REAL(pread64)(fd, bytes, size, at));
}
ssize_t write(int fd, const void *bytes, size_t size) {
    TRANSFER(FAULT_WRITE, fd, size, FAULT_REAL(write)(fd, bytes, size));
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    TRANSFER(FAULT_WRITE, fd, size, FAULT_REAL(pwrite)(fd, bytes, size, at));
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    TRANSFER(FAULT_WRITE, fd, size, FAULT_REAL(pwrite64)(fd, bytes, size, at));
}

// The first piece that is not empty is shortened, and those after it are left out.
#define TRANSFER_PIECES(call, name) \
    do { \
        long value_ = 0; \
        int action_ = fault_has_descriptor(fd) ? fault_decide(call, &value_) : FAULT_COUNT; \
        if (action_ == FAULT_FAIL) { \
            errno = (int)value_; \
            return -1; \
        } \
        if (action_ != FAULT_SHORT && action_ != FAULT_DIE_WITHIN) { \
            ssize_t result_ = FAULT_REAL(name)(fd, pieces, number); \
            fault_finish(action_, value_); \
            return result_; \
        } \
        while (number > 1 && pieces->iov_len == 0) { \
            pieces++; \
            number--; \
        } \
        struct iovec piece_ = *pieces; \
        piece_.iov_len = part_of(piece_.iov_len, action_, value_); \
        ssize_t result_ = FAULT_REAL(name)(fd, &piece_, 1); \
        fault_finish(action_, value_); \
        return result_; \
    } while (0)

ssize_t readv(int fd, const struct iovec *pieces, int number) { TRANSFER_PIECES(FAULT_READ, readv); }
ssize_t writev(int fd, const struct iovec *pieces, int number) { TRANSFER_PIECES(FAULT_WRITE, writev); }

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
    TRANSFER(FAULT_COPY, to, size, FAULT_REAL(copy_file_range)(from, from_at, to, to_at, size, flags));
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    TRANSFER(FAULT_COPY, from, size, FAULT_REAL(sendfile)(to, from, at, size));
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
    TRANSFER(FAULT_COPY, from, size, FAULT_REAL(sendfile64)(to, from, at, size));
}

int fsync(int fd) { FAULT_CALL(FAULT_SYNC, fault_has_descriptor(fd), FAULT_REAL(fsync)(fd)); }
int fdatasync(int fd) { FAULT_CALL(FAULT_SYNC, fault_has_descriptor(fd), FAULT_REAL(fdatasync)(fd)); }
int syncfs(int fd) { FAULT_CALL(FAULT_SYNC, fault_has_descriptor(fd), FAULT_REAL(syncfs)(fd)); }
int ftruncate(int fd, off_t size) {
    FAULT_CALL(FAULT_TRUNCATE, fault_has_descriptor(fd), FAULT_REAL(ftruncate)(fd, size));
}
int ftruncate64(int fd, off64_t size) {
    FAULT_CALL(FAULT_TRUNCATE, fault_has_descriptor(fd), FAULT_REAL(ftruncate64)(fd, size));
}
int fallocate(int fd, int mode, off_t at, off_t size) {
    FAULT_CALL(FAULT_ALLOCATE, fault_has_descriptor(fd), FAULT_REAL(fallocate)(fd, mode, at, size));
}
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
    FAULT_CALL(FAULT_ALLOCATE, fault_has_descriptor(fd), FAULT_REAL(fallocate64)(fd, mode, at, size));
}
int fstat(int fd, struct stat *status) { FAULT_CALL(FAULT_STAT, fault_has_descriptor(fd), FAULT_REAL(fstat)(fd, status)); }
int fstat64(int fd, struct stat64 *status) {
    FAULT_CALL(FAULT_STAT, fault_has_descriptor(fd), FAULT_REAL(fstat64)(fd, status));
}
int flock(int fd, int operation) { FAULT_CALL(FAULT_LOCK, fault_has_descriptor(fd), FAULT_REAL(flock)(fd, operation)); }
int futimens(int fd, const struct timespec times[2]) {
    FAULT_CALL(FAULT_TIMES, fault_has_descriptor(fd), FAULT_REAL(futimens)(fd, times));
}

int close(int fd) {
    long value = 0;
    int action = fault_has_descriptor(fd) ? fault_decide(FAULT_CLOSE, &value) : FAULT_COUNT;
    int result = FAULT_REAL(close)(fd);
    fault_finish(action, value);
    if (action != FAULT_FAIL) return result;
    errno = (int)value;
    return -1;
}

void *mmap(void *base, size_t size, int protection, int flags, int fd, off_t at) {
    FAULT_CALL(FAULT_MAP, fault_has_descriptor(fd), FAULT_REAL(mmap)(base, size, protection, flags, fd, at));
}
void *mmap64(void *base, size_t size, int protection, int flags, int fd, off64_t at) {
    FAULT_CALL(FAULT_MAP, fault_has_descriptor(fd), FAULT_REAL(mmap64)(base, size, protection, flags, fd, at));
}

static enum fault_call kind_of(int command) {
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? FAULT_DUPLICATE : FAULT_LOCK;
}
static bool is_looked_at(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW ||
           command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}
int fcntl(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    bool concerns = is_looked_at(command) && fault_has_descriptor(fd);
    FAULT_CALL(kind_of(command), concerns, FAULT_REAL(fcntl)(fd, command, argument));
}
int fcntl64(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    bool concerns = is_looked_at(command) && fault_has_descriptor(fd);
    FAULT_CALL(kind_of(command), concerns, FAULT_REAL(fcntl64)(fd, command, argument));
}

#define LIST(name) \
    do { \
        long value_ = 0; \
        int action_ = fault_has_descriptor(dirfd(stream)) ? fault_decide(FAULT_LIST, &value_) : FAULT_COUNT; \
        if (action_ == FAULT_FAIL) { \
            errno = (int)value_; \
            return NULL; \
        } \
        __typeof__(FAULT_REAL(name)(stream)) result_ = FAULT_REAL(name)(stream); \
        fault_finish(action_, value_); \
        return result_; \
    } while (0)

struct dirent *readdir(DIR *stream) { LIST(readdir); }
struct dirent64 *readdir64(DIR *stream) { LIST(readdir64); }
DIR *fdopendir(int fd) {
    long value = 0;
    int action = fault_has_descriptor(fd) ? fault_decide(FAULT_LIST, &value) : FAULT_COUNT;
    if (action == FAULT_FAIL) {
        errno = (int)value;
        return NULL;
    }
    DIR *result = FAULT_REAL(fdopendir)(fd);
    fault_finish(action, value);
    return result;
}
