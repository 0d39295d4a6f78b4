// LibRaw for files in memory. Exceptions do not leave these functions, but LibRaw 0.20 ends the process for some damaged files: it throws in the parallel
// loops that develop compressed RAF and CR3. Workers decode such files. Previews are not read with LibRaw, which may write beyond the buffers of those
// that are not JPEG. The number of threads that OpenMP uses is unchanged after each function.
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
    /// The size of the sensor, with its borders.
    uint32_t raw_width;
    uint32_t raw_height;
    /// Each pixel has one colour, by a mosaic of filters; otherwise all.
    bool is_mosaic;
    /// The number of colours that the raw data has for each pixel.
    uint32_t colors;
    /// The raw data is a DNG's floats, which have `samples` for each pixel.
    bool is_float;
    uint32_t samples;
    /// The size of the tiles of a DNG; 0 if its raw data is in strips.
    uint32_t tile_width;
    uint32_t tile_height;
    /// Where LibRaw has found the largest preview, 0 without one; and its number of bytes. Both are as the file states them.
    uint64_t preview_offset;
    uint32_t preview_bytes;
} webimage_raw_info;

/// Rows of packed grey or RGB, of 8 or 16 bits in the byte order of the machine.
typedef struct {
    const void *bytes;
    size_t count;
    uint32_t width;
    uint32_t height;
    uint32_t colors;
    uint32_t bits;
} webimage_raw_pixels;

/// Reads the header. The bytes must stay valid as long as the file is open. On failure it returns NULL, the status and a static message.
///
/// - `deadline`: on the monotonic clock, in nanoseconds; 0 for none. Checked when LibRaw has read the directories.
webimage_raw *webimage_raw_open(
    const void *bytes, size_t count, uint64_t deadline, webimage_raw_info *info, webimage_raw_status *status,
    const char **message);
void webimage_raw_close(webimage_raw *raw);

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
