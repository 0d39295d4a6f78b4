#include "CTestSupport.h"

#include <stdlib.h>

/// Returns the four components of an expected pixel, colours premultiplied.
static void expected_pixel(const uint8_t *samples, int channels, int rgba[4]) {
    int colours = channels < 3 ? 1 : 3;
    rgba[3] = channels % 2 == 0 ? samples[channels - 1] : 255;
    for (int c = 0; c < 3; c++) { rgba[c] = (samples[colours == 1 ? 0 : c] * rgba[3] * 2 + 255) / 510; }
}

struct ctest_difference ctest_compare_pixels(
    const uint8_t *rows, size_t bytes_per_row, int found_channels, const uint8_t *samples, int channels, size_t width,
    size_t height) {
    struct ctest_difference result = {0};
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            const uint8_t *found = rows + y * bytes_per_row + x * (size_t)found_channels;
            int wanted[4], is_bgra = found_channels == 4;
            expected_pixel(samples + (y * width + x) * (size_t)channels, channels, wanted);
            for (int c = 0; c < 4; c++) {
                int value = c == 3 ? (is_bgra ? found[3] : 255) : found[is_bgra ? 2 - c : c];
                int difference = abs(wanted[c] - value);
                if (difference > result.maximum) { result.maximum = difference; }
                result.sum += difference;
                result.squares += (long)difference * difference;
            }
        }
    }
    return result;
}

void ctest_rgb_to_bgra(const uint8_t *rgb, uint8_t *bgra, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) { bgra[4 * i + (size_t)c] = rgb[3 * i + 2 - (size_t)c]; }
        bgra[4 * i + 3] = 255;
    }
}

int ctest_have_alpha(const uint8_t *pixels, size_t count, uint8_t alpha) {
    for (size_t i = 0; i < count; i++) {
        if (pixels[4 * i + 3] != alpha) return 0;
    }
    return 1;
}

long ctest_count_unlike(const uint8_t *pixels, size_t count, const uint8_t *colour) {
    long result = 0;
    for (size_t i = 0; i < count; i++) {
        int is_unlike = 0;
        for (size_t c = 0; c < 4; c++) { is_unlike |= abs(pixels[4 * i + c] - colour[c]) > 1; }
        result += is_unlike;
    }
    return result;
}

long ctest_worst_difference(const uint8_t *first, const uint8_t *second, size_t count) {
    int worst = 0;
    for (size_t i = 0; i < count; i++) {
        int difference = abs(first[i] - second[i]);
        if (difference > worst) { worst = difference; }
    }
    return worst;
}

uint32_t ctest_crc32(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) { crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1; }
    }
    return crc;
}
