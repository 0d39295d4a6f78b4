#include <stdlib.h>
#include <string.h>

#include "CTIFFShims.h"
#include "messages.h"

enum { max_planes = 8 };

struct webimage_tiff_reader {
    const uint8_t *bytes;
    size_t count;
    size_t max_allocation;
    /// The file, once for each plane that is read row by row: switching between planes, libtiff would decode a strip from its beginning for
    /// every row.
    TIFF *planes[max_planes];
    /// The read position of each plane; libtiff seeks and reads even though it maps the file.
    size_t positions[max_planes];
    struct source {
        struct webimage_tiff_reader *reader;
        int plane;
    } sources[max_planes];
    webimage_tiff_messages messages;
    bool is_jpeg;
    size_t row_bytes;
};

static tmsize_t read_bytes(thandle_t handle, void *buffer, tmsize_t size) {
    struct source *source = handle;
    webimage_tiff_reader *reader = source->reader;
    size_t *position = &reader->positions[source->plane];
    if (size <= 0 || *position >= reader->count) return 0;
    size_t left = reader->count - *position;
    size_t taken = (size_t)size < left ? (size_t)size : left;
    memcpy(buffer, reader->bytes + *position, taken);
    *position += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void *buffer, tmsize_t size) {
    (void)handle;
    (void)buffer;
    (void)size;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int origin) {
    struct source *source = handle;
    webimage_tiff_reader *reader = source->reader;
    size_t *position = &reader->positions[source->plane];
    switch (origin) {
    case SEEK_CUR: offset += *position; break;
    case SEEK_END: offset += reader->count; break;
    default: break;
    }
    *position = (size_t)offset;
    return offset;
}

static int close_source(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((struct source *)handle)->reader->count; }

static int map(thandle_t handle, void **base, toff_t *size) {
    webimage_tiff_reader *reader = ((struct source *)handle)->reader;
    *base = (void *)reader->bytes;
    *size = reader->count;
    return 1;
}

static void unmap(thandle_t handle, void *base, toff_t size) {
    (void)handle;
    (void)base;
    (void)size;
}

webimage_tiff_reader *webimage_tiff_open(const void *bytes, size_t count, size_t max_allocation) {
    webimage_tiff_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->max_allocation = max_allocation;
    return reader;
}

void webimage_tiff_close(webimage_tiff_reader *reader) {
    for (int plane = 0; plane < max_planes; plane++) {
        if (reader->planes[plane] != NULL) TIFFClose(reader->planes[plane]);
    }
    free(reader);
}

const char *webimage_tiff_error(const webimage_tiff_reader *reader) {
    return reader->messages.text[0] != 0 ? reader->messages.text : "it cannot be read";
}

static void forget_messages(webimage_tiff_reader *reader) { memset(&reader->messages, 0, sizeof reader->messages); }

/// Sets libjpeg to convert YCbCr to RGB, and LogLuv to be decoded to linear light.
static void prepare(TIFF *tiff) {
    uint16_t compression = 0, photometric = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_JPEG && TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) &&
        photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    if (compression == COMPRESSION_SGILOG || compression == COMPRESSION_SGILOG24) {
        TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
    }
}

static TIFF *file_of(webimage_tiff_reader *reader, int plane) {
    if (plane < 0 || plane >= max_planes) return NULL;
    if (reader->planes[plane] != NULL) return reader->planes[plane];
    reader->sources[plane].reader = reader;
    reader->sources[plane].plane = plane;
    TIFFOpenOptions *options = webimage_tiff_options(&reader->messages, reader->max_allocation);
    if (options == NULL) return NULL;
    TIFF *tiff = TIFFClientOpenExt(
        "", "r", &reader->sources[plane], read_bytes, write_bytes, seek, close_source, size_of, map, unmap, options);
    TIFFOpenOptionsFree(options);
    if (tiff == NULL) return NULL;
    prepare(tiff);
    reader->planes[plane] = tiff;
    return tiff;
}

size_t webimage_tiff_reduced_images(webimage_tiff_reader *reader, uint64_t *offsets, size_t most) {
    enum { most_directories = 64 };
    forget_messages(reader);
    // Another view of the file: pointers in the information of the first directory stay valid.
    TIFF *tiff = file_of(reader, max_planes - 1);
    if (tiff == NULL) return 0;
    size_t count = 0;
    uint16_t sub_count = 0;
    uint64_t *subs = NULL;
    if (TIFFGetField(tiff, TIFFTAG_SUBIFD, &sub_count, &subs) && subs != NULL) {
        for (; count < most && count < sub_count; count++) offsets[count] = subs[count];
    }
    for (int i = 0; i < most_directories && count < most && TIFFReadDirectory(tiff); i++) {
        uint32_t type = 0;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &type);
        if (type & FILETYPE_REDUCEDIMAGE) offsets[count++] = TIFFCurrentDirOffset(tiff);
    }
    TIFFClose(tiff);
    reader->planes[max_planes - 1] = NULL;
    forget_messages(reader);
    return count;
}

bool webimage_tiff_select(webimage_tiff_reader *reader, uint64_t offset) {
    forget_messages(reader);
    TIFF *tiff = file_of(reader, 0);
    if (tiff == NULL || !TIFFSetSubDirectory(tiff, offset)) return false;
    prepare(tiff);
    return true;
}

static void read_extra(TIFF *tiff, webimage_tiff_info *info) {
    uint16_t count = 0;
    uint16_t *types = NULL;
    info->extra_count = -1;
    if (!TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &types)) return;
    info->extra_count = count;
    for (int i = 0; i < count && i < 8 && types != NULL; i++) info->extra_types[i] = types[i];
}

static void read_colors(TIFF *tiff, webimage_tiff_info *info) {
    uint16_t *red = NULL, *green = NULL, *blue = NULL;
    if (info->photometric == PHOTOMETRIC_PALETTE && TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue)) {
        info->palette[0] = red;
        info->palette[1] = green;
        info->palette[2] = blue;
    }
    uint32_t length = 0;
    void *icc = NULL;
    if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &length, &icc) && icc != NULL) {
        info->icc = icc;
        info->icc_length = length;
    }
}

bool webimage_tiff_read_info(webimage_tiff_reader *reader, webimage_tiff_info *info) {
    memset(info, 0, sizeof *info);
    forget_messages(reader);
    TIFF *tiff = file_of(reader, 0);
    if (tiff == NULL) return false;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &info->width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &info->height))
        return false;
    uint16_t planes = PLANARCONFIG_CONTIG;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &info->bits_per_sample);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &info->samples_per_pixel);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &info->sample_format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &info->compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &info->orientation);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &info->ink_set);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &info->rows_per_strip);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRSUBSAMPLING, &info->subsampling[0], &info->subsampling[1]);
    // Fax images without the tag use 1 for ink.
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &info->photometric)) {
        bool is_fax = info->compression >= COMPRESSION_CCITTRLE && info->compression <= COMPRESSION_CCITTFAX4;
        info->photometric = info->samples_per_pixel >= 3 ? PHOTOMETRIC_RGB
                            : is_fax                     ? PHOTOMETRIC_MINISWHITE
                                                         : PHOTOMETRIC_MINISBLACK;
    }
    reader->is_jpeg = info->compression == COMPRESSION_JPEG;
    if (reader->is_jpeg && info->photometric == PHOTOMETRIC_YCBCR) info->photometric = PHOTOMETRIC_RGB;
    info->separate_planes = planes == PLANARCONFIG_SEPARATE && info->samples_per_pixel > 1;
    info->tiled = TIFFIsTiled(tiff);
    if (info->tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &info->tile_width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &info->tile_height);
        info->tile_bytes = TIFFTileSize64(tiff);
        info->row_bytes = TIFFTileRowSize64(tiff);
    } else {
        info->row_bytes = TIFFScanlineSize64(tiff);
        reader->row_bytes = info->row_bytes;
    }
    read_extra(tiff, info);
    read_colors(tiff, info);
    return true;
}

// Buffers are cleared before reading: for a damaged strip with too much data, libtiff leaves the end of the buffer unchanged and reports success.

/// Returns whether the data was read without damage.
static bool succeeded(webimage_tiff_reader *reader, bool is_read) { return is_read && !reader->messages.damaged; }

bool webimage_tiff_read_row(webimage_tiff_reader *reader, void *buffer, uint32_t row, uint16_t plane) {
    forget_messages(reader);
    TIFF *tiff = file_of(reader, plane);
    if (tiff == NULL) return false;
    memset(buffer, 0, reader->row_bytes);
    return succeeded(reader, TIFFReadScanline(tiff, buffer, row, plane) == 1);
}

bool webimage_tiff_read_tile(
    webimage_tiff_reader *reader, void *buffer, size_t count, uint32_t x, uint32_t y, uint16_t plane) {
    forget_messages(reader);
    TIFF *tiff = file_of(reader, 0);
    if (tiff == NULL) return false;
    uint32_t tile = TIFFComputeTile(tiff, x, y, 0, plane);
    memset(buffer, 0, count);
    tmsize_t size = TIFFReadEncodedTile(tiff, tile, buffer, (tmsize_t)count);
    return succeeded(reader, size >= 0 && (size_t)size == count);
}

bool webimage_tiff_can_convert(webimage_tiff_reader *reader) {
    forget_messages(reader);
    TIFF *tiff = file_of(reader, 0);
    char reason[1024] = "";
    if (tiff == NULL) return false;
    // The caller applies the orientation.
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    if (TIFFRGBAImageOK(tiff, reason)) return true;
    strncpy(reader->messages.text, reason, sizeof reader->messages.text - 1);
    return false;
}

bool webimage_tiff_convert(webimage_tiff_reader *reader, uint32_t *raster, uint32_t x, uint32_t y) {
    forget_messages(reader);
    TIFF *tiff = file_of(reader, 0);
    if (tiff == NULL) return false;
    int is_read =
        TIFFIsTiled(tiff) ? TIFFReadRGBATileExt(tiff, x, y, raster, 1) : TIFFReadRGBAStripExt(tiff, y, raster, 1);
    return succeeded(reader, is_read == 1);
}
