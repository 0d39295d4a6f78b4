// Calls on names.
#define _GNU_SOURCE
#include "fault-plan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// The mode is passed only if a file may be created.
#define MODE(flags) \
    ({ \
        va_list arguments_; \
        va_start(arguments_, flags); \
        mode_t mode_ = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(arguments_, mode_t) : 0; \
        va_end(arguments_); \
        mode_; \
    })

int open(const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    FAULT_CALL(FAULT_OPEN, fault_has_path(AT_FDCWD, path), FAULT_REAL(open)(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    FAULT_CALL(FAULT_OPEN, fault_has_path(AT_FDCWD, path), FAULT_REAL(open64)(path, flags, mode));
}
int openat(int place, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    FAULT_CALL(FAULT_OPEN, fault_has_path(place, path), FAULT_REAL(openat)(place, path, flags, mode));
}
int openat64(int place, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    FAULT_CALL(FAULT_OPEN, fault_has_path(place, path), FAULT_REAL(openat64)(place, path, flags, mode));
}

int rename(const char *from, const char *to) {
    bool concerns = fault_has_path(AT_FDCWD, from) || fault_has_path(AT_FDCWD, to);
    FAULT_CALL(FAULT_RENAME, concerns, FAULT_REAL(rename)(from, to));
}
int renameat(int from_place, const char *from, int to_place, const char *to) {
    bool concerns = fault_has_path(from_place, from) || fault_has_path(to_place, to);
    FAULT_CALL(FAULT_RENAME, concerns, FAULT_REAL(renameat)(from_place, from, to_place, to));
}
int renameat2(int from_place, const char *from, int to_place, const char *to, unsigned flags) {
    bool concerns = fault_has_path(from_place, from) || fault_has_path(to_place, to);
    FAULT_CALL(FAULT_RENAME, concerns, FAULT_REAL(renameat2)(from_place, from, to_place, to, flags));
}
int link(const char *from, const char *to) {
    FAULT_CALL(FAULT_LINK, fault_has_path(AT_FDCWD, to), FAULT_REAL(link)(from, to));
}
int linkat(int from_place, const char *from, int to_place, const char *to, int flags) {
    FAULT_CALL(FAULT_LINK, fault_has_path(to_place, to), FAULT_REAL(linkat)(from_place, from, to_place, to, flags));
}
int unlink(const char *path) { FAULT_CALL(FAULT_UNLINK, fault_has_path(AT_FDCWD, path), FAULT_REAL(unlink)(path)); }
int unlinkat(int place, const char *path, int flags) {
    FAULT_CALL(FAULT_UNLINK, fault_has_path(place, path), FAULT_REAL(unlinkat)(place, path, flags));
}
int rmdir(const char *path) { FAULT_CALL(FAULT_UNLINK, fault_has_path(AT_FDCWD, path), FAULT_REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) {
    FAULT_CALL(FAULT_MAKE, fault_has_path(AT_FDCWD, path), FAULT_REAL(mkdir)(path, mode));
}
int mkdirat(int place, const char *path, mode_t mode) {
    FAULT_CALL(FAULT_MAKE, fault_has_path(place, path), FAULT_REAL(mkdirat)(place, path, mode));
}

int stat(const char *path, struct stat *status) {
    FAULT_CALL(FAULT_STAT, fault_has_path(AT_FDCWD, path), FAULT_REAL(stat)(path, status));
}
int stat64(const char *path, struct stat64 *status) {
    FAULT_CALL(FAULT_STAT, fault_has_path(AT_FDCWD, path), FAULT_REAL(stat64)(path, status));
}
int lstat(const char *path, struct stat *status) {
    FAULT_CALL(FAULT_STAT, fault_has_path(AT_FDCWD, path), FAULT_REAL(lstat)(path, status));
}
int lstat64(const char *path, struct stat64 *status) {
    FAULT_CALL(FAULT_STAT, fault_has_path(AT_FDCWD, path), FAULT_REAL(lstat64)(path, status));
}
int fstatat(int place, const char *path, struct stat *status, int flags) {
    FAULT_CALL(FAULT_STAT, fault_has_path(place, path), FAULT_REAL(fstatat)(place, path, status, flags));
}
int fstatat64(int place, const char *path, struct stat64 *status, int flags) {
    FAULT_CALL(FAULT_STAT, fault_has_path(place, path), FAULT_REAL(fstatat64)(place, path, status, flags));
}
int statx(int place, const char *path, int flags, unsigned mask, struct statx *status) {
    FAULT_CALL(FAULT_STAT, fault_has_path(place, path), FAULT_REAL(statx)(place, path, flags, mask, status));
}
int utimensat(int place, const char *path, const struct timespec times[2], int flags) {
    FAULT_CALL(FAULT_TIMES, fault_has_path(place, path), FAULT_REAL(utimensat)(place, path, times, flags));
}
