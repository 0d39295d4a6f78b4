#include <stdlib.h>
#include <string.h>

#include "CTIFFShims.h"
#include "messages.h"

struct webimage_tiff_writer {
    TIFF *tiff;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    size_t position;
    uint32_t row;
    /// A copy of the current row.
    uint8_t *line;
    webimage_tiff_messages messages;
};

/// Ensures capacity for `needed` bytes; new ones are 0.
static bool reserve(webimage_tiff_writer *writer, size_t needed) {
    if (needed <= writer->capacity) return true;
    size_t capacity = writer->capacity < 4096 ? 4096 : writer->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (bytes == NULL) return false;
    memset(bytes + writer->capacity, 0, capacity - writer->capacity);
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

static tmsize_t read_bytes(thandle_t handle, void *buffer, tmsize_t size) {
    webimage_tiff_writer *writer = handle;
    if (size <= 0 || writer->position >= writer->count) return 0;
    size_t left = writer->count - writer->position;
    size_t taken = (size_t)size < left ? (size_t)size : left;
    memcpy(buffer, writer->bytes + writer->position, taken);
    writer->position += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void *buffer, tmsize_t size) {
    webimage_tiff_writer *writer = handle;
    if (size <= 0 || (size_t)size > SIZE_MAX - writer->position) return 0;
    size_t end = writer->position + (size_t)size;
    if (!reserve(writer, end)) return -1;
    memcpy(writer->bytes + writer->position, buffer, (size_t)size);
    writer->position = end;
    if (end > writer->count) writer->count = end;
    return size;
}

static toff_t seek(thandle_t handle, toff_t offset, int origin) {
    webimage_tiff_writer *writer = handle;
    switch (origin) {
    case SEEK_CUR: offset += writer->position; break;
    case SEEK_END: offset += writer->count; break;
    default: break;
    }
    writer->position = (size_t)offset;
    return offset;
}

static int close_target(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((webimage_tiff_writer *)handle)->count; }

static int map(thandle_t handle, void **base, toff_t *size) {
    (void)handle;
    (void)base;
    (void)size;
    return 0;
}

static void unmap(thandle_t handle, void *base, toff_t size) {
    (void)handle;
    (void)base;
    (void)size;
}

webimage_tiff_writer *webimage_tiff_writer_create(void) { return calloc(1, sizeof(webimage_tiff_writer)); }

void webimage_tiff_writer_destroy(webimage_tiff_writer *writer) {
    if (writer->tiff != NULL) TIFFClose(writer->tiff);
    free(writer->line);
    free(writer->bytes);
    free(writer);
}

const char *webimage_tiff_writer_error(const webimage_tiff_writer *writer) {
    return writer->messages.text[0] != 0 ? writer->messages.text : "out of memory";
}

bool webimage_tiff_write_header(
    webimage_tiff_writer *writer, uint32_t width, uint32_t height, bool alpha, webimage_tiff_compression compression) {
    static const uint16_t compressions[] = {
        COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_NONE};
    int channels = alpha ? 4 : 3;
    TIFFOpenOptions *options = webimage_tiff_options(&writer->messages, 0);
    if (options == NULL) return false;
    // Offsets of 32 bits suffice for all but the largest files; LZW makes noise up to half larger.
    bool is_big = (uint64_t)width * height * (uint64_t)channels > UINT32_MAX / 2;
    writer->tiff = TIFFClientOpenExt(
        "", is_big ? "wl8" : "wl", writer, read_bytes, write_bytes, seek, close_target, size_of, map, unmap, options);
    TIFFOpenOptionsFree(options);
    TIFF *tiff = writer->tiff;
    if (tiff == NULL) return false;
    bool is_set = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width) && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height) &&
                  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8) && TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels) &&
                  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB) &&
                  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
                  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compressions[compression]);
    if (is_set && alpha) {
        uint16_t kind = EXTRASAMPLE_UNASSALPHA;
        is_set = TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
    }
    if (is_set && (compression == WEBIMAGE_TIFF_LZW || compression == WEBIMAGE_TIFF_DEFLATE)) {
        is_set = TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    }
    // Strips of about 64 KiB: small enough to be read in parts, large enough to compress well.
    uint32_t rows = (uint32_t)(65536 / ((uint64_t)width * (uint64_t)channels));
    return is_set && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows < 1 ? 1 : rows > height ? height : rows);
}

bool webimage_tiff_write_rows(webimage_tiff_writer *writer, const void *base, size_t stride, uint32_t rows) {
    // The predictor works in place, and these pixels may belong to an image.
    size_t row_bytes = (size_t)TIFFScanlineSize64(writer->tiff);
    if (writer->line == NULL) writer->line = malloc(row_bytes);
    if (writer->line == NULL) return false;
    for (uint32_t row = 0; row < rows; row++) {
        memcpy(writer->line, (const uint8_t *)base + row * stride, row_bytes);
        if (TIFFWriteScanline(writer->tiff, writer->line, writer->row, 0) != 1) return false;
        writer->row++;
    }
    return true;
}

const uint8_t *webimage_tiff_finish(webimage_tiff_writer *writer, size_t *count) {
    if (!TIFFFlush(writer->tiff) || writer->messages.has_error) return NULL;
    TIFFClose(writer->tiff);
    writer->tiff = NULL;
    if (writer->messages.has_error) return NULL;
    *count = writer->count;
    return writer->bytes;
}
