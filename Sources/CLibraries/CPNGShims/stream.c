#include "stream.h"

#include "filters.h"
#include "frame.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/// The number of inflated bytes that are buffered, unless a row is longer.
enum { BLOCK_BYTES = 1 << 16, PADDING = 16 };
/// Only the checksum may follow the last row. As in other decoders, other data there is ignored.
enum { TAIL_BYTES = 64 };

struct png_stream {
    struct inflate_state inflate;
    /// The offset of the next byte to become input.
    size_t offset;
    /// The end of a frame's chunks; 0 for the default image.
    size_t frame_end;
    /// The number of bytes of the chunk that are not input yet, and the checksum of the others.
    size_t chunk_left;
    uint32_t checksum;
    bool in_chunk;
    /// The offset of the end of the input.
    size_t input_end;
    size_t row_bytes;
    size_t bytes_per_pixel;
    /// The number of rows that have not been in the block.
    uint32_t rows_left;
    /// The last row of the previous call; the block follows it.
    uint8_t *above;
    uint8_t *block;
    size_t block_rows;
    /// The capacity of the block and its bytes, its complete rows, and those already read.
    size_t wanted;
    size_t held;
    size_t filled;
    size_t used;
    /// The number of bytes after the last row that are still tolerated.
    size_t tail_left;
    bool is_complete;
};

/// In place of an error: more data is needed.
static const char awaits_more[] = "the data ends too early";

png_stream *png_stream_create(size_t offset, size_t row_bytes, size_t bytes_per_pixel, uint32_t rows) {
    png_stream *stream = malloc(sizeof *stream);
    if (!stream) return NULL;
    // Without the 80 KiB before: the library initialises what it reads of them.
    memset((char *)stream + offsetof(png_stream, offset), 0, sizeof *stream - offsetof(png_stream, offset));
    stream->block_rows = BLOCK_BYTES / (row_bytes + 1);
    if (stream->block_rows < 1) stream->block_rows = 1;
    if (stream->block_rows > rows) stream->block_rows = rows;
    size_t block_bytes = (row_bytes + 1) * stream->block_rows;
    stream->above = malloc(row_bytes + PADDING + block_bytes + PADDING);
    if (!stream->above) {
        png_stream_destroy(stream);
        return NULL;
    }
    stream->block = stream->above + row_bytes + PADDING;
    memset(stream->above, 0, row_bytes + PADDING);
    memset(stream->block + block_bytes, 0, PADDING);
    stream->offset = offset;
    stream->row_bytes = row_bytes;
    stream->bytes_per_pixel = bytes_per_pixel;
    stream->rows_left = rows;
    stream->tail_left = TAIL_BYTES;
    isal_inflate_init(&stream->inflate);
    stream->inflate.crc_flag = ISAL_ZLIB;
    return stream;
}

void png_stream_read_frame(png_stream *stream, size_t end) { stream->frame_end = end; }

void png_stream_destroy(png_stream *stream) {
    if (!stream) return;
    free(stream->above);
    free(stream);
}

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static const char *next_frame_chunk(png_stream *stream, const uint8_t *bytes, size_t count) {
    const uint8_t *pixels;
    size_t length;
    const char *error = png_frame_chunk(bytes, count, &stream->offset, stream->frame_end, &pixels, &length);
    if (error) return error;
    if (!pixels) return "the pixels end too early";
    stream->inflate.next_in = (uint8_t *)pixels;
    stream->inflate.avail_in = (uint32_t)length;
    stream->input_end = (size_t)(pixels - bytes) + length;
    return NULL;
}

/// Ends the chunk that has completely become input, if its checksum is there.
static const char *end_chunk(png_stream *stream, const uint8_t *bytes, size_t count) {
    if (count - stream->offset < 4) return awaits_more;
    if (stream->checksum != big_endian(bytes + stream->offset)) return "IDAT: CRC error";
    stream->offset += 4;
    stream->in_chunk = false;
    return NULL;
}

static const char *begin_chunk(png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole) {
    if (stream->offset > count || count - stream->offset < 8) return awaits_more;
    const uint8_t *chunk = bytes + stream->offset;
    size_t length = big_endian(chunk);
    if (memcmp(chunk + 4, "IDAT", 4) != 0) return "the pixels end too early";
    if (length > INT32_MAX) return "a chunk is too long";
    // A chunk that will stay incomplete is not used.
    if (is_whole && length + 12 > count - stream->offset) return awaits_more;
    stream->checksum = crc32_gzip_refl(0, chunk + 4, 4);
    stream->chunk_left = length;
    stream->in_chunk = true;
    stream->offset += 8;
    return NULL;
}

/// Sets the available part of the current or the next IDAT chunk as input. The checksum of a chunk is checked once the chunk is complete: before its
/// bytes are used, unless it is received in pieces.
static const char *next_input(png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole) {
    if (stream->frame_end > 0) return next_frame_chunk(stream, bytes, count);
    for (;;) {
        const char *error = stream->in_chunk ? NULL : begin_chunk(stream, bytes, count, is_whole);
        if (error) return error;
        size_t there = count - stream->offset;
        size_t length = there < stream->chunk_left ? there : stream->chunk_left;
        if (length == 0 && stream->chunk_left > 0) return awaits_more;
        const uint8_t *input = bytes + stream->offset;
        stream->checksum = crc32_gzip_refl(stream->checksum, input, length);
        stream->offset += length;
        stream->chunk_left -= length;
        stream->input_end = stream->offset;
        if (stream->chunk_left == 0) {
            error = end_chunk(stream, bytes, count);
            if (error && (error != awaits_more || length == 0)) return error;
        }
        if (length == 0) continue;
        stream->inflate.next_in = (uint8_t *)input;
        stream->inflate.avail_in = (uint32_t)length;
        return NULL;
    }
}

/// Inflates until the output is full, or the stream or the input ends.
static const char *inflate_into(
    png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole, uint8_t *target, size_t capacity,
    size_t *written) {
    struct inflate_state *state = &stream->inflate;
    const char *error = NULL;
    state->next_out = target;
    state->avail_out = (uint32_t)capacity;
    while (state->avail_out > 0 && state->block_state != ISAL_BLOCK_FINISH) {
        uint32_t before = state->avail_out, input = state->avail_in;
        int result = isal_inflate(state);
        if (result < 0 || result == ISAL_NEED_DICT) {
            return result == ISAL_INCORRECT_CHECKSUM ? "the checksum of the pixels is wrong" : "the pixels are damaged";
        }
        if (state->block_state == ISAL_BLOCK_FINISH || state->avail_out == 0) break;
        if (state->avail_in > 0 && (state->avail_out != before || state->avail_in != input)) continue;
        if (state->avail_in > 0) return "the pixels are damaged";
        error = next_input(stream, bytes, count, is_whole);
        if (error) break;
    }
    *written = capacity - state->avail_out;
    return error;
}

/// Continues to fill the block, or starts again when all of it was read.
static const char *fill(png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole) {
    if (stream->held == stream->wanted) {
        size_t rows = stream->rows_left < stream->block_rows ? stream->rows_left : stream->block_rows;
        stream->wanted = rows * (stream->row_bytes + 1);
        stream->held = stream->filled = stream->used = 0;
        stream->rows_left -= (uint32_t)rows;
    }
    size_t written = 0;
    const char *error = inflate_into(
        stream, bytes, count, is_whole, stream->block + stream->held, stream->wanted - stream->held, &written);
    if (error && error != awaits_more) return error;
    stream->held += written;
    stream->filled = stream->held / (stream->row_bytes + 1);
    if (!error && stream->held < stream->wanted) return "the pixels end too early";
    return error;
}

/// Reads the data after the last row, up to the end of its chunk.
static const char *finish(png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole) {
    if (stream->tail_left > 0) {
        uint8_t rest[TAIL_BYTES];
        size_t written = 0;
        const char *error = inflate_into(stream, bytes, count, is_whole, rest, stream->tail_left, &written);
        if (error && error != awaits_more) return error;
        stream->tail_left = error ? stream->tail_left - written : 0;
        if (error) return error;
    }
    while (stream->in_chunk) {
        const char *error = stream->chunk_left > 0 ? next_input(stream, bytes, count, is_whole)
                                                   : end_chunk(stream, bytes, count);
        if (error) return error;
    }
    stream->is_complete = true;
    return NULL;
}

static const char *read_rows(
    png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole, uint8_t *base, size_t stride, uint32_t rows,
    uint32_t *got) {
    size_t row_bytes = stream->row_bytes;
    const uint8_t *above = stream->above;
    const char *error = NULL;
    uint32_t row = 0;
    for (; row < rows && !error; row++) {
        if (stream->used == stream->filled) error = fill(stream, bytes, count, is_whole);
        if (stream->used == stream->filled || (error && error != awaits_more)) break;
        error = NULL;
        const uint8_t *line = stream->block + stream->used * (row_bytes + 1);
        uint8_t *target = base + (size_t)row * stride;
        if (!png_unfilter(line[0], line + 1, above, target, row_bytes, stream->bytes_per_pixel)) {
            error = "a row has an invalid filter";
            break;
        }
        stream->used++;
        above = target;
    }
    if (row > 0) memmove(stream->above, above, row_bytes);
    *got = row;
    if (!error && stream->rows_left == 0 && stream->held == stream->wanted && stream->used == stream->filled) {
        error = finish(stream, bytes, count, is_whole);
    }
    return error;
}

const char *png_stream_read_available(
    png_stream *stream, const uint8_t *bytes, size_t count, bool is_whole, uint8_t *base, size_t stride, uint32_t rows,
    uint32_t *got) {
    *got = 0;
    if (stream->is_complete) return NULL;
    // The address of the bytes may have changed since the last call.
    if (stream->inflate.avail_in > 0) {
        stream->inflate.next_in = (uint8_t *)bytes + stream->input_end - stream->inflate.avail_in;
    }
    const char *error = read_rows(stream, bytes, count, is_whole, base, stride, rows, got);
    return error == awaits_more && !is_whole ? NULL : error;
}

const char *png_stream_read(
    png_stream *stream, const uint8_t *bytes, size_t count, uint8_t *base, size_t stride, uint32_t rows) {
    uint32_t got;
    return png_stream_read_available(stream, bytes, count, true, base, stride, rows, &got);
}

bool png_stream_is_complete(const png_stream *stream) { return stream->is_complete; }
