#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

enum { most = 400 };
static struct sock_filter program[most];
static unsigned length;

static void put(uint16_t code, uint8_t yes, uint8_t no, uint32_t value) {
    if (length < most) program[length++] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = value};
}
static void load(uint32_t offset) { put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
static void end(uint32_t action) { put(BPF_RET | BPF_K, 0, 0, action); }
static void load_call(void) { load(offsetof(struct seccomp_data, nr)); }
/// Loads the lower half of an argument; the kernel uses no more of it in the calls where this is used.
static void load_argument(unsigned index) { load(offsetof(struct seccomp_data, args) + 8 * index); }

static const uint32_t allow = SECCOMP_RET_ALLOW;
/// The call is not executed; the handler in crash.c returns its result.
static const uint32_t report = SECCOMP_RET_TRAP;

static void answer(long call, uint32_t action) {
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
    end(action);
}

/// Returns one action if an argument, with a mask, has a value; else the other. The number of the call must be loaded again after
/// it.
static void answer_if(long call, unsigned argument, uint32_t mask, uint32_t value, uint32_t action, uint32_t otherwise) {
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)call);
    load_argument(argument);
    put(BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    end(action);
    end(otherwise);
}

/// Calls for memory, threads, time, and descriptors that are already open.
static const long plain[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close, SYS_ppoll, SYS_recvmsg, SYS_sendmsg,
    SYS_munmap, SYS_mremap, SYS_brk, SYS_ftruncate, SYS_fstat,
    SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_restart_syscall,
    SYS_set_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_membarrier, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrusage, SYS_times,
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_clock_nanosleep, SYS_nanosleep, SYS_getrandom, SYS_sysinfo,
    SYS_uname, SYS_getcpu,
#ifdef __x86_64__
    SYS_poll, SYS_time, SYS_arch_prctl,
#endif
};

/// Calls for reading files, for workers that may; Landlock restricts the paths.
static const long reading[] = {
    SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64, SYS_fstatfs, SYS_statfs, SYS_getcwd,
#ifdef __x86_64__
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
};

/// Calls that compromised code would try first: the parent is notified which it was.
static const long told[] = {
    SYS_openat, SYS_openat2, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_unlinkat, SYS_renameat2,
    SYS_mkdirat, SYS_socket, SYS_connect, SYS_bind, SYS_socketpair, SYS_sendto, SYS_execve, SYS_execveat, SYS_kill, SYS_ptrace,
    SYS_process_vm_readv, SYS_pidfd_open, SYS_io_uring_setup, SYS_bpf, SYS_mount, SYS_unshare, SYS_setns,
#ifdef __x86_64__
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_unlink, SYS_rename, SYS_mkdir, SYS_fork, SYS_vfork,
#endif
};

static void threads(void) {
    // The flags of clone3 are in memory, which a filter cannot read: with ENOSYS, the C library uses clone instead.
    answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    // With separate descriptor tables, threads could open any number of descriptors.
    const uint32_t needed = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES;
    const uint32_t refused = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    answer_if(SYS_clone, 0, needed | refused, needed, allow, report);
}

/// Flags and seals; the owner of signals cannot be changed.
static void descriptor_commands(void) {
    const uint32_t commands[] = {F_GETFD, F_SETFD, F_GETFL, F_ADD_SEALS, F_GET_SEALS};
    const uint8_t count = sizeof(commands) / sizeof(*commands);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 2 * count + 2, SYS_fcntl);
    load_argument(1);
    for (uint8_t index = 0; index < count; index++) answer(commands[index], allow);
    end(SECCOMP_RET_ERRNO | EPERM);
}

static void build(bool reads_files) {
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    end(SECCOMP_RET_KILL_PROCESS);
    load_call();
    for (unsigned index = 0; index < sizeof(plain) / sizeof(*plain); index++) answer(plain[index], allow);
    // No memory may become executable.
    answer_if(SYS_mmap, 2, PROT_EXEC, 0, allow, report);
    answer_if(SYS_mprotect, 2, PROT_EXEC, 0, allow, report);
    // Only these flags: memory with huge pages (MFD_HUGETLB) has other rules for mapping and unmapping.
    answer_if(SYS_memfd_create, 1, ~0u, MFD_CLOEXEC | MFD_ALLOW_SEALING, allow, report);
    // Pages are allocated only by mapping, which is bounded, and cannot be removed again.
    answer(SYS_fallocate, SECCOMP_RET_ERRNO | EOPNOTSUPP);
    // 100 (MADV_HWPOISON) and 101 (MADV_SOFT_OFFLINE) break pages, including those of the parent's images. Later advice gets the
    // error of a kernel that does not know it: the C library requests guard pages (102) with each thread, and works without.
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_madvise);
    load_argument(2);
    put(BPF_JMP | BPF_JGT | BPF_K, 0, 1, 101);
    end(SECCOMP_RET_ERRNO | EINVAL);
    put(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 100);
    end(report);
    end(allow);
    threads();
    // The handler that reports blocked calls cannot be replaced.
    answer_if(SYS_rt_sigaction, 0, ~0u, SIGSYS, SECCOMP_RET_ERRNO | EPERM, allow);
    answer_if(SYS_tgkill, 0, ~0u, (uint32_t)getpid(), allow, report);
    answer_if(SYS_prlimit64, 0, ~0u, 0, allow, report);
    answer_if(SYS_prctl, 0, ~0u, PR_SET_NAME, allow, SECCOMP_RET_ERRNO | EPERM);
    descriptor_commands();
    answer(SYS_ioctl, SECCOMP_RET_ERRNO | ENOTTY);
    // GLib checks whether standard error is a socket before it prints a warning.
    answer(SYS_getpeername, SECCOMP_RET_ERRNO | ENOTSOCK);
    answer(SYS_get_mempolicy, SECCOMP_RET_ERRNO | EPERM);
    answer(SYS_mlock, SECCOMP_RET_ERRNO | EPERM);
    if (reads_files) {
        const uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_PATH;
        answer_if(SYS_openat, 2, writes, O_RDONLY, allow, SECCOMP_RET_ERRNO | EACCES);
#ifdef __x86_64__
        answer_if(SYS_open, 1, writes, O_RDONLY, allow, SECCOMP_RET_ERRNO | EACCES);
#endif
        for (unsigned index = 0; index < sizeof(reading) / sizeof(*reading); index++) answer(reading[index], allow);
    }
    for (unsigned index = 0; index < sizeof(told) / sizeof(*told); index++) answer(told[index], report);
    end(SECCOMP_RET_KILL_PROCESS);
}

bool webimage_filter_enter(bool reads_files) {
    build(reads_files);
    if (length >= most) return false;
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

#else

bool webimage_filter_enter(bool reads_files) { return false; }

#endif
