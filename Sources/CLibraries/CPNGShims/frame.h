// The pixels of one frame of an animated PNG, which lie in chunks of their own kind, handed out as if they were a picture.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A PNG file made of the frame as it is read: the header with the frame's size, the chunks about colours, the frame's pixels
/// as IDAT. Nothing of it is ever in memory as a whole.
typedef struct {
    uint32_t width;
    uint32_t height;
    /// Where the chunks with the frame's pixels begin in the file, and end.
    size_t start;
    size_t end;
    /// The next chunk of the file to be looked at.
    size_t offset;
    enum { FRAME_HEADER, FRAME_COLORS, FRAME_TRANSPARENCY, FRAME_PIXELS, FRAME_END } next;
    /// Bytes that are made here, and how many of them were handed out.
    uint8_t head[33];
    size_t head_count;
    size_t head_used;
    /// Bytes of the file that come after those.
    size_t body;
    size_t body_left;
    /// The checksum after those.
    uint8_t tail[4];
    size_t tail_left;
} png_frame;

/// Hands out the next `wanted` bytes; NULL when all is well, otherwise what is wrong.
const char *png_frame_read(png_frame *frame, const uint8_t *bytes, size_t count, uint8_t *to, size_t wanted);

/// Steps to the next chunk of pixels before `end`, and checks its checksum. `pixels` is NULL when there is none.
const char *png_frame_chunk(
    const uint8_t *bytes, size_t count, size_t *offset, size_t end, const uint8_t **pixels, size_t *length);
