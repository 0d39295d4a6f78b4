// Wraps libtiff for files in memory. Its functions take variable arguments, which Swift cannot pass. Every file has separate handlers for errors and
// warnings, so that nothing is printed and files on several threads do not interfere.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /// The stored bits per sample and number of samples.
    WEBIMAGE_TIFF_SAMPLES = 0,
    /// Four bytes per pixel: libtiff converts to red, green, blue and alpha.
    WEBIMAGE_TIFF_RGBA = 1,
} webimage_tiff_access;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint16_t bits_per_sample;
    uint16_t samples_per_pixel;
    uint16_t photometric;
    uint16_t compression;
    uint16_t sample_format;
    uint16_t ink_set;
    uint16_t orientation;
    /// The number of samples beyond those of the colour, -1 when the file does not describe them.
    int extra_count;
    uint16_t extra_types[8];
    bool separate_planes;
    bool tiled;
    uint32_t tile_width;
    uint32_t tile_height;
    uint32_t rows_per_strip;
    /// Horizontal and vertical subsampling of YCbCr.
    uint16_t subsampling[2];
    /// Red, green and blue of a palette with 2 ^ `bits_per_sample` entries; NULL without one.
    const uint16_t *palette[3];
    /// The ICC profile, NULL without one.
    const uint8_t *icc;
    size_t icc_length;
    /// The number of bytes of one row (of one plane, if they are separate), and of one tile.
    uint64_t row_bytes;
    uint64_t tile_bytes;
} webimage_tiff_info;

/// A file whose first image can be read. For one thread at a time.
typedef struct webimage_tiff_reader webimage_tiff_reader;

/// Opens a file in memory; NULL without memory. `bytes` must stay valid as long as the reader. libtiff itself does not allocate any block larger than
/// `max_allocation`.
webimage_tiff_reader *webimage_tiff_open(const void *bytes, size_t count, size_t max_allocation);
void webimage_tiff_close(webimage_tiff_reader *reader);

/// Finds the directories of smaller versions of the first image: its sub-directories, and later ones that are marked as such. Writes at most `most`
/// offsets, and returns their number. Before anything else is read from the file.
size_t webimage_tiff_reduced_images(webimage_tiff_reader *reader, uint64_t *offsets, size_t most);

/// Selects the image of the directory at an offset, before anything else is read from the file.
bool webimage_tiff_select(webimage_tiff_reader *reader, uint64_t offset);

/// Reads the directory of the first image, or of the selected one. The pointers in `info` are valid as long as the reader.
bool webimage_tiff_read_info(webimage_tiff_reader *reader, webimage_tiff_info *info);

/// Reads the next row of a plane of an image in strips, from the top; `buffer` holds `row_bytes`.
bool webimage_tiff_read_row(webimage_tiff_reader *reader, void *buffer, uint32_t row, uint16_t plane);

/// Reads the tile whose top left corner is at `x` and `y`; `buffer` holds `count` bytes, which must be `tile_bytes`.
bool webimage_tiff_read_tile(
    webimage_tiff_reader *reader, void *buffer, size_t count, uint32_t x, uint32_t y, uint16_t plane);

/// Returns whether libtiff can convert the image to RGBA.
bool webimage_tiff_can_convert(webimage_tiff_reader *reader);

/// Reads the rows of a strip, or a tile, converted by libtiff: `raster` holds `width * rows` pixels of a strip, or of a tile, with the bottom row
/// first; red is the lowest byte of a pixel, alpha the highest, and colours are premultiplied.
bool webimage_tiff_convert(webimage_tiff_reader *reader, uint32_t *raster, uint32_t x, uint32_t y);

/// Returns the message of the last error.
const char *webimage_tiff_error(const webimage_tiff_reader *reader);

typedef struct webimage_tiff_writer webimage_tiff_writer;

typedef enum {
    WEBIMAGE_TIFF_LZW = 0,
    WEBIMAGE_TIFF_DEFLATE = 1,
    WEBIMAGE_TIFF_PACKBITS = 2,
    WEBIMAGE_TIFF_UNCOMPRESSED = 3,
} webimage_tiff_compression;

/// Creates a writer of an image of RGB, or of RGBA with straight alpha; NULL without memory.
webimage_tiff_writer *webimage_tiff_writer_create(void);
void webimage_tiff_writer_destroy(webimage_tiff_writer *writer);
bool webimage_tiff_write_header(
    webimage_tiff_writer *writer, uint32_t width, uint32_t height, bool alpha, webimage_tiff_compression compression);
bool webimage_tiff_write_rows(webimage_tiff_writer *writer, const void *base, size_t stride, uint32_t rows);

/// Ends the file; returns its bytes, which belong to the writer, or NULL.
const uint8_t *webimage_tiff_finish(webimage_tiff_writer *writer, size_t *count);
const char *webimage_tiff_writer_error(const webimage_tiff_writer *writer);
