// libpng behind functions that Swift can call: libpng reports errors by longjmp, which must never cross a Swift frame,
// so every function here catches it and returns false, leaving the reason in webimage_png_error().
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the rows that are handed out hold; straight (not premultiplied) alpha, 8 bits per component unless
/// said otherwise. The numbers are the bytes of a pixel.
typedef enum {
    WEBIMAGE_PNG_GRAY = 1,
    WEBIMAGE_PNG_RGB = 3,
    WEBIMAGE_PNG_RGBA = 4,
    /// Four numbers of 16 bits in the machine's order.
    WEBIMAGE_PNG_RGBA16 = 8,
} webimage_png_layout;

typedef struct {
    uint32_t width;
    uint32_t height;
    webimage_png_layout layout;
    bool interlaced;
    /// The picture's colours are sRGB by declaration, or its ICC profile is a known sRGB profile.
    bool is_srgb;
    /// The ICC profile, NULL without one; lives as long as the reader.
    const uint8_t *icc;
    size_t icc_length;
} webimage_png_info;

typedef struct webimage_png_reader webimage_png_reader;

/// A reader that refuses bigger pictures, and ignores bigger colour profiles; NULL when there is no memory.
webimage_png_reader *webimage_png_reader_create(uint32_t max_width, uint32_t max_height, size_t max_profile);
void webimage_png_reader_destroy(webimage_png_reader *reader);

/// Reads everything before the pixels. `bytes` is the whole file, and must be the same at every call.
///
/// `gamma` is the file's gamma (1/2.2 is the screen's) to be converted to the screen's; 0 to leave the values alone.
/// `wide` makes RGBA of 16 bits of any picture.
bool webimage_png_read_header(
    webimage_png_reader *reader, const void *bytes, size_t count, double gamma, bool wide, webimage_png_info *info);

/// Where the pixels of a frame of an animation lie: in the fdAT chunks between two offsets of the file.
typedef struct {
    uint32_t width;
    uint32_t height;
    size_t start;
    size_t end;
} webimage_png_frame;

/// The same for a frame that is not the picture of the IDAT chunks; its rows are then read as those of a picture.
bool webimage_png_read_frame_header(
    webimage_png_reader *reader, const void *bytes, size_t count, const webimage_png_frame *frame, double gamma,
    bool wide, webimage_png_info *info);

/// The checksum of a chunk: of its kind and its content.
uint32_t webimage_png_checksum(const void *bytes, size_t count);

/// Reads the next `rows` rows to `base`, `stride` bytes apart. An interlaced picture must be read with all its rows in
/// one call. With the last row the checksums of the pixels have been verified.
bool webimage_png_read_rows(
    webimage_png_reader *reader, const void *bytes, size_t count, void *base, size_t stride, uint32_t rows);

/// Reads as many rows of a picture into its place as the bytes so far hold. `base` is the first row of the whole picture, at every
/// call, and `rows` becomes the number of rows that there are; of an interlaced picture they change until it is complete.
/// `bytes` may be elsewhere in memory than before, and of those that were read only the number is looked at. With `is_whole`
/// they are all there will be.
bool webimage_png_read_available(
    webimage_png_reader *reader, const void *bytes, size_t count, bool is_whole, void *base, size_t stride,
    uint32_t *rows, bool *complete);

/// Whether a call failed only because bytes were missing that may still come. The reader is of no more use.
bool webimage_png_is_starved(const webimage_png_reader *reader);

/// Why the last call failed.
const char *webimage_png_error(const webimage_png_reader *reader);

/// Whether the last call failed for want of memory.
bool webimage_png_out_of_memory(const webimage_png_reader *reader);

typedef struct webimage_png_writer webimage_png_writer;

/// A writer of a picture of that layout; NULL when there is no memory.
webimage_png_writer *webimage_png_writer_create(void);
void webimage_png_writer_destroy(webimage_png_writer *writer);

/// Starts the file.
bool webimage_png_write_header(
    webimage_png_writer *writer, uint32_t width, uint32_t height, webimage_png_layout layout);

/// Writes the next rows, and with the last one of a picture the end of the file.
bool webimage_png_write_rows(webimage_png_writer *writer, const void *base, size_t stride, uint32_t rows);

/// One frame of an animation. It stays when its time is over.
typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t left;
    uint32_t top;
    /// How long it is shown, as a fraction of seconds.
    uint16_t delay_numerator;
    uint16_t delay_denominator;
    /// Whether its pixels lie over what is there, instead of taking its place.
    bool lies_over;
} webimage_png_frame_control;

/// Starts an animation of that many frames in place of a picture; `plays` 0 is for ever.
bool webimage_png_write_animation(
    webimage_png_writer *writer, uint32_t width, uint32_t height, webimage_png_layout layout, uint32_t frames,
    uint32_t plays);

/// Begins the next frame, whose rows are then written as those of a picture; or another form of the one written last.
bool webimage_png_begin_frame(
    webimage_png_writer *writer, const webimage_png_frame_control *frame, bool is_other_form);

/// Of two forms of a frame keeps that with fewer bytes.
void webimage_png_keep_smaller_form(webimage_png_writer *writer);

/// Ends the file, after the last frame.
bool webimage_png_end_animation(webimage_png_writer *writer);

/// The bytes written; they live as long as the writer.
const uint8_t *webimage_png_written(const webimage_png_writer *writer, size_t *count);
const char *webimage_png_writer_error(const webimage_png_writer *writer);
