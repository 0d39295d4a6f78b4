// What `import Glibc` leaves out of Linux's interface, behind functions of our own: including the system's headers here
// a second time would clash with the toolchain's own module of them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The number, read by an atomic instruction that orders nothing else.
static inline long webimage_atomic_load(const long *number) { return __atomic_load_n(number, __ATOMIC_RELAXED); }

/// Adds to the number by an atomic instruction that orders nothing else. Returns the sum, which wraps around.
static inline long webimage_atomic_add(long *number, long count) {
    return __atomic_add_fetch(number, count, __ATOMIC_RELAXED);
}

/// True on the thread that started the process.
bool webimage_is_main_thread(void);

/// Columns of the terminal behind `fd`, 0 when there is none.
int webimage_terminal_columns(int fd);

/// Columns and rows of the terminal behind `fd`, and the pixels that those take together, 0 for what it does not say. False
/// when there is none.
bool webimage_terminal_size(int fd, int *columns, int *rows, int *width, int *height);

/// Advises the kernel to back the block with huge pages.
void webimage_advise_huge_pages(void *base, size_t byte_count);

/// A block aligned to `alignment` (a power of two), NULL when there is no memory. Freed with `free`.
void *webimage_allocate_aligned(size_t alignment, size_t byte_count);

/// Bytes that a block of `malloc` really has.
size_t webimage_usable_size(void *block);

/// What the calling thread was told that its job has reserved of a memory budget; NULL for nothing.
void *webimage_reservation(void);
void webimage_set_reservation(void *reservation);

/// Names the calling thread; the system keeps 15 bytes.
void webimage_name_thread(const char *name);

/// Opens a directory as a place to find names in: neither its listing nor anything in it is read, so it needs no right but to
/// be passed through. `path` is relative to an open directory, or absolute, or `directory` is AT_FDCWD. Fails with ENOTDIR when the
/// last part of the path is a symbolic link. Returns the descriptor, or the negative error number.
int webimage_open_directory(int directory, const char *path);

/// Renames what one open directory has under a name to a name in another; with `exclusive`, fails with EEXIST when that exists.
/// Returns 0, or the negative error number.
int webimage_rename(int from_directory, const char *from, int to_directory, const char *to, bool exclusive);

/// Opens an existing file so that reading does not change its access time, if that can be had. `path` as above. Returns the
/// descriptor, or the negative error number.
int webimage_open_unnoticed(int directory, const char *path, int flags);

/// Sets the access time of an open file. Returns 0, or the negative error number.
int webimage_set_access_time(int fd, int64_t seconds, int64_t nanoseconds);

/// The processor that the calling thread runs on at the moment; 0 when the system does not say.
unsigned webimage_current_processor(void);

/// The end to read numbers of signals from, one byte each; made with the first call, which must be over before the next.
/// Returns the descriptor, or the negative error number.
int webimage_signal_pipe(void);

/// Has a signal written into that pipe when it comes, unless it is ignored now: then it stays so. Returns 0, or the negative
/// error number.
int webimage_send_signal_to_pipe(int number);

/// An allocator for libcurl over the C library's own, so that blocks of either may be freed by the other. It keeps up to 32
/// of the buffers that libcurl asks for and frees with every transfer: handed back to the C library, they are the top of
/// a thread's heap again and again, and their pages return to the kernel just to be faulted in anew.
void *webimage_transfer_malloc(size_t size);
void webimage_transfer_free(void *block);
void *webimage_transfer_realloc(void *block, size_t size);
void *webimage_transfer_calloc(size_t count, size_t size);
char *webimage_transfer_strdup(const char *text);

/// Frees the buffers that are kept.
void webimage_transfer_trim(void);

/// The MD5 of bytes: for names of files, not for anything that must withstand an attacker.
void webimage_md5(const void *bytes, size_t count, uint8_t digest[16]);

/// Notes that the process has threads of the library, which a child that it forks has not.
void webimage_note_thread(void);

/// Whether the process was forked from one that had such threads.
bool webimage_has_lost_threads(void);

/// How many bytes have been read from a TCP socket since it was connected. False where the system does not say.
bool webimage_socket_read_count(int socket, uint64_t *count);

/// The local port of a socket; 0 when it has none.
int webimage_socket_port(int socket);
