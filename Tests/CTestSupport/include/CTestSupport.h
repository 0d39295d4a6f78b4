// System functions for tests that `import Glibc` leaves out.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Opens the control side of a new terminal of `columns` columns and writes the path of its device to `path`; -1 on failure.
int ctest_open_terminal(int columns, char *path, size_t path_size);

/// Makes a pipe that is not inherited by programs which another thread starts: they would hold its ends open. Returns 0, or -1.
int ctest_pipe(int ends[2]);

/// Accepts a connection that programs do not inherit either; -1 on failure.
int ctest_accept(int listener);

/// Starts `program` in `directory` with the three standard streams on the given descriptors. Returns its process id, or the
/// negative error number.
int ctest_spawn(
    const char *program, char *const *arguments, char *const *environment, const char *directory, int input, int output,
    int errors);

/// Moves the calling thread to that processor, if it may run there. It may be moved away again at any time.
void ctest_move_thread(int processor);

/// Returns a descriptor that becomes readable when a file in a directory was written to, or closed after that; -1 on failure.
int ctest_watch_directory(const char *path);

/// Returns a descriptor that becomes readable when a process has ended; -1 on failure.
int ctest_open_process(int pid);

/// Waits for either of the two. Returns 1 for a change in the directory, -1 for the end of the process, 0 for neither within
/// the time. Calls interrupted by a signal return early.
int ctest_wait_for_change(int watch, int process, int milliseconds);

/// Has the C library take all memory from one heap, and give big blocks back when they are freed. For programs whose address space is
/// limited, before their first thread.
void ctest_limit_heaps(void);

/// Runs the blocks of the main queue, waiting for one at most this long, as programs do in the loop of their toolkit. Call it on
/// the main thread. Returns 1 if there was a block, 0 if not.
int ctest_run_main_queue(int milliseconds);

/// Returns whether the fault library of `Tests/FaultShim` is preloaded.
int ctest_has_faults(void);
/// `fault_begin`, `fault_end` and `fault_disturbed` of that library. Without it they do nothing, return 0 and return -1.
void ctest_begin_faults(
    const char *directory, long first, long last, int action, long value, unsigned long calls);
long ctest_end_faults(void);
int ctest_disturbed_fault(void);

/// Forks this process, which must have one thread. Returns 0 in the copy, its process id in this one, -1 on failure.
int ctest_fork(void);

/// Returns memory of `count` zeros that copies made by `ctest_fork` share with this process; NULL on failure.
long *ctest_shared_numbers(int count);

/// Returns the number of open descriptors of this process at `path` or below; of all if it is NULL.
int ctest_open_descriptors(const char *path);

/// Sets the soft limits of descriptors, bytes of address space, and bytes of a file of this process; -1 keeps a limit. A write
/// beyond the last of them fails instead of ending the process. Returns 0, or -1.
int ctest_limit(long descriptors, long memory, long file_size);

/// Stops the file system at `path`, which must be ext4, as a power cut does. Returns 0, or -1.
int ctest_cut_power(const char *path);

/// Writes a file system's buffers to its disk. Returns 0, or -1.
int ctest_synchronize(int fd);

/// Returns whether files at `path` can have extended attributes.
int ctest_has_attributes(const char *path);

/// Returns the number of the calling thread. A thread can get the handle (`pthread_self`) of one that has ended, but not its number.
int ctest_thread_number(void);

/// Sets whether lookups of `held.invalid` block. Otherwise they fail at once.
void ctest_hold_names(int holds);

/// Waits, at most this many seconds, until a lookup of that name blocks. Returns whether one does.
int ctest_wait_for_held_name(int seconds);

/// The differences of the components of pixels: the largest, their sum, and the sum of their squares.
struct ctest_difference {
    int maximum;
    long sum;
    long squares;
};

/// Compares premultiplied pixels, RGB (3 channels) or BGRA (4), with expected ones of 1 to 4 channels with straight alpha, which are premultiplied
/// here, exactly rounded. Swift code that is not optimized takes a hundred times as long for each pixel, as for the bytes below.
struct ctest_difference ctest_compare_pixels(
    const uint8_t *rows, size_t bytes_per_row, int found_channels, const uint8_t *samples, int channels, size_t width,
    size_t height);

/// Converts pixels, with alpha 255.
void ctest_rgb_to_bgra(const uint8_t *rgb, uint8_t *bgra, size_t count);

/// Whether all of some BGRA pixels have this alpha.
int ctest_have_alpha(const uint8_t *pixels, size_t count, uint8_t alpha);

/// The number of pixels of four bytes of which one differs from that of a colour by more than 1.
long ctest_count_unlike(const uint8_t *pixels, size_t count, const uint8_t *colour);

/// The largest difference of two bytes in the same place.
long ctest_worst_difference(const uint8_t *first, const uint8_t *second, size_t count);

/// Continues a checksum of PNG, which begins and ends inverted.
uint32_t ctest_crc32(uint32_t crc, const uint8_t *bytes, size_t count);
