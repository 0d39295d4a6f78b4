#include "stream.h"

#include "filters.h"
#include "frame.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

/// Inflated bytes that are kept at a time, if a row is not longer.
enum { BLOCK_BYTES = 1 << 16, PADDING = 16 };

struct png_stream {
    struct inflate_state inflate;
    size_t offset;
    /// Where the chunks of a frame end; 0 for the picture itself.
    size_t frame_end;
    size_t row_bytes;
    size_t bytes_per_pixel;
    uint32_t rows_left;
    /// The last row of the call before.
    uint8_t *above;
    uint8_t *block;
    size_t block_rows;
    /// Rows in the block, and those handed out.
    size_t filled;
    size_t used;
};

png_stream *png_stream_create(size_t offset, size_t row_bytes, size_t bytes_per_pixel, uint32_t rows) {
    png_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->block_rows = BLOCK_BYTES / (row_bytes + 1);
    if (stream->block_rows < 1) stream->block_rows = 1;
    if (stream->block_rows > rows) stream->block_rows = rows;
    stream->above = calloc(1, row_bytes + PADDING);
    stream->block = calloc(1, (row_bytes + 1) * stream->block_rows + PADDING);
    if (!stream->above || !stream->block) {
        png_stream_destroy(stream);
        return NULL;
    }
    stream->offset = offset;
    stream->row_bytes = row_bytes;
    stream->bytes_per_pixel = bytes_per_pixel;
    stream->rows_left = rows;
    isal_inflate_init(&stream->inflate);
    stream->inflate.crc_flag = ISAL_ZLIB;
    return stream;
}

void png_stream_read_frame(png_stream *stream, size_t end) { stream->frame_end = end; }

void png_stream_destroy(png_stream *stream) {
    if (!stream) return;
    free(stream->above);
    free(stream->block);
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
    return NULL;
}

/// Makes the next chunk of pixels the input, once its checksum is found right.
static const char *next_chunk(png_stream *stream, const uint8_t *bytes, size_t count) {
    if (stream->frame_end > 0) return next_frame_chunk(stream, bytes, count);
    if (stream->offset > count || count - stream->offset < 12) return "the data ends too early";
    const uint8_t *chunk = bytes + stream->offset;
    size_t length = big_endian(chunk);
    if (memcmp(chunk + 4, "IDAT", 4) != 0) return "the pixels end too early";
    if (length > INT32_MAX || length > count - stream->offset - 12) return "the data ends too early";
    if (crc32_gzip_refl(0, chunk + 4, length + 4) != big_endian(chunk + 8 + length)) return "IDAT: CRC error";
    stream->inflate.next_in = (uint8_t *)chunk + 8;
    stream->inflate.avail_in = (uint32_t)length;
    stream->offset += length + 12;
    return NULL;
}

/// Inflates until there is no more room for output, or the stream ends.
static const char *inflate_into(
    png_stream *stream, const uint8_t *bytes, size_t count, uint8_t *target, size_t capacity, size_t *written) {
    struct inflate_state *state = &stream->inflate;
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
        const char *error = next_chunk(stream, bytes, count);
        if (error) return error;
    }
    *written = capacity - state->avail_out;
    return NULL;
}

static const char *fill(png_stream *stream, const uint8_t *bytes, size_t count) {
    size_t rows = stream->rows_left < stream->block_rows ? stream->rows_left : stream->block_rows;
    size_t wanted = rows * (stream->row_bytes + 1), written = 0;
    const char *error = inflate_into(stream, bytes, count, stream->block, wanted, &written);
    if (error) return error;
    if (written < wanted) return "the pixels end too early";
    stream->filled = rows;
    stream->used = 0;
    stream->rows_left -= (uint32_t)rows;
    if (stream->rows_left > 0) return NULL;
    // After the last row comes only the checksum. What comes instead is left, as other decoders do.
    uint8_t rest[64];
    return inflate_into(stream, bytes, count, rest, sizeof rest, &written);
}

const char *png_stream_read(
    png_stream *stream, const uint8_t *bytes, size_t count, uint8_t *base, size_t stride, uint32_t rows) {
    size_t row_bytes = stream->row_bytes;
    // The bytes may be at another place than at the call before.
    if (stream->inflate.avail_in > 0) {
        size_t left = stream->inflate.avail_in;
        stream->inflate.next_in = (uint8_t *)bytes + stream->offset - 4 - left;
    }
    const uint8_t *above = stream->above;
    for (uint32_t row = 0; row < rows; row++) {
        if (stream->used == stream->filled) {
            const char *error = fill(stream, bytes, count);
            if (error) return error;
        }
        const uint8_t *line = stream->block + stream->used * (row_bytes + 1);
        uint8_t *target = base + (size_t)row * stride;
        if (!png_unfilter(line[0], line + 1, above, target, row_bytes, stream->bytes_per_pixel)) {
            return "a row has a filter that does not exist";
        }
        stream->used++;
        above = target;
    }
    if (rows > 0) memmove(stream->above, above, row_bytes);
    return NULL;
}
