// The pixels of PNG files that are stored row by row with 8 bits per component: most files. Inflating is most of the
// work, and ISA-L does it about twice as fast as the zlib under libpng.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct png_stream png_stream;

/// Starts at the IDAT chunk whose length is at `offset`; NULL when there is no memory.
png_stream *png_stream_create(size_t offset, size_t row_bytes, size_t bytes_per_pixel, uint32_t rows);
/// Makes it read the frame of an animation, whose chunks begin at the offset that was given and end at `end`.
void png_stream_read_frame(png_stream *stream, size_t end);
void png_stream_destroy(png_stream *stream);

/// Reads the next rows; NULL when all is well, otherwise what is wrong.
const char *png_stream_read(
    png_stream *stream, const uint8_t *bytes, size_t count, uint8_t *base, size_t stride, uint32_t rows);

/// Reads as many of the next rows as the bytes so far hold, at most `rows`. With `is_whole` the bytes are all there will be, and
/// that one is missing is an error.
const char *png_stream_read_available(
    png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole, uint8_t *base, size_t stride, uint32_t rows,
    uint32_t *got);

/// Whether all rows were read, and the checksums after them were found right.
bool png_stream_is_complete(const png_stream *stream);
