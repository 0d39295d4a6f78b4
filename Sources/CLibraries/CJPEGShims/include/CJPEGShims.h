// Wraps libjpeg-turbo in functions that return a status. Its errors are longjmps, which must never cross a Swift frame: each function here
// catches them. An object must be used by one thread at a time, and after an error it may only be freed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum webimage_jpeg_status {
    webimage_jpeg_ok = 0,
    /// The data is damaged or ends too early.
    webimage_jpeg_bad_data,
    /// The same, but an error that libjpeg only detects where bytes are running out, so not always.
    webimage_jpeg_bad_code,
    /// More scans than allowed.
    webimage_jpeg_too_many_scans,
    webimage_jpeg_no_memory,
    /// The deadline set by webimage_jpeg_decoder_limit has passed, or a copy is no longer wanted.
    webimage_jpeg_too_late,
    /// A copy has more bytes than allowed.
    webimage_jpeg_too_large,
    /// Not an error: more bytes are needed to continue.
    webimage_jpeg_suspended,
};

enum webimage_jpeg_pixels {
    webimage_jpeg_gray,
    webimage_jpeg_rgb,
    /// Blue, green, red, 255.
    webimage_jpeg_bgra,
    /// As stored, which by convention is inverted: 255 means no ink.
    webimage_jpeg_cmyk,
};

struct webimage_jpeg_decoder;

/// Creates a decoder of bytes in memory, which must stay valid until it is freed. NULL without memory.
struct webimage_jpeg_decoder *webimage_jpeg_decoder_create(const uint8_t *data, size_t byte_count);
/// Sets the bytes that follow those in memory, before the first of the calls below. They must stay valid, too.
void webimage_jpeg_decoder_append(struct webimage_jpeg_decoder *decoder, const uint8_t *data, size_t byte_count);
void webimage_jpeg_decoder_free(struct webimage_jpeg_decoder *decoder);
/// Returns libjpeg's message of the error; empty without an error.
const char *webimage_jpeg_decoder_message(const struct webimage_jpeg_decoder *decoder);

/// Sets a deadline for the following calls, in nanoseconds on the monotonic clock; 0, the initial value, means none. It is checked between rows of
/// blocks, in every scan.
void webimage_jpeg_decoder_limit(struct webimage_jpeg_decoder *decoder, uint64_t deadline);

/// Paints over damage from here on, where libjpeg can, instead of failing. Missing data is still an error.
void webimage_jpeg_decoder_tolerate_damage(struct webimage_jpeg_decoder *decoder);
/// Returns whether damage was painted over so far.
bool webimage_jpeg_decoder_is_damaged(const struct webimage_jpeg_decoder *decoder);

/// Reads the header and starts; for a progressive image this reads all scans. The image is scaled by `eighths` / 8 (1...8), sides rounded
/// up.
enum webimage_jpeg_status webimage_jpeg_decoder_start(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height);

/// Decodes the next `count` rows. The last row succeeds only if no part of the image is missing.
enum webimage_jpeg_status webimage_jpeg_decoder_read(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row);

// Incremental decoding uses the same object, created without bytes, and these functions in place of start and read.

/// Sets the bytes so far, whose address may change between calls and which must stay valid during the next calls. Used bytes are not accessed again.
void webimage_jpeg_decoder_feed(
    struct webimage_jpeg_decoder *decoder, const uint8_t *data, size_t byte_count, bool is_whole);

/// Reads the header and starts. An image that `has_scans` has several, each of which improves it: absorb reads its bytes and passes read its rows.
/// Other images are read row by row.
enum webimage_jpeg_status webimage_jpeg_decoder_begin(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height, bool *has_scans);

/// Decodes the available rows; `base` is the first row of the image. `row_count` becomes the number of decoded rows. OK when all are decoded.
enum webimage_jpeg_status webimage_jpeg_decoder_read_available(
    struct webimage_jpeg_decoder *decoder, uint8_t *base, size_t bytes_per_row, unsigned *row_count);

/// Reads the available data of the scans; `scan_count` becomes the number of complete ones. OK when all are complete.
enum webimage_jpeg_status webimage_jpeg_decoder_absorb(struct webimage_jpeg_decoder *decoder, unsigned *scan_count);

/// Starts decoding the image from the scans up to `scan`, a complete one. `smooths` smooths the edges of blocks with few known coefficients.
enum webimage_jpeg_status webimage_jpeg_decoder_begin_pass(
    struct webimage_jpeg_decoder *decoder, unsigned scan, bool smooths);
enum webimage_jpeg_status webimage_jpeg_decoder_read_pass(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row);
enum webimage_jpeg_status webimage_jpeg_decoder_end_pass(struct webimage_jpeg_decoder *decoder);

struct webimage_jpeg_encoder;

/// Creates an encoder of RGB rows. `quality` is 1...100.
struct webimage_jpeg_encoder *webimage_jpeg_encoder_create(void);
void webimage_jpeg_encoder_free(struct webimage_jpeg_encoder *encoder);
const char *webimage_jpeg_encoder_message(const struct webimage_jpeg_encoder *encoder);
enum webimage_jpeg_status webimage_jpeg_encoder_start(
    struct webimage_jpeg_encoder *encoder, unsigned width, unsigned height, int quality, bool full_chroma,
    bool optimize);
/// Writes an EXIF marker, between the start and the first row. At most 65 533 bytes.
enum webimage_jpeg_status webimage_jpeg_encoder_exif(
    struct webimage_jpeg_encoder *encoder, const uint8_t *bytes, size_t byte_count);
enum webimage_jpeg_status webimage_jpeg_encoder_write(
    struct webimage_jpeg_encoder *encoder, unsigned count, const uint8_t *base, size_t bytes_per_row);
/// Ends the file and transfers its bytes to the caller, to be freed with `free`.
enum webimage_jpeg_status webimage_jpeg_encoder_finish(
    struct webimage_jpeg_encoder *encoder, uint8_t **bytes, size_t *byte_count);

/// Bytes in memory, or of an open file if `memory` is NULL. Both must stay valid.
struct webimage_jpeg_bytes {
    const uint8_t *memory;
    int file;
    uint64_t count;
};

/// The place where the code of a unit of blocks begins.
struct webimage_jpeg_place {
    /// The offset in the source times 8, and the bit.
    uint64_t bit;
    int16_t dc[4];
    /// The number of units until the next restart marker.
    uint32_t restart;
};

struct webimage_jpeg_layout {
    /// The units (MCUs) of the image, and the pixels of each.
    uint32_t columns, rows, unit_width, unit_height;
    /// The image of the means of 16 by 16 pixels.
    uint32_t mean_width, mean_height;
    int component_count;
    size_t index_byte_count;
};

struct webimage_jpeg_index;

/// Creates an index for a baseline image with Huffman codes and one scan, whose components are sampled at most twice as often as others. NULL for other
/// images, and without memory. `header` are the bytes before the scan's data, which begins at `scan_start` of the source.
struct webimage_jpeg_index *webimage_jpeg_index_create(
    const uint8_t *header, size_t header_count, struct webimage_jpeg_bytes source, uint64_t scan_start);
void webimage_jpeg_index_free(struct webimage_jpeg_index *index);
struct webimage_jpeg_layout webimage_jpeg_index_layout(const struct webimage_jpeg_index *index);

/// Indexes the next `row_count` rows of units; `row` becomes the number of all rows so far. By one thread at a time; rows that are indexed may be copied
/// meanwhile. Fails where the data is damaged or ends.
enum webimage_jpeg_status webimage_jpeg_index_walk(struct webimage_jpeg_index *index, uint32_t row_count, uint32_t *row);

/// What a copy may cost.
struct webimage_jpeg_copy_limits {
    /// The maximum number of bytes of the copy, rounded up to the next size of its buffer.
    size_t most;
    /// Is called before each row of units; false ends the copy. May be NULL.
    bool (*is_wanted)(void *context);
    void *context;
};

/// Copies a rectangle of units, all of which are indexed, into a small JPEG. Its bytes are to be freed with `free`.
enum webimage_jpeg_status webimage_jpeg_index_copy(
    const struct webimage_jpeg_index *index, uint32_t column, uint32_t row, uint32_t column_count, uint32_t row_count,
    struct webimage_jpeg_copy_limits limits, uint8_t **bytes, size_t *byte_count);

/// Writes the means of 8 by 8 pixels of a part of a row of units, which is indexed: `unit_height` / 8 rows, in the layout of the next function.
enum webimage_jpeg_status webimage_jpeg_index_blocks(
    const struct webimage_jpeg_index *index, uint32_t column, uint32_t row, uint32_t column_count, uint8_t *out,
    size_t bytes_per_row);

/// Writes a row of the image of means, all of whose units are indexed: grey, RGB, or CMYK as stored.
void webimage_jpeg_index_means(const struct webimage_jpeg_index *index, uint32_t row, uint8_t *out);
