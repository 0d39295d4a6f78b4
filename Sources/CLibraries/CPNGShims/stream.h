// Reads the pixels of PNG files that are stored row by row with 8 bits per component: most files. Inflating dominates the cost, and ISA-L
// does it about twice as fast as libpng's zlib.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct png_stream png_stream;

/// Starts at the IDAT chunk whose length is at `offset`; NULL without memory.
png_stream *png_stream_create(size_t offset, size_t row_bytes, size_t bytes_per_pixel, uint32_t rows);
/// Sets the frame of an animation to read, whose chunks begin at the given offset and end at `end`.
void png_stream_read_frame(png_stream *stream, size_t end);
void png_stream_destroy(png_stream *stream);

/// Reads the next rows; returns NULL on success, otherwise an error message.
const char *png_stream_read(
    png_stream *stream, const uint8_t *bytes, size_t count, uint8_t *base, size_t stride, uint32_t rows);

/// Reads as many of the next rows as are available, at most `rows`. With `is_whole` the bytes are complete, and a missing one is an error.
const char *png_stream_read_available(
    png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole, uint8_t *base, size_t stride, uint32_t rows,
    uint32_t *got);

/// Returns whether all rows were read, and the checksums after them were correct.
bool png_stream_is_complete(const png_stream *stream);
