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
