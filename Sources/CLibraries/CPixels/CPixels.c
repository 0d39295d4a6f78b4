#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

/// x * y / 255, rounded to nearest, exact for all bytes.
static inline uint32_t multiply255(uint32_t x, uint32_t y) {
    uint32_t product = x * y + 128;
    return (product + (product >> 8)) >> 8;
}

static inline uint32_t premultiply(uint32_t pixel) {
    uint32_t alpha = pixel >> 24;
    uint32_t red = multiply255(pixel & 255, alpha);
    uint32_t green = multiply255((pixel >> 8) & 255, alpha);
    uint32_t blue = multiply255((pixel >> 16) & 255, alpha);
    return blue | green << 8 | red << 16 | alpha << 24;
}

MULTIVERSION
void cpixels_premultiply_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t count) {
    size_t i = 0;
    // By way of a block of its own, since both may be the same memory, for which a loop over them is not made a vector's.
    for (; i + 16 <= count; i += 16) {
        uint32_t pixels[16];
        memcpy(pixels, rgba + 4 * i, sizeof pixels);
        for (size_t k = 0; k < 16; k++) pixels[k] = premultiply(pixels[k]);
        memcpy(bgra + 4 * i, pixels, sizeof pixels);
    }
    for (; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, rgba + 4 * i, 4);
        pixel = premultiply(pixel);
        memcpy(bgra + 4 * i, &pixel, 4);
    }
}

MULTIVERSION
void cpixels_bgra_over_bgra(const uint8_t *restrict source, uint8_t *restrict target, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t uncovered = 255 - source[4 * i + 3];
        for (size_t c = 0; c < 4; c++) {
            target[4 * i + c] = (uint8_t)(source[4 * i + c] + multiply255(target[4 * i + c], uncovered));
        }
    }
}

MULTIVERSION
void cpixels_gray_to_rgb(const uint8_t *restrict gray, uint8_t *restrict rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = gray[i];
        rgb[3 * i + 1] = gray[i];
        rgb[3 * i + 2] = gray[i];
    }
}

MULTIVERSION
void cpixels_gray_to_bgra(const uint8_t *restrict gray, uint8_t *restrict bgra, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = 0xff000000u | gray[i] * 0x010101u;
        memcpy(bgra + 4 * i, &pixel, 4);
    }
}

MULTIVERSION
void cpixels_rgb_to_bgra(const uint8_t *restrict rgb, uint8_t *restrict bgra, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = 0xff000000u | (uint32_t)rgb[3 * i] << 16 | (uint32_t)rgb[3 * i + 1] << 8 | rgb[3 * i + 2];
        memcpy(bgra + 4 * i, &pixel, 4);
    }
}

MULTIVERSION
void cpixels_cmyk_to_rgb(const uint8_t *restrict cmyk, uint8_t *restrict rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t paper = 255 - cmyk[4 * i + 3];
        for (size_t c = 0; c < 3; c++) {
            rgb[3 * i + c] = (uint8_t)(paper - multiply255(cmyk[4 * i + c], paper));
        }
    }
}

MULTIVERSION
void cpixels_invert(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) { bytes[i] = (uint8_t)~bytes[i]; }
}

MULTIVERSION
void cpixels_bgra_onto_color(
    const uint8_t *restrict bgra, uint8_t *restrict rgb, size_t count, uint8_t red, uint8_t green, uint8_t blue) {
    for (size_t i = 0; i < count; i++) {
        uint32_t clear = 255 - bgra[4 * i + 3];
        uint32_t r = bgra[4 * i + 2] + multiply255(red, clear);
        uint32_t g = bgra[4 * i + 1] + multiply255(green, clear);
        uint32_t b = bgra[4 * i] + multiply255(blue, clear);
        rgb[3 * i] = (uint8_t)(r > 255 ? 255 : r);
        rgb[3 * i + 1] = (uint8_t)(g > 255 ? 255 : g);
        rgb[3 * i + 2] = (uint8_t)(b > 255 ? 255 : b);
    }
}

/// Copies `count` pixels; those of three bytes as four, since the byte too many is overwritten by the next pixel.
static inline __attribute__((always_inline)) void place_line(
    const uint8_t *from, ptrdiff_t from_step, uint8_t *to, ptrdiff_t to_step, size_t count, const size_t bytes,
    bool may_read_more) {
    size_t i = 0;
    if (bytes == 3 && to_step == 3 && may_read_more) {
        for (; i + 1 < count; i++, from += from_step, to += 3) { memcpy(to, from, 4); }
    }
    for (; i < count; i++, from += from_step, to += to_step) { memcpy(to, from, bytes); }
}

/// The inner loop runs along the side that is contiguous in the destination, towards higher addresses.
static inline __attribute__((always_inline)) void place(
    const uint8_t *rows, ptrdiff_t bytes_per_row, size_t width, size_t height, uint8_t *origin, ptrdiff_t step_x,
    ptrdiff_t step_y, const size_t bytes) {
    const bool columns = step_y == (ptrdiff_t)bytes || step_y == -(ptrdiff_t)bytes;
    const size_t outer = columns ? width : height, inner = columns ? height : width;
    const ptrdiff_t from_outer = columns ? (ptrdiff_t)bytes : bytes_per_row;
    ptrdiff_t from_inner = columns ? bytes_per_row : (ptrdiff_t)bytes;
    const ptrdiff_t to_outer = columns ? step_x : step_y;
    ptrdiff_t to_inner = columns ? step_y : step_x;
    if (to_inner < 0) {
        rows += (ptrdiff_t)(inner - 1) * from_inner;
        origin += (ptrdiff_t)(inner - 1) * to_inner;
        from_inner = -from_inner;
        to_inner = -to_inner;
    }
    for (size_t i = 0; i < outer; i++) {
        // Only a pixel at the very end of the block has nothing behind it.
        place_line(
            rows + (ptrdiff_t)i * from_outer, from_inner, origin + (ptrdiff_t)i * to_outer, to_inner, inner, bytes,
            i + 1 < outer);
    }
}

void cpixels_place(
    const uint8_t *rows, ptrdiff_t bytes_per_row, size_t width, size_t height, uint8_t *origin, ptrdiff_t step_x,
    ptrdiff_t step_y, int bytes_per_pixel) {
    if (step_x == bytes_per_pixel) {
        for (size_t y = 0; y < height; y++) {
            memcpy(origin + (ptrdiff_t)y * step_y, rows + (ptrdiff_t)y * bytes_per_row, width * bytes_per_pixel);
        }
    } else if (bytes_per_pixel == 3) {
        place(rows, bytes_per_row, width, height, origin, step_x, step_y, 3);
    } else if (bytes_per_pixel == 8) {
        place(rows, bytes_per_row, width, height, origin, step_x, step_y, 8);
    } else {
        place(rows, bytes_per_row, width, height, origin, step_x, step_y, 4);
    }
}
