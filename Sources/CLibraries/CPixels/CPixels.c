#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

/// Returns x * y / 255, rounded to nearest, exact for all bytes.
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
    // In a separate block, since both may be the same memory, and loops over that are not vectorised.
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
void cpixels_bgra_to_rgb(const uint8_t *restrict bgra, uint8_t *restrict rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = bgra[4 * i + 2];
        rgb[3 * i + 1] = bgra[4 * i + 1];
        rgb[3 * i + 2] = bgra[4 * i];
    }
}

MULTIVERSION
void cpixels_planes_to_rgb(
    const uint8_t *restrict red, const uint8_t *restrict green, const uint8_t *restrict blue, uint8_t *restrict rgb,
    size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = red[i];
        rgb[3 * i + 1] = green[i];
        rgb[3 * i + 2] = blue[i];
    }
}

MULTIVERSION
void cpixels_planes_to_rgba(
    const uint8_t *restrict red, const uint8_t *restrict green, const uint8_t *restrict blue,
    const uint8_t *restrict alpha, uint8_t *restrict rgba, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgba[4 * i] = red[i];
        rgba[4 * i + 1] = green[i];
        rgba[4 * i + 2] = blue[i];
        rgba[4 * i + 3] = alpha[i];
    }
}

MULTIVERSION
void cpixels_short_planes_to_rgb(
    const uint16_t *restrict red, const uint16_t *restrict green, const uint16_t *restrict blue,
    uint16_t *restrict rgb, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = red[i];
        rgb[3 * i + 1] = green[i];
        rgb[3 * i + 2] = blue[i];
    }
}

MULTIVERSION
void cpixels_short_planes_to_rgba(
    const uint16_t *restrict red, const uint16_t *restrict green, const uint16_t *restrict blue,
    const uint16_t *restrict alpha, uint16_t *restrict rgba, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rgba[4 * i] = red[i];
        rgba[4 * i + 1] = green[i];
        rgba[4 * i + 2] = blue[i];
        rgba[4 * i + 3] = alpha[i];
    }
}

static inline uint32_t exchange_red_and_blue(uint32_t pixel) {
    return (pixel & 0xff00ff00u) | (pixel & 255) << 16 | ((pixel >> 16) & 255);
}

MULTIVERSION
void cpixels_bgra_to_rgba(const uint8_t *bgra, uint8_t *rgba, size_t count) {
    size_t i = 0;
    // As in cpixels_premultiply_rgba_to_bgra.
    for (; i + 16 <= count; i += 16) {
        uint32_t pixels[16];
        memcpy(pixels, bgra + 4 * i, sizeof pixels);
        for (size_t k = 0; k < 16; k++) pixels[k] = exchange_red_and_blue(pixels[k]);
        memcpy(rgba + 4 * i, pixels, sizeof pixels);
    }
    for (; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, bgra + 4 * i, 4);
        pixel = exchange_red_and_blue(pixel);
        memcpy(rgba + 4 * i, &pixel, 4);
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

/// Copies `count` pixels; those of three bytes as four, since the extra byte is overwritten by the next pixel.
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
        // Only the pixel at the very end of the block has no bytes after it.
        place_line(
            rows + (ptrdiff_t)i * from_outer, from_inner, origin + (ptrdiff_t)i * to_outer, to_inner, inner, bytes,
            i + 1 < outer);
    }
}

typedef uint32_t four_pixels __attribute__((vector_size(16)));

/// Turns rows of 4-byte pixels into columns, in tiles of 4 × 4: `step_y` is 4 or -4.
static void place_columns(
    const uint8_t *rows, ptrdiff_t bytes_per_row, size_t width, size_t height, uint8_t *origin, ptrdiff_t step_x,
    ptrdiff_t step_y) {
    const size_t tiled_width = width & ~(size_t)3, tiled_height = height & ~(size_t)3;
    for (size_t y = 0; y < tiled_height; y += 4) {
        const uint8_t *from = rows + (ptrdiff_t)y * bytes_per_row;
        uint8_t *to = origin + (ptrdiff_t)y * step_y;
        // Begins at the row whose pixels are first in the destination.
        ptrdiff_t next_row = bytes_per_row;
        if (step_y < 0) {
            from += 3 * bytes_per_row;
            to += 3 * step_y;
            next_row = -bytes_per_row;
        }
        for (size_t x = 0; x < tiled_width; x += 4, from += 16, to += 4 * step_x) {
            four_pixels a, b, c, d;
            memcpy(&a, from, sizeof a);
            memcpy(&b, from + next_row, sizeof b);
            memcpy(&c, from + 2 * next_row, sizeof c);
            memcpy(&d, from + 3 * next_row, sizeof d);
            const four_pixels left_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            const four_pixels right_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const four_pixels left_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
            const four_pixels right_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            const four_pixels columns[4] = {
                __builtin_shufflevector(left_ab, left_cd, 0, 1, 4, 5),
                __builtin_shufflevector(left_ab, left_cd, 2, 3, 6, 7),
                __builtin_shufflevector(right_ab, right_cd, 0, 1, 4, 5),
                __builtin_shufflevector(right_ab, right_cd, 2, 3, 6, 7),
            };
            for (ptrdiff_t i = 0; i < 4; i++) memcpy(to + i * step_x, &columns[i], sizeof columns[i]);
        }
    }
    const size_t right = width - tiled_width, below = height - tiled_height;
    if (right > 0 && tiled_height > 0) {
        place(
            rows + 4 * tiled_width, bytes_per_row, right, tiled_height, origin + (ptrdiff_t)tiled_width * step_x, step_x,
            step_y, 4);
    }
    if (below > 0) {
        place(
            rows + (ptrdiff_t)tiled_height * bytes_per_row, bytes_per_row, width, below,
            origin + (ptrdiff_t)tiled_height * step_y, step_x, step_y, 4);
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
    } else if (step_y == 4 || step_y == -4) {
        place_columns(rows, bytes_per_row, width, height, origin, step_x, step_y);
    } else {
        place(rows, bytes_per_row, width, height, origin, step_x, step_y, 4);
    }
}
