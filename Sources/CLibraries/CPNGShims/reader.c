#include "CPNGShims.h"
#include "frame.h"
#include "stream.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The number of bytes that libpng requests at a time while the rest of the file may still follow.
enum { READ_BYTES = 1024 };

struct webimage_png_reader {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    size_t max_profile;
    uint32_t height;
    uint32_t next_row;
    /// The frame that is read in place of the default image.
    png_frame frame;
    bool is_frame;
    /// The pass of an interlaced image that is read row by row.
    int pass;
    /// The number of bytes of a stored row.
    size_t stored_row;
    /// Reads the pixels instead of libpng; NULL for images that only libpng reads.
    png_stream *stream;
    bool interlaced;
    /// The offset of a tRNS chunk that is still to be read, and the chunk to continue with after it; 0 for none.
    size_t alpha;
    size_t after_alpha;
    /// The offset of the next chunk before the pixels.
    size_t next_chunk;
    /// Whether more bytes may follow, and whether libpng requested missing ones.
    bool awaits_more;
    bool starved;
    bool out_of_memory;
    bool failed;
    /// Whether everything before the pixels was read.
    bool has_head;
    char message[160];
};

static void fail(png_structp png, png_const_charp message) {
    webimage_png_reader *reader = png_get_error_ptr(png);
    // The first message is the cause; later ones are consequences.
    if (!reader->failed) snprintf(reader->message, sizeof reader->message, "%s", message);
    reader->failed = true;
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/// Returns the number of bytes of the chunk at the offset, 0 if it is incomplete.
static size_t chunk_size(const webimage_png_reader *reader) {
    const uint8_t *head = reader->bytes + reader->offset;
    size_t left = reader->count - reader->offset;
    if (left < 12) return 0;
    size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    return length <= left - 12 ? length + 12 : 0;
}

static bool is_chunk(const webimage_png_reader *reader, const char *kind) {
    return reader->count - reader->offset >= 8 && memcmp(reader->bytes + reader->offset + 4, kind, 4) == 0;
}

/// Moves a tRNS chunk to the end of those before the pixels, because libpng rejects it before a palette. The offset is that of a chunk, and becomes
/// that of the next one to read.
static void reorder(webimage_png_reader *reader) {
    if (reader->after_alpha > 0) {
        reader->offset = reader->after_alpha;
        reader->after_alpha = 0;
    }
    size_t size = chunk_size(reader);
    while (size > 0 && is_chunk(reader, "tRNS")) {
        if (reader->alpha == 0) reader->alpha = reader->offset;
        reader->offset += size;
        size = chunk_size(reader);
    }
    if (reader->alpha > 0 && is_chunk(reader, "IDAT")) {
        reader->after_alpha = reader->offset;
        reader->offset = reader->alpha;
        reader->alpha = 0;
        size = chunk_size(reader);
    }
    reader->next_chunk = size > 0 ? reader->offset + size : 0;
}

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    webimage_png_reader *reader = png_get_io_ptr(png);
    if (!reader->is_frame && !reader->has_head && reader->offset == reader->next_chunk) reorder(reader);
    if (reader->is_frame) {
        const char *error = png_frame_read(&reader->frame, reader->bytes, reader->count, to, count);
        if (error) png_error(png, error);
    } else {
        if (count > reader->count - reader->offset) {
            reader->starved = reader->awaits_more;
            png_error(png, "the data ends too early");
        }
        memcpy(to, reader->bytes + reader->offset, count);
        reader->offset += count;
    }
    // libpng refuses a file for any chunk above the limit, even one that it is set to skip, and large text chunks are common. So the limit is applied
    // only to the one type that is inflated into memory. A chunk's header has 8 bytes.
    if (count == 8) {
        bool is_profile = memcmp(to + 4, "iCCP", 4) == 0;
        png_set_chunk_malloc_max(png, is_profile ? reader->max_profile : 0);
    }
}

static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    void *block = malloc(size);
    if (!block) ((webimage_png_reader *)png_get_mem_ptr(png))->out_of_memory = true;
    return block;
}

static void release(png_structp png, png_voidp block) {
    (void)png;
    free(block);
}

webimage_png_reader *webimage_png_reader_create(uint32_t max_width, uint32_t max_height, size_t max_profile) {
    webimage_png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, reader, fail, ignore_warning, reader, allocate, release);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    if (!reader->info) {
        webimage_png_reader_destroy(reader);
        return NULL;
    }
    if (setjmp(png_jmpbuf(reader->png))) {
        webimage_png_reader_destroy(reader);
        return NULL;
    }
    png_set_user_limits(reader->png, max_width, max_height);
    reader->max_profile = max_profile;
    // After the signature and the header.
    reader->next_chunk = 33;
    png_set_chunk_cache_max(reader->png, 64);
    // Texts, histograms and the like are not used here: their chunks are skipped, never inflated.
    static const png_byte unread[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0pCAL\0sCAL\0tIME\0oFFs\0pHYs\0eXIf";
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, unread, (int)(sizeof unread / 5));
    return reader;
}

void webimage_png_reader_destroy(webimage_png_reader *reader) {
    if (!reader) return;
    png_stream_destroy(reader->stream);
    if (reader->png) png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

/// Requests RGBA of 16 bits.
static void set_wide_transformations(webimage_png_reader *reader, double gamma, webimage_png_info *out) {
    png_structp png = reader->png;
    int type = png_get_color_type(png, reader->info);
    png_set_expand_16(png);
    png_set_expand(png);
    if (gamma > 0) png_set_gamma(png, PNG_DEFAULT_sRGB, gamma);
    if (!(type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(png);
#endif
    out->layout = WEBIMAGE_PNG_RGBA16;
}

/// Requests 8 bits, palettes as colours, and alpha for all images that can have transparency.
static void set_narrow_transformations(webimage_png_reader *reader, double gamma, webimage_png_info *out) {
    png_structp png = reader->png;
    int type = png_get_color_type(png, reader->info);
    bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, reader->info, PNG_INFO_tRNS);
    png_set_expand(png);
    png_set_scale_16(png);
    if (gamma > 0) png_set_gamma(png, PNG_DEFAULT_sRGB, gamma);
    if (alpha && !(type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    out->layout = alpha ? WEBIMAGE_PNG_RGBA : (type & PNG_COLOR_MASK_COLOR) ? WEBIMAGE_PNG_RGB : WEBIMAGE_PNG_GRAY;
}

static void set_transformations(webimage_png_reader *reader, double gamma, bool wide, webimage_png_info *out) {
    png_structp png = reader->png;
    if (wide) {
        set_wide_transformations(reader, gamma, out);
    } else {
        set_narrow_transformations(reader, gamma, out);
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    if (png_get_rowbytes(png, reader->info) != (size_t)out->width * out->layout) png_error(png, "unexpected row size");
}

/// Returns whether rows are stored in the output layout.
static bool is_plain(webimage_png_reader *reader, double gamma) {
    int type = png_get_color_type(reader->png, reader->info);
    bool has_type = type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_RGB || type == PNG_COLOR_TYPE_RGB_ALPHA;
    // ISA-L's counters have 32 bits.
    bool is_short = png_get_image_width(reader->png, reader->info) < 1 << 28;
    return has_type && is_short && png_get_bit_depth(reader->png, reader->info) == 8 && !reader->interlaced && gamma <= 0
        && !png_get_valid(reader->png, reader->info, PNG_INFO_tRNS);
}

bool webimage_png_read_header(
    webimage_png_reader *reader, const void *bytes, size_t count, double gamma, bool wide, webimage_png_info *out) {
    if (reader->failed || setjmp(png_jmpbuf(reader->png))) return false;
    reader->bytes = bytes;
    reader->count = count;
    png_set_read_fn(reader->png, reader, read_bytes);
    png_read_info(reader->png, reader->info);
    reader->has_head = true;
    memset(out, 0, sizeof *out);
    out->width = png_get_image_width(reader->png, reader->info);
    out->height = reader->height = png_get_image_height(reader->png, reader->info);
    out->interlaced = reader->interlaced = png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
    out->is_srgb = png_get_valid(reader->png, reader->info, PNG_INFO_sRGB);
    png_charp name;
    int method;
    png_bytep profile;
    png_uint_32 length;
    if (png_get_iCCP(reader->png, reader->info, &name, &method, &profile, &length)) {
        out->icc = profile;
        out->icc_length = length;
    }
    bool plain = !wide && is_plain(reader, gamma);
    reader->stored_row = png_get_rowbytes(reader->png, reader->info);
    set_transformations(reader, gamma, wide, out);
    if (plain) {
        // libpng has just read the header of the first IDAT chunk, which has 8 bytes.
        size_t start = reader->is_frame ? reader->frame.start : reader->offset - 8;
        reader->stream = png_stream_create(start, (size_t)out->width * out->layout, out->layout, out->height);
        if (reader->stream && reader->is_frame) png_stream_read_frame(reader->stream, reader->frame.end);
        reader->out_of_memory = !reader->stream;
        if (!reader->stream) png_error(reader->png, "no memory");
    }
    return true;
}

bool webimage_png_read_frame_header(
    webimage_png_reader *reader, const void *bytes, size_t count, const webimage_png_frame *frame, double gamma, bool wide,
    webimage_png_info *out) {
    reader->is_frame = true;
    reader->frame.width = frame->width;
    reader->frame.height = frame->height;
    reader->frame.start = frame->start;
    reader->frame.end = frame->end;
    return webimage_png_read_header(reader, bytes, count, gamma, wide, out);
}

uint32_t webimage_png_checksum(const void *bytes, size_t count) { return crc32_gzip_refl(0, bytes, count); }

ptrdiff_t webimage_png_inflate(const void *bytes, size_t count, void *out, size_t capacity) {
    if (count > INT32_MAX || capacity > INT32_MAX) return -1;
    struct inflate_state *state = malloc(sizeof *state);
    if (!state) return -1;
    isal_inflate_init(state);
    state->crc_flag = ISAL_ZLIB;
    state->next_in = (uint8_t *)bytes;
    state->avail_in = (uint32_t)count;
    state->next_out = out;
    state->avail_out = (uint32_t)capacity;
    bool is_whole = isal_inflate_stateless(state) == ISAL_DECOMP_OK;
    ptrdiff_t length = state->total_out;
    free(state);
    return is_whole ? length : -1;
}

static bool read_interlaced(webimage_png_reader *reader, uint8_t *base, size_t stride, uint32_t rows) {
    if (rows != reader->height) png_error(reader->png, "an interlaced image must be read as a whole");
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (uint32_t row = 0; row < rows; row++) png_read_row(reader->png, base + row * stride, NULL);
    }
    return true;
}

bool webimage_png_read_rows(
    webimage_png_reader *reader, const void *bytes, size_t count, void *base, size_t stride, uint32_t rows) {
    if (reader->failed || setjmp(png_jmpbuf(reader->png))) return false;
    reader->bytes = bytes;
    if (count != reader->count) png_error(reader->png, "the data has changed");
    if (rows > reader->height - reader->next_row) png_error(reader->png, "there are no more rows");
    reader->next_row += rows;
    if (reader->stream) {
        const char *error = png_stream_read(reader->stream, bytes, count, base, stride, rows);
        if (error) png_error(reader->png, error);
        return true;
    }
    if (reader->interlaced) return read_interlaced(reader, base, stride, rows);
    for (uint32_t row = 0; row < rows; row++) png_read_row(reader->png, (uint8_t *)base + row * stride, NULL);
    return true;
}

/// Returns whether libpng will find the bytes of another row: it cannot be suspended within one. The format does not limit the bytes of a row; twice
/// its length and a Huffman table is more than any encoder needs. The last row needs more: the checksums follow it.
static bool has_next_row(webimage_png_reader *reader) {
    if (!reader->awaits_more) return true;
    bool is_last = reader->next_row + 1 == reader->height
        && (!reader->interlaced || reader->pass == PNG_INTERLACE_ADAM7_PASSES - 1);
    return !is_last && reader->count - reader->offset >= 2 * reader->stored_row + 2 * READ_BYTES + 512;
}

static void read_available(webimage_png_reader *reader, uint8_t *base, size_t stride) {
    int passes = reader->interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1;
    while (reader->pass < passes && has_next_row(reader)) {
        uint8_t *row = base + reader->next_row * stride;
        // In a pass with few pixels each becomes a block, which later passes overwrite.
        png_read_row(reader->png, reader->interlaced ? NULL : row, reader->interlaced ? row : NULL);
        if (++reader->next_row < reader->height) continue;
        reader->next_row = 0;
        reader->pass++;
    }
}

bool webimage_png_read_available(
    webimage_png_reader *reader, const void *bytes, size_t count, bool is_whole, bool has_all_pixels, void *base,
    size_t stride, uint32_t *rows, bool *complete) {
    if (reader->failed || setjmp(png_jmpbuf(reader->png))) return false;
    reader->bytes = bytes;
    reader->count = count;
    reader->awaits_more = !is_whole && !has_all_pixels;
    png_set_compression_buffer_size(reader->png, READ_BYTES);
    if (reader->stream) {
        uint32_t got;
        const char *error = png_stream_read_available(
            reader->stream, bytes, count, is_whole, (uint8_t *)base + (size_t)reader->next_row * stride, stride,
            reader->height - reader->next_row, &got);
        reader->next_row += got;
        if (error) png_error(reader->png, error);
        *rows = reader->next_row;
        *complete = png_stream_is_complete(reader->stream);
        return true;
    }
    read_available(reader, base, stride);
    *rows = reader->pass > 0 ? reader->height : reader->next_row;
    *complete = reader->pass == (reader->interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1);
    return true;
}

bool webimage_png_is_starved(const webimage_png_reader *reader) { return reader->starved; }

const char *webimage_png_error(const webimage_png_reader *reader) { return reader->message; }

bool webimage_png_out_of_memory(const webimage_png_reader *reader) { return reader->out_of_memory; }
