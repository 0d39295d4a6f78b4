#include "CPNGShims.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct webimage_png_writer {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    uint32_t rows_left;
    bool failed;
    char message[160];
};

static void fail(png_structp png, png_const_charp message) {
    webimage_png_writer *writer = png_get_error_ptr(png);
    if (!writer->failed) snprintf(writer->message, sizeof writer->message, "%s", message);
    writer->failed = true;
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void write_bytes(png_structp png, png_bytep from, size_t count) {
    webimage_png_writer *writer = png_get_io_ptr(png);
    if (count > SIZE_MAX / 4 - writer->count) png_error(png, "the file is too big");
    if (writer->count + count > writer->capacity) {
        size_t capacity = writer->capacity ? writer->capacity : 1 << 14;
        while (capacity < writer->count + count) capacity *= 2;
        uint8_t *bytes = realloc(writer->bytes, capacity);
        if (!bytes) png_error(png, "no memory for the file");
        writer->bytes = bytes;
        writer->capacity = capacity;
    }
    memcpy(writer->bytes + writer->count, from, count);
    writer->count += count;
}

static void flush(png_structp png) { (void)png; }

webimage_png_writer *webimage_png_writer_create(void) {
    webimage_png_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, fail, ignore_warning);
    writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;
    if (!writer->info) {
        webimage_png_writer_destroy(writer);
        return NULL;
    }
    return writer;
}

void webimage_png_writer_destroy(webimage_png_writer *writer) {
    if (!writer) return;
    if (writer->png) png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->bytes);
    free(writer);
}

bool webimage_png_write_header(
    webimage_png_writer *writer, uint32_t width, uint32_t height, webimage_png_layout layout, int level, int filters) {
    if (writer->failed || setjmp(png_jmpbuf(writer->png))) return false;
    png_set_write_fn(writer->png, writer, write_bytes, flush);
    png_set_user_limits(writer->png, 0x7FFFFFFF, 0x7FFFFFFF);
    int type = layout == WEBIMAGE_PNG_RGBA ? PNG_COLOR_TYPE_RGB_ALPHA
             : layout == WEBIMAGE_PNG_RGB  ? PNG_COLOR_TYPE_RGB
                                           : PNG_COLOR_TYPE_GRAY;
    png_set_IHDR(
        writer->png, writer->info, width, height, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
        PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(writer->png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(writer->png, level);
    png_set_compression_buffer_size(writer->png, 1 << 16);
    png_set_filter(writer->png, PNG_FILTER_TYPE_DEFAULT, filters);
    png_write_info(writer->png, writer->info);
    writer->rows_left = height;
    return true;
}

bool webimage_png_write_rows(webimage_png_writer *writer, const void *base, size_t stride, uint32_t rows) {
    if (writer->failed || setjmp(png_jmpbuf(writer->png))) return false;
    if (rows > writer->rows_left) png_error(writer->png, "too many rows");
    for (uint32_t row = 0; row < rows; row++) {
        png_write_row(writer->png, (const uint8_t *)base + row * stride);
    }
    writer->rows_left -= rows;
    if (writer->rows_left == 0) png_write_end(writer->png, NULL);
    return true;
}

const uint8_t *webimage_png_written(const webimage_png_writer *writer, size_t *count) {
    *count = writer->count;
    return writer->bytes;
}

const char *webimage_png_writer_error(const webimage_png_writer *writer) { return writer->message; }
