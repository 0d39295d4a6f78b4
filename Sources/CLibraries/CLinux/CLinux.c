#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>

// A place for each order that is likely to exist at once; two that share one only hide a race.
static long orders[4096];
static long order_count;

void *webimage_sanitizer_order(void) { return &orders[__atomic_fetch_add(&order_count, 1, __ATOMIC_RELAXED) & 4095]; }
void webimage_sanitizer_release(void *order) { __tsan_release(order); }
void webimage_sanitizer_acquire(void *order) { __tsan_acquire(order); }
#else
void *webimage_sanitizer_order(void) { return NULL; }
void webimage_sanitizer_release(void *order) { (void)order; }
void webimage_sanitizer_acquire(void *order) { (void)order; }
#endif

bool webimage_is_main_thread(void) { return (pid_t)syscall(SYS_gettid) == getpid(); }

int webimage_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool webimage_terminal_size(int fd, int *columns, int *rows, int *width, int *height) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    *width = size.ws_xpixel;
    *height = size.ws_ypixel;
    return true;
}

void webimage_advise_huge_pages(void *base, size_t byte_count) { madvise(base, byte_count, MADV_HUGEPAGE); }

size_t webimage_usable_size(void *block) { return malloc_usable_size(block); }

void *webimage_allocate_aligned(size_t alignment, size_t byte_count) {
    void *block = NULL;
    return posix_memalign(&block, alignment, byte_count) == 0 ? block : NULL;
}

static _Thread_local void *thread_reservation;

void *webimage_reservation(void) { return thread_reservation; }

void webimage_set_reservation(void *reservation) { thread_reservation = reservation; }

int webimage_processor_count(void) {
    cpu_set_t set;
    // Fails with more processors than the set has room for.
    if (sched_getaffinity(0, sizeof set, &set) == 0) { return CPU_COUNT(&set); }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void webimage_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int webimage_open_directory(int directory, const char *path) {
    int fd = openat(directory, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int webimage_rename(int from_directory, const char *from, int to_directory, const char *to, bool exclusive) {
    if (!exclusive) return renameat(from_directory, from, to_directory, to) == 0 ? 0 : -errno;
    if (renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    // The file system does not support that in one step. A hard link can also be created exclusively.
    if (linkat(from_directory, from, to_directory, to, 0) != 0) return -errno;
    unlinkat(from_directory, from, 0);
    return 0;
}

int webimage_open_unnoticed(int directory, const char *path, int flags) {
    int fd = openat(directory, path, flags | O_NOATIME);
    // Only the owner of a file may set O_NOATIME.
    if (fd < 0 && errno == EPERM) fd = openat(directory, path, flags);
    return fd < 0 ? -errno : fd;
}

int webimage_set_access_time(int fd, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_sec = seconds, .tv_nsec = nanoseconds}, {.tv_nsec = UTIME_OMIT}};
    return futimens(fd, times) == 0 ? 0 : -errno;
}

static int signal_pipe[2] = {-1, -1};

static void send_to_pipe(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe already contains enough signals.
    if (write(signal_pipe[1], &byte, 1) < 0) errno = 0;
    errno = saved;
}

int webimage_signal_pipe(void) {
    if (signal_pipe[0] < 0) {
        if (pipe2(signal_pipe, O_CLOEXEC) != 0) return -errno;
        fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK);
    }
    return signal_pipe[0];
}

int webimage_send_signal_to_pipe(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) return -errno;
    if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) return 0;
    action.sa_handler = send_to_pipe;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0 ? 0 : -errno;
}

static int has_lost_threads;
static pthread_once_t noted_threads = PTHREAD_ONCE_INIT;

static void lose_threads(void) { __atomic_store_n(&has_lost_threads, 1, __ATOMIC_RELAXED); }

static void watch_forks(void) { pthread_atfork(NULL, NULL, lose_threads); }

void webimage_note_thread(void) { pthread_once(&noted_threads, watch_forks); }

bool webimage_has_lost_threads(void) { return __atomic_load_n(&has_lost_threads, __ATOMIC_RELAXED) != 0; }

void webimage_keep_openssl_at_exit(void) {
    static const uint64_t no_cleanup = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT
    void *library = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return;
    int (*start)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
    if (start) start(no_cleanup, NULL);
    dlclose(library);
}

bool webimage_socket_read_count(int socket, uint64_t *count) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    int unread = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
    if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return false;
    if (ioctl(socket, FIONREAD, &unread) != 0 || unread < 0) return false;
    uint64_t received = info.tcpi_bytes_received;
    *count = received > (uint64_t)unread ? received - (uint64_t)unread : 0;
    return true;
}

int webimage_socket_port(int socket) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}
