#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

typedef float float8 __attribute__((vector_size(32)));
typedef int int8x __attribute__((vector_size(32)));
typedef int16_t short8 __attribute__((vector_size(16)));
typedef uint8_t byte8 __attribute__((vector_size(8)));
typedef uint8_t byte64 __attribute__((vector_size(64)));

/// Sums are fixed-point numbers in units of 1 / PARTS, in 16 bits: half the memory of floats, and rounding them a few times costs less than a tenth
/// of a level. The absolute weights of a filter add up to less than 2, so a sum stays below 512.
#define PARTS 64

INLINE float8 load8(const float *from) {
    float8 value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE float8 load_sums(const int16_t *from) {
    short8 value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, float8);
}

MULTIVERSION
void cpixels_to_float(
    const uint8_t *restrict rows, ptrdiff_t bytes_per_row, size_t row_count, float *restrict samples, size_t count) {
    for (size_t row = 0; row < row_count; row++) {
        const uint8_t *restrict from = rows + (ptrdiff_t)row * bytes_per_row;
        float *restrict to = samples + row * count;
        for (size_t i = 0; i < count; i++) { to[i] = from[i]; }
    }
}

/// Rounds to the nearest; the offset makes the value positive, so that truncation rounds.
INLINE int rounded(float value) { return (int)(value + 32768.5f) - 32768; }

MULTIVERSION
void cpixels_accumulate(
    int16_t *restrict sums, const float *restrict samples, const float weights[4], size_t count, bool clear) {
    const float *restrict a = samples, *restrict b = a + count, *restrict c = b + count, *restrict d = c + count;
    const float wa = weights[0] * PARTS, wb = weights[1] * PARTS, wc = weights[2] * PARTS, wd = weights[3] * PARTS;
    if (clear) {
        for (size_t i = 0; i < count; i++) { sums[i] = (int16_t)rounded(a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd); }
    } else {
        for (size_t i = 0; i < count; i++) {
            sums[i] = (int16_t)(sums[i] + rounded(a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd));
        }
    }
}

typedef float float16 __attribute__((vector_size(64)));
typedef int int16x __attribute__((vector_size(64)));
typedef int16_t short16 __attribute__((vector_size(32)));
typedef uint8_t byte16 __attribute__((vector_size(16)));

MULTIVERSION
void cpixels_sum_rows(
    struct cpixels_ring ring, size_t first, const float *weights, size_t row_count, int16_t *sums, size_t count) {
    const uint8_t *rows[cpixels_most_summed_rows];
    for (size_t k = 0; k < row_count; k++) { rows[k] = ring.rows + (ptrdiff_t)((first + k) % ring.count) * ring.bytes_per_row; }
    for (size_t i = 0; i < count; i += 64) {
        // Four sums at once hide the adder's latency.
        float16 four[4] = {{0}};
        for (size_t k = 0; k < row_count; k++) {
            const float weight = weights[k] * PARTS;
            // The rows are more than the processor's own prefetching follows.
            __builtin_prefetch(rows[k] + i + 128);
            for (int part = 0; part < 4; part++) {
                byte16 bytes;
                memcpy(&bytes, rows[k] + i + 16 * part, sizeof bytes);
                four[part] += __builtin_convertvector(bytes, float16) * weight;
            }
        }
        for (int part = 0; part < 4; part++) {
            short16 rounded = __builtin_convertvector(__builtin_convertvector(four[part] + 32768.5f, int16x) - 32768, short16);
            memcpy(sums + i + 16 * part, &rounded, sizeof rounded);
        }
    }
}

/// Transposes eight samples of eight rows.
INLINE void transpose8(const int16_t *const rows[8], size_t offset, float *to) {
    float8 a[8], b[8];
    for (int i = 0; i < 8; i++) { a[i] = load_sums(rows[i] + offset); }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[2 * i + 1] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 2; i++) {
        a[4 * i] = __builtin_shufflevector(b[4 * i], b[4 * i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        a[4 * i + 1] = __builtin_shufflevector(b[4 * i], b[4 * i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        a[4 * i + 2] = __builtin_shufflevector(b[4 * i + 1], b[4 * i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        a[4 * i + 3] = __builtin_shufflevector(b[4 * i + 1], b[4 * i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        float8 low = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        float8 high = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        memcpy(to + 8 * i, &low, sizeof low);
        memcpy(to + 8 * (i + 4), &high, sizeof high);
    }
}

/// The weighted sums of one pixel's channels, for eight rows at once; two sums per channel hide the adder's latency.
INLINE void weigh(const float *from, const float *weights, size_t taps, const int channels, float8 sums[4]) {
    float8 odd[4] = {{0}};
    for (int c = 0; c < channels; c++) { sums[c] = (float8){0}; }
    for (size_t k = 0; k < taps; k += 2) {
        for (int c = 0; c < channels; c++) { sums[c] += load8(from + 8 * c) * weights[k]; }
        from += 8 * channels;
        for (int c = 0; c < channels; c++) { odd[c] += load8(from + 8 * c) * weights[k + 1]; }
        from += 8 * channels;
    }
    for (int c = 0; c < channels; c++) { sums[c] += odd[c]; }
}

INLINE float8 at_least(float8 value, float8 bound) { return __builtin_elementwise_max(value, bound); }
INLINE float8 at_most(float8 value, float8 bound) { return __builtin_elementwise_min(value, bound); }

INLINE byte8 to_bytes(float8 value) { return __builtin_convertvector(__builtin_convertvector(value, int8x), byte8); }

/// Returns the number of source pixels that are transposed at a time: few enough to stay in the L1 cache.
static size_t tile_pixels(const struct cpixels_row_filter *filter) { return filter->taps > 192 ? filter->taps : 192; }

size_t cpixels_filter_scratch(const struct cpixels_row_filter *filter, int channels) {
    // The columns, rounded up to whole transposes, followed by the bytes of a tile's results, eight rows each.
    return (tile_pixels(filter) * (size_t)channels + 8) * 8 + (filter->output_width * (size_t)channels + 8) * 2;
}

INLINE void filter_rows(
    const int16_t *const rows[8], size_t row_count, const int channels, bool premultiplied,
    const struct cpixels_row_filter *filter, float *columns, uint8_t *output, ptrdiff_t bytes_per_row) {
    const size_t taps = filter->taps, tile = tile_pixels(filter), width = filter->output_width;
    uint8_t *bytes = (uint8_t *)(columns + (tile * (size_t)channels + 8) * 8);
    for (size_t x = 0; x < width;) {
        const size_t start = (size_t)filter->first[x];
        size_t end = x + 1;
        while (end < width && (size_t)filter->first[end] + taps <= start + tile) { end++; }
        const size_t samples = ((size_t)filter->first[end - 1] + taps - start) * (size_t)channels;
        for (size_t i = 0; i < samples; i += 8) { transpose8(rows, start * (size_t)channels + i, columns + 8 * i); }
        for (; x < end; x++) {
            float8 sums[4];
            weigh(columns + 8 * channels * ((size_t)filter->first[x] - start), filter->weights + x * taps, taps, channels, sums);
            for (int c = channels - 1; c >= 0; c--) {
                sums[c] = at_most(at_least(sums[c] * (1.0f / PARTS), (float8){0}), (float8){0} + 255) + 0.5f;
                if (premultiplied && c < 3) { sums[c] = at_most(sums[c], sums[3]); }
                byte8 column = to_bytes(sums[c]);
                memcpy(bytes + 8 * (x * (size_t)channels + (size_t)c), &column, sizeof column);
            }
        }
    }
    const size_t count = width * (size_t)channels;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        byte64 block;
        memcpy(&block, bytes + 8 * i, sizeof block);
        block = __builtin_shufflevector(
            block, block, 0, 8, 16, 24, 32, 40, 48, 56, 1, 9, 17, 25, 33, 41, 49, 57, 2, 10, 18, 26, 34, 42, 50, 58, 3,
            11, 19, 27, 35, 43, 51, 59, 4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61, 6, 14, 22, 30, 38,
            46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63);
        uint8_t turned[64];
        memcpy(turned, &block, sizeof block);
        for (size_t row = 0; row < row_count; row++) { memcpy(output + (ptrdiff_t)row * bytes_per_row + i, turned + 8 * row, 8); }
    }
    for (; i < count; i++) {
        for (size_t row = 0; row < row_count; row++) { output[(ptrdiff_t)row * bytes_per_row + (ptrdiff_t)i] = bytes[8 * i + row]; }
    }
}

MULTIVERSION
void cpixels_filter_rows(
    const int16_t *const rows[cpixels_lanes], size_t row_count, int channels, bool premultiplied,
    const struct cpixels_row_filter *filter, float *scratch, uint8_t *output, ptrdiff_t bytes_per_row) {
    if (channels == 1) {
        filter_rows(rows, row_count, 1, false, filter, scratch, output, bytes_per_row);
    } else if (channels == 3) {
        filter_rows(rows, row_count, 3, false, filter, scratch, output, bytes_per_row);
    } else {
        filter_rows(rows, row_count, 4, premultiplied, filter, scratch, output, bytes_per_row);
    }
}
