// Half floats (IEEE 754 binary16), and the resampling of pixels of four floats.
#include <string.h>

#include "CPixels.h"
#include "Multiversion.h"

/// Rounds to the nearest, ties to even; values out of range become the largest number, NaN becomes 0.
INLINE uint16_t to_half(float value) {
    value = value == value ? value : 0;
    value = value > 65504 ? 65504 : value < -65504 ? -65504 : value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    // Small numbers: adding a half aligns their bits as the exponent 0 requires, and rounds.
    float small, lined;
    memcpy(&small, &size, sizeof small);
    lined = small + 0.5f;
    uint32_t denormal;
    memcpy(&denormal, &lined, sizeof denormal);
    uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    return (uint16_t)(sign | (size < 0x38800000 ? denormal - 0x3f000000 : normal));
}

INLINE float from_half(uint16_t half) {
    // Multiplying moves the exponent to that of floats; infinity becomes 65536.
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112f;
    return half & 0x8000 ? -value : value;
}

MULTIVERSION
void cpixels_floats_to_halves(const float *floats, uint16_t *halves, size_t count) {
    for (size_t i = 0; i < count; i++) { halves[i] = to_half(floats[i]); }
}

MULTIVERSION
void cpixels_halves_to_floats(const uint16_t *halves, float *floats, size_t count) {
    for (size_t i = 0; i < count; i++) { floats[i] = from_half(halves[i]); }
}

MULTIVERSION
void cpixels_filter_float_row(const float *row, const struct cpixels_row_filter *filter, float *output) {
    for (size_t x = 0; x < filter->output_width; x++) {
        const float *from = row + 4 * (size_t)filter->first[x], *weights = filter->weights + x * filter->taps;
        float sums[4] = {0};
        for (size_t tap = 0; tap < filter->taps; tap++) {
            for (int c = 0; c < 4; c++) { sums[c] += from[4 * tap + c] * weights[tap]; }
        }
        memcpy(output + 4 * x, sums, sizeof sums);
    }
}

MULTIVERSION
void cpixels_add_weighted(float *restrict sums, const float *restrict row, float weight, size_t count) {
    for (size_t i = 0; i < count; i++) { sums[i] += row[i] * weight; }
}

MULTIVERSION
void cpixels_limit_alpha(float *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float alpha = pixels[4 * i + 3];
        pixels[4 * i + 3] = alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
    }
}
