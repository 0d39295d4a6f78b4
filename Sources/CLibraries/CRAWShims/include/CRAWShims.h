// LibRaw for files in memory. Exceptions do not leave these functions, but LibRaw 0.20 ends the process for some damaged files: it throws in the parallel
// loops that develop compressed RAF and CR3, and may write beyond the buffer of a preview in planes. Workers decode such files.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A raw file. For one thread at a time.
typedef struct webimage_raw webimage_raw;

typedef enum {
    webimage_raw_ok,
    webimage_raw_damaged,
    webimage_raw_unsupported,
    webimage_raw_no_memory,
    /// More memory is needed than allowed.
    webimage_raw_too_big,
    /// The deadline has passed.
    webimage_raw_too_late,
} webimage_raw_status;

typedef struct {
    /// The size of the developed image, before the orientation is applied.
    uint32_t width;
    uint32_t height;
    /// The orientation by its EXIF number, 1 to 8.
    uint32_t orientation;
    /// The number of bits of a sample.
    uint32_t bits;
    /// The number of pixels of the sensor, with its borders.
    uint64_t sensor_pixels;
    /// Each pixel has one colour, by a mosaic of filters; otherwise all.
    bool is_mosaic;
    /// The size of the largest preview, as far as its file states it, else 0; and its number of bytes.
    uint32_t preview_width;
    uint32_t preview_height;
    uint32_t preview_bytes;
} webimage_raw_info;

/// Rows of packed grey or RGB, of 8 or 16 bits in the byte order of the machine; or the bytes of a JPEG.
typedef struct {
    const void *bytes;
    size_t count;
    bool is_jpeg;
    uint32_t width;
    uint32_t height;
    uint32_t colors;
    uint32_t bits;
} webimage_raw_pixels;

/// Reads the header. The bytes must stay valid as long as the file is open. On failure it returns NULL, the status and a static message.
webimage_raw *webimage_raw_open(
    const void *bytes, size_t count, webimage_raw_info *info, webimage_raw_status *status, const char **message);
void webimage_raw_close(webimage_raw *raw);

/// Reads the largest preview. Its bytes are valid until the next call.
webimage_raw_status webimage_raw_read_preview(webimage_raw *raw, webimage_raw_pixels *pixels, const char **message);

/// Develops the raw data, in sRGB, with the camera's white balance. The pixels are valid until the next call.
///
/// - `is_half`: each pixel of the result is made of two by two of the sensor.
/// - `bits`: 8 or 16.
/// - `deadline`: on the monotonic clock, in nanoseconds; 0 for none. Checked in the loops of most decoders, and between the steps of development.
webimage_raw_status webimage_raw_develop(
    webimage_raw *raw, bool is_half, uint32_t bits, size_t memory_limit, uint64_t deadline, webimage_raw_pixels *pixels,
    const char **message);

#ifdef __cplusplus
}
#endif
