#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

typedef uint8_t byte16 __attribute__((vector_size(16)));
typedef uint8_t byte32 __attribute__((vector_size(32)));
typedef uint8_t byte64 __attribute__((vector_size(64)));
typedef uint16_t word32 __attribute__((vector_size(64)));

/// Always inlined with a constant `count`, so that the inner loop is unrolled.
INLINE void blend(
    const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c, const uint8_t *restrict d,
    const uint16_t weights[4], uint8_t *restrict output, size_t samples, const int count) {
    const uint16_t wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
    for (size_t i = 0; i < samples; i++) {
        uint16_t sum = (uint16_t)(a[i] * wa + 128);
        if (count > 1) { sum = (uint16_t)(sum + b[i] * wb); }
        if (count > 2) { sum = (uint16_t)(sum + c[i] * wc); }
        if (count > 3) { sum = (uint16_t)(sum + d[i] * wd); }
        output[i] = (uint8_t)(sum >> 8);
    }
}

MULTIVERSION
void cpixels_blend_rows(
    const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c, const uint8_t *restrict d,
    const uint16_t weights[4], uint8_t *restrict output, size_t samples) {
    if (weights[3] != 0) {
        blend(a, b, c, d, weights, output, samples, 4);
    } else if (weights[2] != 0) {
        blend(a, b, c, d, weights, output, samples, 3);
    } else if (weights[1] != 0) {
        blend(a, b, c, d, weights, output, samples, 2);
    } else {
        blend(a, b, c, d, weights, output, samples, 1);
    }
}

INLINE byte16 load16(const uint8_t *from) {
    byte16 value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE byte64 join(byte16 a, byte16 b, byte16 c, byte16 d) {
    byte32 low = __builtin_shufflevector(
        a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31);
    byte32 high = __builtin_shufflevector(
        c, d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31);
    return __builtin_shufflevector(
        low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
        29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,
        58, 59, 60, 61, 62, 63);
}

// A quarter of a vector holds two pixels of one row, a word for each of four samples; Z is a byte of the zero vector.
#define Z 64
#define WORDS(base, i0, i1, i2, i3, j0, j1, j2, j3)                                                                     \
    (base) + (i0), Z, (base) + (i1), Z, (base) + (i2), Z, (base) + (i3), Z, (base) + (j0), Z, (base) + (j1), Z,             \
        (base) + (j2), Z, (base) + (j3), Z
#define QUARTERS(...) WORDS(0, __VA_ARGS__), WORDS(16, __VA_ARGS__), WORDS(32, __VA_ARGS__), WORDS(48, __VA_ARGS__)
#define PAIR(vector, ...) (word32) __builtin_shufflevector(vector, (byte64){0}, QUARTERS_OF(__VA_ARGS__))
#define QUARTERS_OF(...) QUARTERS(__VA_ARGS__)

/// Lays out four rows side by side: `pairs` holds pixels 0 and 1 of each row, `rest` pixels 2 and 3.
INLINE void spread(byte64 pixels, const int channels, word32 *pairs, word32 *rest) {
    if (channels == 3) {
        *pairs = PAIR(pixels, 0, 1, 2, 2, 3, 4, 5, 5);
        *rest = PAIR(pixels, 6, 7, 8, 8, 9, 10, 11, 11);
    } else {
        *pairs = PAIR(pixels, 0, 1, 2, 3, 4, 5, 6, 7);
        *rest = PAIR(pixels, 8, 9, 10, 11, 12, 13, 14, 15);
    }
}

/// Lays out the weights of one result pixel like `spread` does.
INLINE void spread_weights(const uint16_t weights[4], word32 *pairs, word32 *rest) {
    uint64_t four;
    memcpy(&four, weights, sizeof four);
    typedef uint64_t quad8 __attribute__((vector_size(64)));
    byte64 all = (byte64)((quad8){0} + four);
#define TWICE(base, i, j)                                                                                              \
    (base) + (i), (base) + (i) + 1, (base) + (i), (base) + (i) + 1, (base) + (i), (base) + (i) + 1, (base) + (i),          \
        (base) + (i) + 1, (base) + (j), (base) + (j) + 1, (base) + (j), (base) + (j) + 1, (base) + (j), (base) + (j) + 1,  \
        (base) + (j), (base) + (j) + 1
    *pairs = (word32)__builtin_shufflevector(all, all, TWICE(0, 0, 2), TWICE(16, 0, 2), TWICE(32, 0, 2), TWICE(48, 0, 2));
    *rest = (word32)__builtin_shufflevector(all, all, TWICE(0, 4, 6), TWICE(16, 4, 6), TWICE(32, 4, 6), TWICE(48, 4, 6));
}

/// Writes pixel `x` of four result rows; `size` bytes of each.
INLINE void narrow_pixel(
    const uint8_t *rows, ptrdiff_t bytes_per_row, const int channels, const struct cpixels_area_filter *filter, size_t x,
    uint8_t *output, ptrdiff_t output_bytes_per_row, const size_t size) {
    const uint8_t *from = rows + (ptrdiff_t)filter->first[x] * channels;
    byte64 pixels = join(
        load16(from), load16(from + bytes_per_row), load16(from + 2 * bytes_per_row), load16(from + 3 * bytes_per_row));
    word32 a, b, wa, wb;
    spread(pixels, channels, &a, &b);
    spread_weights(filter->weights + 4 * x, &wa, &wb);
    word32 sums = a * wa + b * wb;
    // Moves the upper half of each quarter onto the lower one.
    word32 other = __builtin_shufflevector(
        sums, sums, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 20, 21, 22, 23, 16, 17, 18, 19, 28, 29, 30, 31,
        24, 25, 26, 27);
    byte32 bytes = __builtin_convertvector((sums + other + 128) >> 8, byte32);
    uint8_t *to = output + x * (size_t)channels;
    for (int row = 0; row < 4; row++) {
        memcpy(to + row * output_bytes_per_row, (const uint8_t *)&bytes + 8 * row, size);
    }
}

INLINE void narrow_rows(
    const uint8_t *rows, ptrdiff_t bytes_per_row, const int channels, const struct cpixels_area_filter *filter,
    uint8_t *output, ptrdiff_t output_bytes_per_row) {
    // Four bytes are written at once, also of three channels: the next pixel overwrites the last one.
    size_t last = filter->output_width - 1;
    for (size_t x = 0; x < last; x++) {
        narrow_pixel(rows, bytes_per_row, channels, filter, x, output, output_bytes_per_row, 4);
    }
    narrow_pixel(rows, bytes_per_row, channels, filter, last, output, output_bytes_per_row, (size_t)channels);
}

MULTIVERSION
void cpixels_narrow_rows(
    const uint8_t *rows, ptrdiff_t bytes_per_row, int channels, const struct cpixels_area_filter *filter, uint8_t *output,
    ptrdiff_t output_bytes_per_row) {
    if (channels == 3) {
        narrow_rows(rows, bytes_per_row, 3, filter, output, output_bytes_per_row);
    } else {
        narrow_rows(rows, bytes_per_row, 4, filter, output, output_bytes_per_row);
    }
}
