// The parts of Linux's interface that `import Glibc` leaves out, behind functions of this library: including the system's headers
// here a second time would clash with the toolchain's module of them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Returns the number. Relaxed atomic: provides no ordering with other memory.
static inline long webimage_atomic_load(const long *number) { return __atomic_load_n(number, __ATOMIC_RELAXED); }

/// Adds to the number, and returns the sum, which wraps around. Relaxed atomic: provides no ordering with other memory.
static inline long webimage_atomic_add(long *number, long count) {
    return __atomic_add_fetch(number, count, __ATOMIC_RELAXED);
}

/// Begins to load the memory at an address into the processor's caches, where it can be written, too. Any address is allowed.
static inline void webimage_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// Returns what ``webimage_sanitizer_release`` and ``webimage_sanitizer_acquire`` take: they tell the thread sanitizer that what
/// happened before the one also happened before the other. All three do nothing in a build without it.
void *webimage_sanitizer_order(void);
void webimage_sanitizer_release(void *order);
void webimage_sanitizer_acquire(void *order);

/// Returns true on the thread that started the process.
bool webimage_is_main_thread(void);

/// Returns the number of columns of the terminal behind `fd`; 0 if it is not a terminal.
int webimage_terminal_columns(int fd);

/// Gets columns and rows of the terminal behind `fd`, and their total size in pixels; 0 for values that it does not report. Returns
/// false if `fd` is not a terminal.
bool webimage_terminal_size(int fd, int *columns, int *rows, int *width, int *height);

/// Advises the kernel to back the block with huge pages.
void webimage_advise_huge_pages(void *base, size_t byte_count);

/// Returns a block aligned to `alignment` (a power of two), NULL if there is no memory left. Freed with `free`.
void *webimage_allocate_aligned(size_t alignment, size_t byte_count);

/// Returns the usable size of a block of `malloc` in bytes.
size_t webimage_usable_size(void *block);

/// Returns the memory budget reservation of the calling thread's job; NULL for none.
void *webimage_reservation(void);
void webimage_set_reservation(void *reservation);

/// Names the calling thread; the system keeps 15 bytes.
void webimage_name_thread(const char *name);

/// Returns the number of processors that this process may use.
int webimage_processor_count(void);

/// Opens a directory only to resolve names in it: neither its listing nor anything in it is read, so it needs only the right to
/// traverse it. `path` is relative to an open directory, or absolute, or `directory` is AT_FDCWD. Fails with ENOTDIR if the last
/// part of the path is a symbolic link. Returns the descriptor, or the negative error number.
int webimage_open_directory(int directory, const char *path);

/// Renames a file from one open directory to another; with `exclusive`, fails with EEXIST if the new name exists. Returns 0, or the
/// negative error number.
int webimage_rename(int from_directory, const char *from, int to_directory, const char *to, bool exclusive);

/// Opens an existing file so that reading does not change its access time, if permitted. `path` as above. Returns the descriptor,
/// or the negative error number.
int webimage_open_unnoticed(int directory, const char *path, int flags);

/// Sets the access time of an open file. Returns 0, or the negative error number.
int webimage_set_access_time(int fd, int64_t seconds, int64_t nanoseconds);

/// Returns the processor that the calling thread currently runs on; negative if not known. Declared under another name, because the
/// toolchain's module of the system's headers declares it, too.
int webimage_current_processor(void) __asm__("sched_getcpu");

/// Returns the end from which signal numbers are read, one byte each; created by the first call, which must return before the next.
/// Returns the descriptor, or the negative error number.
int webimage_signal_pipe(void);

/// Writes a signal into that pipe when it arrives, unless the signal is currently ignored: then it stays ignored. Returns 0, or the
/// negative error number.
int webimage_send_signal_to_pipe(int number);

/// An allocator for libcurl on top of the C library's, so that blocks of either may be freed by the other. It keeps up to 32 of the
/// buffers that libcurl allocates and frees with every transfer: freed to the C library, they are the top of a thread's heap again
/// and again, and their pages return to the kernel only to be faulted in again.
void *webimage_transfer_malloc(size_t size);
void webimage_transfer_free(void *block);
void *webimage_transfer_realloc(void *block, size_t size);
void *webimage_transfer_calloc(size_t count, size_t size);
char *webimage_transfer_strdup(const char *text);

/// Frees the kept buffers.
void webimage_transfer_trim(void);

/// Computes the MD5 of bytes: for file names, not for security.
void webimage_md5(const void *bytes, size_t count, uint8_t digest[16]);

/// Records that the process has threads of the library, which a forked child does not have.
void webimage_note_thread(void);

/// Returns whether the process was forked from one that had such threads.
bool webimage_has_lost_threads(void);

/// Lets OpenSSL, if it is loaded and not yet used, free nothing at exit. A thread that ends meanwhile frees its own state, too.
void webimage_keep_openssl_at_exit(void);

/// Gets the number of bytes read from a TCP socket since it was connected. Returns false if not known.
bool webimage_socket_read_count(int socket, uint64_t *count);

/// Returns the local port of a socket; 0 if it has none.
int webimage_socket_port(int socket);
