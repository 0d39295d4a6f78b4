// What tests need of the system and `import Glibc` leaves out.
#pragma once
#include <stddef.h>

/// Opens the control side of a new terminal of `columns` columns and writes the path of its device to `path`; -1 on failure.
int ctest_open_terminal(int columns, char *path, size_t path_size);

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
