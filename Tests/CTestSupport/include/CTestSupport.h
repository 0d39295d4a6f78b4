// What tests need of the system and `import Glibc` leaves out.
#pragma once
#include <stddef.h>

/// Opens the control side of a new terminal of `columns` columns and writes the path of its device to `path`; -1 on failure.
int ctest_open_terminal(int columns, char *path, size_t path_size);

/// Makes a pipe that programs do not inherit which another thread starts: they would hold its ends open. 0, or -1.
int ctest_pipe(int ends[2]);

/// Accepts a connection, which programs do not inherit either; -1 on failure.
int ctest_accept(int listener);

/// Starts `program` in `directory` with the three standard streams on the given descriptors; its process id, or the negative
/// error number.
int ctest_spawn(
    const char *program, char *const *arguments, char *const *environment, const char *directory, int input, int output,
    int errors);

/// A descriptor that tells when a file in a directory was written to, or closed after that; -1 on failure.
int ctest_watch_directory(const char *path);

/// A descriptor that tells when a process has ended; -1 on failure.
int ctest_open_process(int pid);

/// Waits for what either of the two tells: 1 for a change in the directory, -1 for the end of the process, 0 for neither
/// within the time. Calls that a signal interrupts are over early.
int ctest_wait_for_change(int watch, int process, int milliseconds);

/// Has the C library take all memory from one heap, and give big blocks back when they are freed. For programs whose address space is
/// limited, before their first thread.
void ctest_limit_heaps(void);

/// Runs what the main queue holds, waiting for something so long at most: what programs do in the loop of their toolkit. To be
/// called on the main thread. 1 when there was something, 0 when not.
int ctest_run_main_queue(int milliseconds);

/// What a preloaded library for faults does; `Tests/FaultShim` has it. Whether it is there.
int ctest_has_faults(void);
/// `fault_begin`, `fault_end` and `fault_disturbed` of that library; nothing, 0 and -1 without it.
void ctest_begin_faults(
    const char *directory, long first, long last, int action, long value, unsigned long calls);
long ctest_end_faults(void);
int ctest_disturbed_fault(void);

/// A copy of this process, which must have one thread: 0 in the copy, its process id in this one, -1 on failure.
int ctest_fork(void);

/// Memory of `count` numbers, all 0, that copies made by `ctest_fork` share with this process; NULL on failure.
long *ctest_shared_numbers(int count);

/// How many descriptors of this process are open on something at `path` or below; of all if it is NULL.
int ctest_open_descriptors(const char *path);

/// Bounds the descriptors, the bytes of address space, and the bytes of a file that this process may have, as far as it may be
/// bounded otherwise later; -1 leaves a bound as it is. A write beyond the last of them fails instead of ending the process. Returns 0, or -1.
int ctest_limit(long descriptors, long memory, long file_size);

/// Stops the file system at `path`, which must be ext4, as a power cut does. Returns 0, or -1.
int ctest_cut_power(const char *path);

/// Writes what a file system has in memory to its disk. Returns 0, or -1.
int ctest_synchronize(int fd);

/// Whether files at `path` can have extended attributes.
int ctest_has_attributes(const char *path);

/// The number of the calling thread. A thread can get the handle (`pthread_self`) of one that has ended, but not its number.
int ctest_thread_number(void);

/// Whether the name service keeps whoever asks it for `held.invalid` waiting. Without, it knows nothing of that name, at once.
void ctest_hold_names(int holds);

/// Waits, so many seconds at most, until somebody is kept waiting for that name. Whether somebody is.
int ctest_wait_for_held_name(int seconds);
