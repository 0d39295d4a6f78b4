#include "frame.h"

#include <isa-l/crc.h>
#include <string.h>

enum { SIGNATURE_AND_HEADER = 33, CHUNK_OVERHEAD = 12, SEQUENCE_BYTES = 4 };

static uint32_t get32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/// Returns the length of the chunk's content if the chunk is complete.
static bool chunk_length(const uint8_t *bytes, size_t count, size_t offset, size_t *length) {
    if (offset > count || count - offset < CHUNK_OVERHEAD) return false;
    *length = get32(bytes + offset);
    return *length <= INT32_MAX && *length <= count - offset - CHUNK_OVERHEAD;
}

const char *png_frame_chunk(
    const uint8_t *bytes, size_t count, size_t *offset, size_t end, const uint8_t **pixels, size_t *length) {
    *pixels = NULL;
    while (*offset < end) {
        size_t content;
        if (!chunk_length(bytes, count, *offset, &content)) return "the data ends too early";
        const uint8_t *chunk = bytes + *offset;
        *offset += content + CHUNK_OVERHEAD;
        if (memcmp(chunk + 4, "fdAT", 4) != 0) continue;
        if (content < SEQUENCE_BYTES) return "fdAT: too short";
        if (crc32_gzip_refl(0, chunk + 4, content + 4) != get32(chunk + 8 + content)) return "fdAT: CRC error";
        *pixels = chunk + 8 + SEQUENCE_BYTES;
        *length = content - SEQUENCE_BYTES;
        return NULL;
    }
    return NULL;
}

static void begin(png_frame *frame, const uint8_t *bytes) {
    memcpy(frame->head, bytes, SIGNATURE_AND_HEADER);
    put32(frame->head + 16, frame->width);
    put32(frame->head + 20, frame->height);
    put32(frame->head + 29, crc32_gzip_refl(0, frame->head + 12, 17));
    frame->head_count = SIGNATURE_AND_HEADER;
    frame->offset = SIGNATURE_AND_HEADER;
    frame->next = FRAME_COLORS;
}

/// Returns the next chunk with colour information; false when the pixels of the default image begin.
static bool next_color_chunk(png_frame *frame, const uint8_t *bytes, size_t count, const char *kinds) {
    size_t length;
    while (frame->offset < frame->start && chunk_length(bytes, count, frame->offset, &length)) {
        const uint8_t *kind = bytes + frame->offset + 4;
        if (memcmp(kind, "IDAT", 4) == 0) return false;
        size_t start = frame->offset;
        frame->offset += length + CHUNK_OVERHEAD;
        for (size_t i = 0; kinds[i]; i += 4) {
            if (memcmp(kind, kinds + i, 4) != 0) continue;
            frame->body = start;
            frame->body_left = length + CHUNK_OVERHEAD;
            return true;
        }
    }
    return false;
}

static const char *next_pixels(png_frame *frame, const uint8_t *bytes, size_t count) {
    const uint8_t *pixels;
    size_t length;
    const char *error = png_frame_chunk(bytes, count, &frame->offset, frame->end, &pixels, &length);
    if (error) return error;
    put32(frame->head, pixels ? (uint32_t)length : 0);
    memcpy(frame->head + 4, pixels ? "IDAT" : "IEND", 4);
    uint32_t checksum = crc32_gzip_refl(0, frame->head + 4, 4);
    frame->head_count = 8;
    if (pixels) {
        checksum = crc32_gzip_refl(checksum, pixels, length);
        frame->body = (size_t)(pixels - bytes);
        frame->body_left = length;
    } else {
        frame->next = FRAME_END;
    }
    put32(frame->tail, checksum);
    frame->tail_left = 4;
    return NULL;
}

static const char *refill(png_frame *frame, const uint8_t *bytes, size_t count) {
    frame->head_count = frame->head_used = 0;
    switch (frame->next) {
    case FRAME_HEADER:
        if (count < SIGNATURE_AND_HEADER) return "the data ends too early";
        begin(frame, bytes);
        return NULL;
    case FRAME_COLORS:
        if (next_color_chunk(frame, bytes, count, "PLTEgAMAcHRMsRGBiCCPsBIT")) return NULL;
        frame->offset = SIGNATURE_AND_HEADER;
        frame->next = FRAME_TRANSPARENCY;
        return refill(frame, bytes, count);
    case FRAME_TRANSPARENCY:
        // Last, because libpng rejects it before a palette.
        if (next_color_chunk(frame, bytes, count, "tRNS")) return NULL;
        frame->offset = frame->start;
        frame->next = FRAME_PIXELS;
        return next_pixels(frame, bytes, count);
    case FRAME_PIXELS: return next_pixels(frame, bytes, count);
    case FRAME_END: break;
    }
    return "the pixels end too early";
}

const char *png_frame_read(png_frame *frame, const uint8_t *bytes, size_t count, uint8_t *to, size_t wanted) {
    while (wanted > 0) {
        const uint8_t *from;
        size_t *left, have;
        if (frame->head_used < frame->head_count) {
            from = frame->head + frame->head_used;
            have = frame->head_count - frame->head_used;
            left = NULL;
        } else if (frame->body_left > 0) {
            // Checked to be within the bytes with its chunk; the number of bytes does not change.
            from = bytes + frame->body;
            have = frame->body_left;
            left = &frame->body_left;
        } else if (frame->tail_left > 0) {
            from = frame->tail + 4 - frame->tail_left;
            have = frame->tail_left;
            left = &frame->tail_left;
        } else {
            const char *error = refill(frame, bytes, count);
            if (error) return error;
            continue;
        }
        size_t taken = have < wanted ? have : wanted;
        memcpy(to, from, taken);
        to += taken;
        wanted -= taken;
        if (left == &frame->body_left) frame->body += taken;
        if (left) {
            *left -= taken;
        } else {
            frame->head_used += taken;
        }
    }
    return NULL;
}
