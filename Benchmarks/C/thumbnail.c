#include "thumbnail.h"

#include "lanczos.h"

#include <libyuv.h>
#include <math.h>
#include <stdio.h>
#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>

// libjpeg's default error handler prints and exits, which is right for a benchmark of good files.
static void start(struct jpeg_decompress_struct *info, struct jpeg_error_mgr *errors, Blob jpeg) {
    info->err = jpeg_std_error(errors);
    jpeg_create_decompress(info);
    jpeg_mem_src(info, jpeg.bytes, jpeg.count);
    jpeg_read_header(info, TRUE);
}

static void fit(int width, int height, int box_width, int box_height, int *result_width, int *result_height) {
    double scale = fmin((double)box_width / width, (double)box_height / height);
    if (scale > 1) scale = 1;
    *result_width = (int)fmax(1, round(width * scale));
    *result_height = (int)fmax(1, round(height * scale));
}

// Eighths that are powers of two: libjpeg-turbo has SIMD code for those, and they lose less than 3/8 and the like do.
static void scale_on_load(struct jpeg_decompress_struct *info, double at_least, int width, int height) {
    for (unsigned numerator = 1; numerator <= 8; numerator *= 2) {
        info->scale_num = numerator;
        info->scale_denom = 8;
        jpeg_calc_output_dimensions(info);
        if (info->output_width >= at_least * width && info->output_height >= at_least * height) return;
    }
}

// libyuv scales four channels or one, so the box goes over BGRA.
static void box(struct jpeg_decompress_struct *info, Picture picture) {
    int width = (int)info->output_width, height = (int)info->output_height;
    unsigned char *large = need((size_t)width * (size_t)height * 4);
    unsigned char *small = need((size_t)picture.width * (size_t)picture.height * 4);
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = large + (size_t)info->output_scanline * (size_t)width * 4;
        jpeg_read_scanlines(info, &row, 1);
    }
    ARGBScale(large, width * 4, width, height, small, picture.width * 4, picture.width, picture.height, kFilterBox);
    ARGBToRAW(small, picture.width * 4, picture.rgb, picture.width * 3, picture.width, picture.height);
    free(small);
    free(large);
}

Picture make_thumbnail(Blob jpeg, int box_width, int box_height, Quality quality) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    Picture picture;
    start(&info, &errors, jpeg);
    fit((int)info.image_width, (int)info.image_height, box_width, box_height, &picture.width, &picture.height);
    picture.rgb = need((size_t)picture.width * (size_t)picture.height * 3);
    info.out_color_space = quality == QUALITY_HIGH ? JCS_EXT_RGBX : JCS_EXT_BGRA;
    scale_on_load(&info, quality == QUALITY_HIGH ? 2 : 1, picture.width, picture.height);
    jpeg_start_decompress(&info);
    if (quality == QUALITY_HIGH) {
        unsigned char *row = need((size_t)info.output_width * 4);
        Lanczos *lanczos = lanczos_new((int)info.output_width, (int)info.output_height, picture.width, picture.height,
                                       picture.rgb);
        while (info.output_scanline < info.output_height) {
            jpeg_read_scanlines(&info, &row, 1);
            lanczos_row(lanczos, row);
        }
        lanczos_free(lanczos);
        free(row);
    } else {
        box(&info, picture);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return picture;
}

void decode_bgra(Blob jpeg, Canvas *canvas) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    start(&info, &errors, jpeg);
    info.out_color_space = JCS_EXT_BGRA;
    jpeg_start_decompress(&info);
    canvas->width = (int)info.output_width;
    canvas->height = (int)info.output_height;
    size_t stride = (size_t)info.output_width * 4, count = stride * info.output_height;
    if (canvas->capacity < count) {
        free(canvas->bytes);
        canvas->bytes = need(count);
        canvas->capacity = count;
    }
    while (info.output_scanline < info.output_height) {
        JSAMPROW rows[8];
        for (unsigned i = 0; i < 8; i++) {
            unsigned line = info.output_scanline + i;
            if (line >= info.output_height) line = info.output_height - 1;
            rows[i] = canvas->bytes + line * stride;
        }
        jpeg_read_scanlines(&info, rows, 8);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
}

Blob encode_jpeg(Picture picture, int quality) {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char *bytes = NULL;
    unsigned long count = 0;
    jpeg_mem_dest(&info, &bytes, &count);
    info.image_width = (JDIMENSION)picture.width;
    info.image_height = (JDIMENSION)picture.height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = picture.rgb + (size_t)info.next_scanline * (size_t)picture.width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return (Blob){bytes, count};
}
