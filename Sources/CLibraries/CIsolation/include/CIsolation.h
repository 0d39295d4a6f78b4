// What decoding in processes of their own needs of Linux: starting them, talking to them, shared memory, and the walls around them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: Processes

/// Where a worker finds what it was given: its end of the pair of sockets, and the memory that encoded bytes are put into.
enum { webimage_worker_socket = 3, webimage_worker_bytes = 4 };

/// Starts a worker with nothing open but its socket and its memory; standard error stays open if it is to be seen. It is in a group of
/// processes of its own, so that a terminal's signals go to the program alone.
///
/// Returns a descriptor of the process, or the negative error number. The worker is told to die with the thread that calls this.
int webimage_worker_spawn(
    const char *program, char *const *arguments, char *const *environment, int socket, int bytes, bool keeps_errors);

/// How a process ended.
struct webimage_process_end {
    /// The signal that ended it, 0 when it ended by itself.
    int signal;
    /// What it returned.
    int code;
};

/// Waits so many milliseconds at most for the end. Returns 1 when it has ended, 0 when not, and the negative error number when somebody
/// else has heard of its end already.
int webimage_process_wait(int process, int milliseconds, struct webimage_process_end *end);

/// Ends it at once.
void webimage_process_kill(int process);

// MARK: Messages

/// Two ends of a connection that keeps messages apart. Returns 0, or the negative error number.
int webimage_message_pair(int ends[2]);

/// Sends a message, with a descriptor unless that is -1. Waits for nothing if it is not to; else also until others have received some of the
/// descriptors that are under way: there may be no more of those than this process may have open. Returns 0, or the negative error number.
int webimage_message_send(int socket, const void *bytes, size_t count, int descriptor, bool waits);

/// Receives a message and at most one descriptor (-1 when there was none); more are closed. Waits so many milliseconds at most, for ever
/// when that is negative. Returns the length, 0 at the end, and the negative error number: ETIMEDOUT, EMSGSIZE for a longer message.
ssize_t webimage_message_receive(int socket, void *buffer, size_t capacity, int milliseconds, int *descriptor);

// MARK: Memory

/// Memory that can be handed to another process. Returns a descriptor, or the negative error number.
int webimage_memory_create(size_t byte_count);

/// Maps it for reading and writing, its pages there already; huge ones where the system gives such for the asking. NULL on failure.
void *webimage_memory_map(int descriptor, size_t byte_count);

/// Maps it for reading, its pages there already. NULL on failure.
const void *webimage_memory_map_readonly(int descriptor, size_t byte_count);

/// Maps memory of another process for reading, its pages there already, whether that still writes to it or it is sealed. NULL on failure.
const void *webimage_memory_map_private(int descriptor, size_t byte_count);

/// Takes away every way to change bytes or size, for ever. There must be no mapping for writing. Returns 0, or the negative error number.
int webimage_memory_seal(int descriptor);

/// Whether it has so many bytes, and all their pages.
bool webimage_memory_is_whole(int descriptor, size_t byte_count);

/// Gives the first bytes of sealed memory all their pages, which takes no time when they are there. To look at a page that is missing would
/// end a process that has no memory for it. Returns 0, or the negative error number.
int webimage_memory_fill(int descriptor, size_t byte_count);

/// Its size if nobody can change bytes or size any more; else the negative error number.
ssize_t webimage_memory_sealed_size(int descriptor);

/// Writes all bytes at the beginning, growing it where it is smaller. Returns 0, or the negative error number.
int webimage_memory_write(int descriptor, const void *bytes, size_t count);

// MARK: Walls

/// What stands between a worker and the system. Nothing is missing where the kernel has it.
struct webimage_sandbox {
    /// Directories that may be read, ended by NULL; NULL for no files at all. Needs Landlock.
    const char *const *readable;
    /// Most bytes of address space beyond what is taken already, and most of one piece of shared memory.
    size_t memory;
    /// Most descriptors beyond those that are open.
    unsigned descriptors;
};

/// What of it stands.
struct webimage_walls {
    /// Whether the filter of system calls holds.
    bool seccomp;
    /// The version of Landlock, 0 without.
    int landlock;
    /// Whether directories can be read.
    bool reads_files;
    /// Threads that there were, 0 where the system does not say. No wall but the filter holds others than the one that put them up.
    int threads;
    /// Whether memory is bounded: the system has to say how much there is already.
    bool bounded;
};

/// Ends with the thread that began the process.
void webimage_sandbox_die_with_parent(void);

/// Reports crashes on the socket, and answers system calls that the filter does not let through.
void webimage_sandbox_report_crashes(void);

/// Puts up the walls, for ever.
struct webimage_walls webimage_sandbox_enter(const struct webimage_sandbox *sandbox);

/// Lets no piece of shared memory be bigger, and the process run for no more seconds of processor time in all its life: for ever, and within
/// what `webimage_sandbox_enter` allowed. What goes beyond the time ends it, whatever it does.
void webimage_sandbox_bind(size_t piece, uint64_t seconds);

/// Lets the process take so many bytes of address space more than it has, and so many seconds of processor time; within what
/// `webimage_sandbox_enter` allowed.
void webimage_sandbox_allow(size_t byte_count, unsigned seconds);

/// Keeps the C library from holding memory back for threads and sizes that were seen, and from handing out what was in memory before.
void webimage_sandbox_tame_heap(void);

/// What a worker sends when it crashes, in the machine's byte order.
struct webimage_crash {
    uint32_t magic;
    int32_t signal;
    /// The number of the system call that was not let through, or -1.
    int32_t call;
    /// Whether 64 MiB more were not to be had.
    int32_t is_out_of_memory;
    /// Bytes of address space that were allowed.
    uint64_t allowed;
    /// The name of the call, and the path that it was about; 0 ends them.
    char name[24];
    char path[120];
};

enum { webimage_crash_magic = 0x48535243 };
