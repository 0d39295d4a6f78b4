#define _GNU_SOURCE
#include "CIsolation.h"
#include "crash.h"
#include "filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Kept open, because the memory in use is read after files cannot be opened any more.
static int memory_file = -1;

/// Returns the number of bytes of address space in use.
static size_t address_space(void) {
    char text[64] = {0};
    if (pread(memory_file, text, sizeof(text) - 1, 0) <= 0) return 0;
    return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t sum(size_t left, size_t right) { return left > SIZE_MAX - right ? SIZE_MAX : left + right; }

static void set_limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) return;
    if (hard > now.rlim_max) hard = now.rlim_max;
    struct rlimit wanted = {.rlim_cur = soft < hard ? soft : hard, .rlim_max = hard};
    setrlimit(resource, &wanted);
}

/// Returns the number of descriptors up to the highest that is open.
static rlim_t descriptor_count(void) {
    rlim_t count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        if (fcntl(descriptor, F_GETFD) >= 0) count = (rlim_t)descriptor + 1;
    return count;
}

/// Returns the processor time used in seconds, rounded up.
static rlim_t taken_time(void) {
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
    return (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1;
}

static int thread_count(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry = tasks ? readdir(tasks) : NULL; entry; entry = readdir(tasks)) count += entry->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return count;
}

/// Returns the number of threads after joined threads are gone: the kernel counts them for a moment longer.
static int remaining_thread_count(void) {
    int count = thread_count();
    for (int tries = 0; count > 1 && tries < 500; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        count = thread_count();
    }
    return count;
}

// MARK: Landlock. Its header may be older than the kernel, so what it has is written down here.

struct ruleset {
    uint64_t files, network, scopes;
};
struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t directory;
};
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446, reads = 1 << 2 | 1 << 3 };

/// Returns the rights to files that a version knows.
static uint64_t file_rights(int version) {
    const int counts[] = {0, 13, 14, 15, 15, 16};
    return (1ull << counts[version < 5 ? version : 5]) - 1;
}

static int enter_landlock(const char *const *readable) {
    int version = (int)syscall(create_ruleset, NULL, 0, 1);
    if (version < 1) return 0;
    struct ruleset rules = {
        .files = file_rights(version), .network = version >= 4 ? 3 : 0, .scopes = version >= 6 ? 3 : 0};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int ruleset = (int)syscall(create_ruleset, &rules, size, 0);
    if (ruleset < 0) return 0;
    for (; readable && *readable; readable++) {
        struct path_rule rule = {.allowed = reads, .directory = open(*readable, O_PATH | O_DIRECTORY | O_CLOEXEC)};
        if (rule.directory < 0) continue;
        syscall(add_rule, ruleset, 1, &rule, 0);
        close(rule.directory);
    }
    int result = (int)syscall(restrict_self, ruleset, 0);
    close(ruleset);
    return result == 0 ? version : 0;
}

// MARK: All of it

void webimage_sandbox_die_with_parent(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If the parent is already gone, its end of the socket is closed, which ends this process.
}

void webimage_sandbox_tame_heap(void) {
    // Every further heap reserves 64 MiB of address space.
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    // Allocated bytes are 0, and freed ones are overwritten: a library that leaves a part of an image uninitialised reveals nothing
    // of earlier images.
    mallopt(M_PERTURB, 0xFF);
}

/// Makes the OOM killer choose this process first. Raising the score needs no privileges.
static void end_first(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, "1000", 4) < 0) { /* Best effort. */ }
    close(file);
}

/// Drops root's capabilities, such as raising limits again or breaking pages.
static void drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    syscall(SYS_capset, &header, none);
}

struct webimage_walls webimage_sandbox_enter(const struct webimage_sandbox *sandbox) {
    // Landlock and capabilities apply to a single thread, so there must be no other.
    struct webimage_walls walls = {.threads = remaining_thread_count()};
    end_first();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    memory_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    set_limit(RLIMIT_CORE, 0, 0);
    set_limit(RLIMIT_MSGQUEUE, 0, 0);
    set_limit(RLIMIT_MEMLOCK, 0, 0);
    // Memory that is not mapped is bounded by this and by the number of descriptors. Creating a bigger block fails.
    signal(SIGXFSZ, SIG_IGN);
    set_limit(RLIMIT_FSIZE, sandbox->memory, sandbox->memory);
    size_t taken = address_space();
    walls.bounded = taken > 0;
    // A sanitizer's shadow memory takes terabytes.
    if (taken > 0 && taken < (size_t)1 << 40) {
        size_t most = sum(taken, sandbox->memory);
        set_limit(RLIMIT_AS, most, most);
    }
    walls.landlock = enter_landlock(sandbox->readable);
    rlim_t descriptors = descriptor_count() + sandbox->descriptors;
    set_limit(RLIMIT_NOFILE, descriptors, descriptors);
    walls.reads_files = sandbox->readable && walls.landlock > 0;
    drop_capabilities();
    webimage_sandbox_die_with_parent();
    walls.seccomp = webimage_filter_enter(walls.reads_files);
    return walls;
}

void webimage_sandbox_bind(size_t piece, uint64_t seconds) {
    set_limit(RLIMIT_FSIZE, piece, piece);
    // Below the hard limit, the signal can be caught, and the soft limit raised.
    rlim_t most = sum(taken_time(), seconds);
    set_limit(RLIMIT_CPU, most, most);
}

void webimage_sandbox_allow(size_t byte_count, unsigned seconds) {
    size_t taken = address_space();
    struct rlimit limit;
    if (taken > 0 && taken < (size_t)1 << 40 && getrlimit(RLIMIT_AS, &limit) == 0) {
        rlim_t wanted = sum(taken, byte_count);
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_AS, &limit);
        webimage_sandbox_allowed = limit.rlim_cur - taken;
    }
    if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
    rlim_t wanted = taken_time() + seconds;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}
