// Wraps libpng in functions that Swift can call. libpng reports errors by longjmp, which must never cross a Swift frame: every function
// here catches it and returns false, with the message in webimage_png_error().
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The layout of the rows; straight (not premultiplied) alpha, 8 bits per component unless stated otherwise. The values are the bytes of a
/// pixel.
typedef enum {
    WEBIMAGE_PNG_GRAY = 1,
    WEBIMAGE_PNG_RGB = 3,
    WEBIMAGE_PNG_RGBA = 4,
    /// Four numbers of 16 bits in native byte order.
    WEBIMAGE_PNG_RGBA16 = 8,
} webimage_png_layout;

typedef struct {
    uint32_t width;
    uint32_t height;
    webimage_png_layout layout;
    bool interlaced;
    /// The image's colours are declared as sRGB, or its ICC profile is a known sRGB profile.
    bool is_srgb;
    /// The ICC profile, NULL without one; valid as long as the reader.
    const uint8_t *icc;
    size_t icc_length;
} webimage_png_info;

typedef struct webimage_png_reader webimage_png_reader;

/// Creates a reader that refuses larger images, and ignores larger colour profiles; NULL without memory.
webimage_png_reader *webimage_png_reader_create(uint32_t max_width, uint32_t max_height, size_t max_profile);
void webimage_png_reader_destroy(webimage_png_reader *reader);

/// Reads everything before the pixels. `bytes` is the whole file, and must be the same at every call.
///
/// `gamma` is the file's gamma (1/2.2 is the screen's) to convert to the screen's; 0 keeps the values. `wide` converts any image to RGBA of
/// 16 bits.
bool webimage_png_read_header(
    webimage_png_reader *reader, const void *bytes, size_t count, double gamma, bool wide, webimage_png_info *info);

/// The pixels of an animation frame: the fdAT chunks between two offsets of the file.
typedef struct {
    uint32_t width;
    uint32_t height;
    size_t start;
    size_t end;
} webimage_png_frame;

/// The same for a frame that is not the image of the IDAT chunks; its rows are then read like those of an image.
bool webimage_png_read_frame_header(
    webimage_png_reader *reader, const void *bytes, size_t count, const webimage_png_frame *frame, double gamma,
    bool wide, webimage_png_info *info);

/// Returns the checksum of a chunk's type and content.
uint32_t webimage_png_checksum(const void *bytes, size_t count);

/// Inflates a whole zlib stream, such as that of a compressed text, and returns the number of bytes; negative if it is damaged or longer than
/// `capacity`, and without memory.
ptrdiff_t webimage_png_inflate(const void *bytes, size_t count, void *out, size_t capacity);

/// Reads the next `rows` rows to `base`, `stride` bytes apart. An interlaced image must be read with all its rows in one call. With the
/// last row the checksums of the pixels have been verified.
bool webimage_png_read_rows(
    webimage_png_reader *reader, const void *bytes, size_t count, void *base, size_t stride, uint32_t rows);

/// Reads the available rows of an image into their places. `base` is the first row of the whole image, at every call, and `rows` becomes the number
/// of available rows; those of an interlaced image change until it is complete. The address of `bytes` may change between calls, and bytes that were
/// read are not accessed again. With `is_whole` the bytes are complete. `has_all_pixels`: all pixel
/// chunks are complete, and the head of the next chunk has arrived.
bool webimage_png_read_available(
    webimage_png_reader *reader, const void *bytes, size_t count, bool is_whole, bool has_all_pixels, void *base,
    size_t stride, uint32_t *rows, bool *complete);

/// Returns whether a call failed only because of missing bytes that may still follow. The reader can then no longer be used.
bool webimage_png_is_starved(const webimage_png_reader *reader);

/// Returns the message of the last error.
const char *webimage_png_error(const webimage_png_reader *reader);

/// Returns whether the last call failed because of a lack of memory.
bool webimage_png_out_of_memory(const webimage_png_reader *reader);

typedef struct webimage_png_writer webimage_png_writer;

/// Creates a writer; NULL without memory.
webimage_png_writer *webimage_png_writer_create(void);
void webimage_png_writer_destroy(webimage_png_writer *writer);

/// Starts the file.
bool webimage_png_write_header(
    webimage_png_writer *writer, uint32_t width, uint32_t height, webimage_png_layout layout);

/// Writes the next rows, and with the last row of an image the end of the file.
bool webimage_png_write_rows(webimage_png_writer *writer, const void *base, size_t stride, uint32_t rows);

/// One frame of an animation. It stays at the end of its duration.
typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t left;
    uint32_t top;
    /// The duration as a fraction of seconds.
    uint16_t delay_numerator;
    uint16_t delay_denominator;
    /// Whether the pixels are blended over the existing ones instead of replacing them.
    bool lies_over;
} webimage_png_frame_control;

/// Starts an animation of that many frames in place of an image; `plays` 0 means infinite.
bool webimage_png_write_animation(
    webimage_png_writer *writer, uint32_t width, uint32_t height, webimage_png_layout layout, uint32_t frames,
    uint32_t plays);

/// Begins the next frame, whose rows are then written like those of an image; or an alternative form of the last one.
bool webimage_png_begin_frame(
    webimage_png_writer *writer, const webimage_png_frame_control *frame, bool is_other_form);

/// Keeps the smaller one of two forms of a frame.
void webimage_png_keep_smaller_form(webimage_png_writer *writer);

/// Ends the file, after the last frame.
bool webimage_png_end_animation(webimage_png_writer *writer);

/// Returns the bytes written; valid as long as the writer.
const uint8_t *webimage_png_written(const webimage_png_writer *writer, size_t *count);
const char *webimage_png_writer_error(const webimage_png_writer *writer);
