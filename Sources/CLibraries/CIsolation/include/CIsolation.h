// The Linux interfaces for decoding in worker processes: starting them, exchanging messages, shared memory, and the sandbox.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: Processes

/// The descriptors that a worker inherits: its end of the socket pair, and the memory that encoded bytes are written to.
enum { webimage_worker_socket = 3, webimage_worker_bytes = 4 };

/// Starts a worker with only its socket and its memory open; standard error stays open if requested. The worker is in a separate
/// process group, so that a terminal's signals go only to the program.
///
/// Returns a descriptor of the process (pidfd), or the negative error number. The worker must die with the thread that calls this.
int webimage_worker_spawn(
    const char *program, char *const *arguments, char *const *environment, int socket, int bytes, bool keeps_errors);

/// How a process ended.
struct webimage_process_end {
    /// The signal that ended it; 0 if it exited by itself.
    int signal;
    /// Its exit status.
    int code;
};

/// Waits at most that many milliseconds for the end. Returns 1 if it has ended, 0 if not, and the negative error number if its end
/// was already collected elsewhere.
int webimage_process_wait(int process, int milliseconds, struct webimage_process_end *end);

/// Kills it at once.
void webimage_process_kill(int process);

// MARK: Messages

/// Makes a socket pair that preserves message boundaries. Returns 0, or the negative error number.
int webimage_message_pair(int ends[2]);

/// Sends a message, with a descriptor unless that is -1. Does not block unless `waits` is set; then it also waits until receivers
/// have taken some of the descriptors in transit, whose number is limited to that of the descriptors this process may have open.
/// Returns 0, or the negative error number.
int webimage_message_send(int socket, const void *bytes, size_t count, int descriptor, bool waits);

/// Receives a message and at most one descriptor (-1 if there was none); others are closed. Waits at most that many milliseconds,
/// without limit if negative. Returns the length, 0 at the end, and the negative error number: ETIMEDOUT, EMSGSIZE for a longer
/// message.
ssize_t webimage_message_receive(int socket, void *buffer, size_t capacity, int milliseconds, int *descriptor);

// MARK: Memory

/// Creates memory that can be handed to another process (memfd). Returns a descriptor, or the negative error number.
int webimage_memory_create(size_t byte_count);

/// Maps it for reading and writing with all pages present; huge pages if the system provides them on request. NULL on failure.
void *webimage_memory_map(int descriptor, size_t byte_count);

/// Maps it for reading with all pages present. NULL on failure.
const void *webimage_memory_map_readonly(int descriptor, size_t byte_count);

/// Maps memory of another process for reading with all pages present, whether that process still writes to it or it is sealed. NULL
/// on failure.
const void *webimage_memory_map_private(int descriptor, size_t byte_count);

/// Seals bytes and size permanently. There must be no mapping for writing. Returns 0, or the negative error number.
int webimage_memory_seal(int descriptor);

/// Returns whether it has that many bytes, and all their pages.
bool webimage_memory_is_whole(int descriptor, size_t byte_count);

/// Allocates all missing pages of the first bytes of sealed memory; costs nothing if they exist. Reading a missing page would end a
/// process that has no memory left for it. Returns 0, or the negative error number.
int webimage_memory_fill(int descriptor, size_t byte_count);

/// Returns its size if bytes and size are sealed; else the negative error number.
ssize_t webimage_memory_sealed_size(int descriptor);

/// Writes all bytes at the beginning, and enlarges it if necessary. Returns 0, or the negative error number.
int webimage_memory_write(int descriptor, const void *bytes, size_t count);

// MARK: Walls

/// The settings of a worker's sandbox. Every part applies that the kernel supports.
struct webimage_sandbox {
    /// The directories that may be read, ended by NULL; NULL for no files at all. Needs Landlock.
    const char *const *readable;
    /// The maximum number of bytes of address space beyond what is already used, and of one block of shared memory.
    size_t memory;
    /// The maximum number of descriptors beyond those that are open.
    unsigned descriptors;
};

/// The parts of the sandbox that are in force.
struct webimage_walls {
    /// Indicates whether system calls are filtered.
    bool seccomp;
    /// The version of Landlock; 0 without it.
    int landlock;
    /// Indicates whether directories can be read.
    bool reads_files;
    /// The number of threads; 0 if not known. Only the filter applies to other threads than the one that entered the sandbox.
    int threads;
    /// Indicates whether memory is bounded: this needs the amount already in use.
    bool bounded;
};

/// Ends the process with the thread that started it.
void webimage_sandbox_die_with_parent(void);

/// Installs handlers that report crashes on the socket, and return results for system calls that the filter blocks.
void webimage_sandbox_report_crashes(void);

/// Enters the sandbox, permanently.
struct webimage_walls webimage_sandbox_enter(const struct webimage_sandbox *sandbox);

/// Limits the size of a block of shared memory and the total processor time of the process in seconds: permanently, and within the
/// limits of `webimage_sandbox_enter`. The process is killed when it exceeds the time, whatever it does.
void webimage_sandbox_bind(size_t piece, uint64_t seconds);

/// Allows the process that many bytes of address space beyond those in use, and that many more seconds of processor time; within
/// the limits of `webimage_sandbox_enter`.
void webimage_sandbox_allow(size_t byte_count, unsigned seconds);

/// Configures the C library's heap not to hold memory back for threads and sizes, and not to return blocks with earlier content.
void webimage_sandbox_tame_heap(void);

/// The message of a crashing worker, in the machine's byte order.
struct webimage_crash {
    uint32_t magic;
    int32_t signal;
    /// The number of the blocked system call, or -1.
    int32_t call;
    /// Indicates whether 64 MiB more could not be mapped.
    int32_t is_out_of_memory;
    /// The number of bytes of address space that were allowed.
    uint64_t allowed;
    /// The name of the call, and its path; both end with 0.
    char name[24];
    char path[120];
};

enum { webimage_crash_magic = 0x48535243 };
