#define _GNU_SOURCE
#include "fault-plan.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char directory[PATH_MAX], real_directory[PATH_MAX];
static long first, last, value;
static int action;
static unsigned long calls;
static atomic_bool is_on;
static atomic_long count;
static atomic_int disturbed = -1;

void fault_begin(const char *path, long from, long to, int what, long number, unsigned long set) {
    atomic_store(&is_on, false);
    snprintf(directory, sizeof(directory), "%s", path);
    if (!realpath(path, real_directory)) snprintf(real_directory, sizeof(real_directory), "%s", path);
    first = from;
    last = to;
    action = what;
    value = number;
    calls = set;
    atomic_store(&count, 0);
    atomic_store(&disturbed, -1);
    atomic_store(&is_on, true);
}

long fault_end(void) {
    atomic_store(&is_on, false);
    return atomic_load(&count);
}

int fault_disturbed(void) { return atomic_load(&disturbed); }

static _Noreturn void die(long status) {
    if (status != 0) _exit((int)status);
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

int fault_decide(enum fault_call call, long *number) {
    if (!(calls >> call & 1)) return FAULT_COUNT;
    long now = atomic_fetch_add(&count, 1) + 1;
    if (now < first || now > last || action == FAULT_COUNT) return FAULT_COUNT;
    int none = -1;
    atomic_compare_exchange_strong(&disturbed, &none, (int)call);
    *number = value;
    bool writes = call == FAULT_WRITE;
    if (action == FAULT_DIE_BEFORE || (action == FAULT_DIE_WITHIN && !writes)) die(value);
    if (action == FAULT_DELAY) {
        struct timespec time = {.tv_sec = value / 1000000, .tv_nsec = value % 1000000 * 1000};
        nanosleep(&time, NULL);
        return FAULT_COUNT;
    }
    return action;
}

void fault_finish(int what, long status) {
    if (what == FAULT_DIE_AFTER || what == FAULT_DIE_WITHIN) die(status);
}

static bool is_below(const char *path, const char *top) {
    size_t length = strlen(top);
    return length > 0 && strncmp(path, top, length) == 0 && (path[length] == 0 || path[length] == '/');
}

bool fault_has_descriptor(int fd) {
    if (!atomic_load(&is_on) || fd < 0) return false;
    int saved = errno;
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof(path) - 1);
    errno = saved;
    if (length < 0) return false;
    path[length] = 0;
    return is_below(path, real_directory);
}

bool fault_has_path(int place, const char *path) {
    if (!atomic_load(&is_on) || !path) return false;
    if (path[0] == '/') return is_below(path, directory) || is_below(path, real_directory);
    return place != AT_FDCWD && fault_has_descriptor(place);
}

static long number_of(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 0) : otherwise;
}

// A plan for programs that know nothing of it.
__attribute__((constructor)) static void begin_by_environment(void) {
    const char *path = getenv("FAULT_DIRECTORY");
    if (!path) return;
    long from = number_of("FAULT_FIRST", 1);
    fault_begin(
        path, from, number_of("FAULT_LAST", from), (int)number_of("FAULT_ACTION", FAULT_COUNT), number_of("FAULT_VALUE", 0),
        (unsigned long)number_of("FAULT_CALLS", -1));
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAULT_REPORT");
    if (!path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld %d\n", fault_end(), fault_disturbed());
    fclose(file);
}
