#define _GNU_SOURCE
#include "CIsolation.h"
#include "crash.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t webimage_sandbox_allowed;

enum { probe = 64 << 20, stack_size = 64 << 10 };

static void copy_text(char *place, size_t size, const char *text) {
    size_t index = 0;
    for (; text && text[index] && index + 1 < size; index++) place[index] = text[index];
    place[index] = 0;
}

static void tell(int number, int call, const char *name, const char *path) {
    struct webimage_crash crash = {.magic = webimage_crash_magic, .signal = number, .call = call, .allowed = webimage_sandbox_allowed};
    copy_text(crash.name, sizeof(crash.name), name);
    copy_text(crash.path, sizeof(crash.path), path);
    void *more = mmap(NULL, probe, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    crash.is_out_of_memory = more == MAP_FAILED;
    webimage_message_send(webimage_worker_socket, &crash, sizeof(crash), -1, false);
}

static void handle_crash(int number, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    tell(number, -1, NULL, NULL);
    // The interrupted instruction is executed again when this returns, and then ends the process.
    signal(number, SIG_DFL);
}

#if defined(__x86_64__) || defined(__aarch64__)

struct named_call {
    long number;
    const char *name;
    /// The index of the argument that is a path; -1 for none.
    int path;
};

static const struct named_call calls[] = {
    {SYS_openat, "openat", 1}, {SYS_openat2, "openat2", 1}, {SYS_newfstatat, "fstatat", 1}, {SYS_statx, "statx", 1},
    {SYS_faccessat, "faccessat", 1}, {SYS_faccessat2, "faccessat", 1}, {SYS_readlinkat, "readlinkat", 1},
    {SYS_unlinkat, "unlinkat", 1}, {SYS_renameat2, "rename", 1}, {SYS_mkdirat, "mkdirat", 1}, {SYS_socket, "socket", -1},
    {SYS_connect, "connect", -1}, {SYS_bind, "bind", -1}, {SYS_socketpair, "socketpair", -1}, {SYS_sendto, "sendto", -1},
    {SYS_execve, "execve", 0}, {SYS_execveat, "execveat", 1}, {SYS_clone, "clone", -1}, {SYS_kill, "kill", -1},
    {SYS_tgkill, "tgkill", -1}, {SYS_ptrace, "ptrace", -1}, {SYS_process_vm_readv, "process_vm_readv", -1},
    {SYS_prlimit64, "prlimit", -1}, {SYS_mmap, "mmap of code", -1}, {SYS_mprotect, "mprotect of code", -1},
    {SYS_pidfd_open, "pidfd_open", -1}, {SYS_io_uring_setup, "io_uring_setup", -1}, {SYS_bpf, "bpf", -1},
    {SYS_mount, "mount", -1}, {SYS_unshare, "unshare", -1}, {SYS_setns, "setns", -1},
#ifdef __x86_64__
    {SYS_open, "open", 0}, {SYS_stat, "stat", 0}, {SYS_lstat, "lstat", 0}, {SYS_access, "access", 0},
    {SYS_readlink, "readlink", 0}, {SYS_unlink, "unlink", 0}, {SYS_rename, "rename", 0}, {SYS_mkdir, "mkdir", 0},
    {SYS_fork, "fork", -1}, {SYS_vfork, "vfork", -1},
#endif
};

/// Paths that libraries probe for optional configuration: they get ENOENT.
static const char *const harmless[] = {
    "/proc/", "/sys/", "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/lib/locale", "/etc/gcrypt",
};

static bool is_harmless(const char *path) {
    if (!path) return false;
    // An empty path refers to a descriptor that is already open.
    if (!*path) return true;
    for (unsigned index = 0; index < sizeof(harmless) / sizeof(*harmless); index++)
        if (strncmp(path, harmless[index], strlen(harmless[index])) == 0 && !strstr(path, "..")) return true;
    return false;
}

static const char *path_of(const struct named_call *call, const ucontext_t *context) {
#ifdef __x86_64__
    const greg_t *registers = context->uc_mcontext.gregs;
    const greg_t arguments[2] = {registers[REG_RDI], registers[REG_RSI]};
#else
    const unsigned long long arguments[2] = {context->uc_mcontext.regs[0], context->uc_mcontext.regs[1]};
#endif
    return call->path < 0 ? NULL : (const char *)arguments[call->path];
}

static void answer(ucontext_t *context, long result) {
#ifdef __x86_64__
    context->uc_mcontext.gregs[REG_RAX] = result;
#else
    context->uc_mcontext.regs[0] = (unsigned long long)result;
#endif
}

/// Handles a system call that the filter blocked.
static void handle_call(int number, siginfo_t *info, void *context) {
    const struct named_call *call = NULL;
    for (unsigned index = 0; index < sizeof(calls) / sizeof(*calls); index++)
        if (calls[index].number == info->si_syscall) call = &calls[index];
    const char *path = call ? path_of(call, context) : NULL;
    if (call && is_harmless(path)) return answer(context, -ENOENT);
    tell(number, info->si_syscall, call ? call->name : NULL, path);
    _exit(128 + number);
}

#else

static void handle_call(int number, siginfo_t *info, void *context) { handle_crash(number, info, context); }

#endif

void webimage_sandbox_report_crashes(void) {
    static char stack[stack_size];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigaltstack(&alternative, NULL);
    const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    struct sigaction action = {.sa_sigaction = handle_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (unsigned index = 0; index < sizeof(crashes) / sizeof(*crashes); index++) sigaction(crashes[index], &action, NULL);
    action.sa_sigaction = handle_call;
    sigaction(SIGSYS, &action, NULL);
}
