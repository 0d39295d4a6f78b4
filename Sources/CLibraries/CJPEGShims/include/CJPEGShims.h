// libjpeg-turbo behind functions that return a status. Its errors are longjmps, which must never cross a Swift frame:
// each function here catches them. An object is used by one thread at a time, and after an error only to be freed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum webimage_jpeg_status {
    webimage_jpeg_ok = 0,
    /// The data is damaged or ends too early.
    webimage_jpeg_bad_data,
    /// The same, but of a kind that libjpeg finds only where bytes are running out, so not always.
    webimage_jpeg_bad_code,
    /// More scans than allowed.
    webimage_jpeg_too_many_scans,
    webimage_jpeg_no_memory,
    /// The time is over that webimage_jpeg_decoder_limit gave.
    webimage_jpeg_too_late,
    /// Not an error: more bytes are needed to go on.
    webimage_jpeg_suspended,
};

enum webimage_jpeg_pixels {
    webimage_jpeg_gray,
    webimage_jpeg_rgb,
    /// Blue, green, red, 255.
    webimage_jpeg_bgra,
    /// As stored, which by convention is inverted: 255 is no ink.
    webimage_jpeg_cmyk,
};

struct webimage_jpeg_decoder;

/// A decoder of bytes in memory, which must stay valid until it is freed. NULL when there is no memory.
struct webimage_jpeg_decoder *webimage_jpeg_decoder_create(const uint8_t *data, size_t byte_count);
void webimage_jpeg_decoder_free(struct webimage_jpeg_decoder *decoder);
/// What went wrong, in libjpeg's words; empty without an error.
const char *webimage_jpeg_decoder_message(const struct webimage_jpeg_decoder *decoder);

/// Has the calls that follow end once the monotonic clock shows so many nanoseconds; 0, as at first, for never. It is looked at between
/// rows of blocks, those of every scan.
void webimage_jpeg_decoder_limit(struct webimage_jpeg_decoder *decoder, uint64_t deadline);

/// Has damage painted over from here on, where libjpeg can, instead of being an error. Missing data is one all the same.
void webimage_jpeg_decoder_tolerate_damage(struct webimage_jpeg_decoder *decoder);
/// Whether damage was found so far: pixels were made up.
bool webimage_jpeg_decoder_is_damaged(const struct webimage_jpeg_decoder *decoder);

/// Reads the header and starts; for a progressive picture this reads all scans. The picture is scaled by `eighths` / 8
/// (1...8), sides rounded up.
enum webimage_jpeg_status webimage_jpeg_decoder_start(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height);

/// Decodes the next `count` rows. The last row succeeds only if nothing of the picture was missing.
enum webimage_jpeg_status webimage_jpeg_decoder_read(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row);

// A picture that is still arriving is decoded by the same object, created with no bytes, and these functions in place of start
// and read.

/// Gives the decoder the bytes so far, which may be elsewhere in memory than before and must stay valid during the next calls. Those
/// that were used are not looked at again.
void webimage_jpeg_decoder_feed(
    struct webimage_jpeg_decoder *decoder, const uint8_t *data, size_t byte_count, bool is_whole);

/// Reads the header and starts. A picture that `has_scans` has more than one, each of which makes it better: its bytes are read by
/// absorb and its rows by passes. Others are read row by row.
enum webimage_jpeg_status webimage_jpeg_decoder_begin(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height, bool *has_scans);

/// Decodes the rows that there are bytes for; `base` is the first row of the picture. `row_count` becomes the number of rows that
/// are done. OK when all are.
enum webimage_jpeg_status webimage_jpeg_decoder_read_available(
    struct webimage_jpeg_decoder *decoder, uint8_t *base, size_t bytes_per_row, unsigned *row_count);

/// Reads what there is of the scans; `scan_count` becomes the number of those that are complete. OK when all are.
enum webimage_jpeg_status webimage_jpeg_decoder_absorb(struct webimage_jpeg_decoder *decoder, unsigned *scan_count);

/// Begins to hand out the picture as the scans up to `scan`, a complete one, make it. `smooths` draws over the edges of blocks of
/// which little is known.
enum webimage_jpeg_status webimage_jpeg_decoder_begin_pass(
    struct webimage_jpeg_decoder *decoder, unsigned scan, bool smooths);
enum webimage_jpeg_status webimage_jpeg_decoder_read_pass(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row);
enum webimage_jpeg_status webimage_jpeg_decoder_end_pass(struct webimage_jpeg_decoder *decoder);

struct webimage_jpeg_encoder;

/// An encoder of RGB rows. `quality` is 1...100.
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
/// Ends the file and hands over its bytes, to be freed with `free`.
enum webimage_jpeg_status webimage_jpeg_encoder_finish(
    struct webimage_jpeg_encoder *encoder, uint8_t **bytes, size_t *byte_count);
