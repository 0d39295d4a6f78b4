// JPEG bytes to a small RGB picture, row by row: DCT scaling by libjpeg, then Lanczos-3 or a box.
#ifndef THUMBNAIL_H
#define THUMBNAIL_H

#include "bench.h"

typedef enum { QUALITY_HIGH, QUALITY_FAST } Quality;

typedef struct {
    int width, height;
    unsigned char *rgb;  // width * 3 bytes a row
} Picture;

// Fits the picture into a box. HIGH: DCT scaling to at least twice the result, then Lanczos-3. FAST: DCT scaling to at
// least the result, then libyuv's box filter. The caller frees rgb.
Picture make_thumbnail(Blob jpeg, int box_width, int box_height, Quality quality);

// The whole picture as BGRA, into `buffer`, which grows when it must.
typedef struct {
    unsigned char *bytes;
    size_t capacity;
    int width, height;
} Canvas;
void decode_bgra(Blob jpeg, Canvas *canvas);

// Baseline JPEG, 4:2:0. The caller frees bytes.
Blob encode_jpeg(Picture picture, int quality);

#endif
