#include "CPixels.h"

#include <string.h>

#if defined(__x86_64__)
#define MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MULTIVERSION
#endif

typedef float float4 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) float4 load4(const float *from) {
    float4 value;
    memcpy(&value, from, sizeof value);
    return value;
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

MULTIVERSION
void cpixels_accumulate(
    float *restrict sums, const float *restrict samples, const float weights[4], size_t count, bool clear) {
    const float *restrict a = samples, *restrict b = a + count, *restrict c = b + count, *restrict d = c + count;
    const float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
    if (clear) {
        for (size_t i = 0; i < count; i++) { sums[i] = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd; }
    } else {
        for (size_t i = 0; i < count; i++) { sums[i] += a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd; }
    }
}

static inline __attribute__((always_inline)) uint8_t round_to_byte(float value) {
    value = value < 0 ? 0 : value;
    value = value > 255 ? 255 : value;
    return (uint8_t)(int)(value + 0.5f);
}

/// The sum of `taps` pixels of `channels` interleaved samples; lanes above `channels` hold the neighbours' and are ignored.
static inline __attribute__((always_inline)) float4 weigh(
    const float *from, const float *weights, size_t taps, const size_t channels) {
    float4 a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t k = 0; k < taps; k += 4) {
        a += load4(from) * weights[k];
        b += load4(from + channels) * weights[k + 1];
        c += load4(from + 2 * channels) * weights[k + 2];
        d += load4(from + 3 * channels) * weights[k + 3];
        from += 4 * channels;
    }
    return (a + b) + (c + d);
}

static inline __attribute__((always_inline)) float weigh_gray(const float *from, const float *weights, size_t taps) {
    float4 sum = {0};
    for (size_t k = 0; k < taps; k += 4) { sum += load4(from + k) * load4(weights + k); }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

MULTIVERSION
void cpixels_filter_row(
    const float *samples, int channels, bool premultiplied, const struct cpixels_row_filter *filter, uint8_t *output) {
    const float *weights = filter->weights;
    const size_t taps = filter->taps, width = filter->output_width;
    if (channels == 1) {
        for (size_t x = 0; x < width; x++, weights += taps) {
            output[x] = round_to_byte(weigh_gray(samples + filter->first[x], weights, taps));
        }
    } else if (channels == 3) {
        for (size_t x = 0; x < width; x++, weights += taps, output += 3) {
            float4 sum = weigh(samples + 3 * (size_t)filter->first[x], weights, taps, 3);
            for (int c = 0; c < 3; c++) { output[c] = round_to_byte(sum[c]); }
        }
    } else {
        for (size_t x = 0; x < width; x++, weights += taps, output += 4) {
            float4 sum = weigh(samples + 4 * (size_t)filter->first[x], weights, taps, 4);
            for (int c = 0; c < 4; c++) { output[c] = round_to_byte(sum[c]); }
            if (premultiplied) {
                for (int c = 0; c < 3; c++) { output[c] = output[c] < output[3] ? output[c] : output[3]; }
            }
        }
    }
}
