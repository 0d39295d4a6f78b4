#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

/// The means of four bytes and four others, rounded up or down.
INLINE uint32_t mean_up(uint32_t a, uint32_t b) { return (a | b) - (((a ^ b) >> 1) & 0x7f7f7f7fu); }
INLINE uint32_t mean_down(uint32_t a, uint32_t b) { return (a & b) + (((a ^ b) >> 1) & 0x7f7f7f7fu); }

/// Loads `size` bytes of a pixel, of which `channels` are used.
INLINE void reduce_cell(
    const uint8_t *first, const uint8_t *second, uint8_t *output, size_t channels, size_t size, bool adds) {
    uint32_t a = 0, b = 0, former = 0;
    memcpy(&a, first, size);
    memcpy(&b, second, size);
    a = mean_up(a, b);
    if (adds) {
        memcpy(&former, output, channels);
        a = mean_down(a, former);
    }
    memcpy(output, &a, channels);
}

/// Computes the mean of two pixels of each cell of `factor` pixels, a quarter from its sides; for an incomplete last cell, its first pixel. In all
/// but the last cell a pixel of three bytes is loaded with the byte after it.
INLINE void reduce(
    const uint8_t *row, size_t width, size_t channels, size_t factor, uint8_t *output, bool adds) {
    size_t first = factor / 4 * channels, second = 3 * factor / 4 * channels, step = factor * channels;
    size_t whole = width / factor, x = 0;
    for (; x + 1 < whole; x++, row += step, output += channels) {
        reduce_cell(row + first, row + second, output, channels, channels == 1 ? 1 : 4, adds);
    }
    for (; x < whole; x++, row += step, output += channels) {
        reduce_cell(row + first, row + second, output, channels, channels, adds);
    }
    if (whole * factor < width) reduce_cell(row, row, output, channels, channels, adds);
}

void cpixels_reduce_row(
    const uint8_t *row, size_t width, size_t channels, size_t factor, uint8_t *output, bool adds) {
    switch (channels) {
    case 1: reduce(row, width, 1, factor, output, adds); break;
    case 3: adds ? reduce(row, width, 3, factor, output, true) : reduce(row, width, 3, factor, output, false); break;
    default: reduce(row, width, 4, factor, output, adds); break;
    }
}

void cpixels_pick_pixels(const uint8_t *row, size_t width, size_t factor, uint8_t *output) {
    for (size_t x = 0; x < width; x += factor, output += 4) {
        size_t from = x + factor / 2 < width ? x + factor / 2 : x;
        memcpy(output, row + 4 * from, 4);
    }
}

/// The number of channels is known where this is compiled.
INLINE void halve_rows(const uint8_t *upper, const uint8_t *lower, size_t width, size_t channels, uint8_t *output) {
    for (size_t x = 0; x + 1 < width; x += 2, upper += 2 * channels, lower += 2 * channels, output += channels) {
        for (size_t c = 0; c < channels; c++) {
            output[c] = (uint8_t)((upper[c] + upper[c + channels] + lower[c] + lower[c + channels] + 2) >> 2);
        }
    }
    if (width % 2 == 0) { return; }
    for (size_t c = 0; c < channels; c++) { output[c] = (uint8_t)((upper[c] + lower[c] + 1) >> 1); }
}

MULTIVERSION void cpixels_halve_rows(
    const uint8_t *upper, const uint8_t *lower, size_t width, size_t channels, uint8_t *output) {
    switch (channels) {
    case 1: halve_rows(upper, lower, width, 1, output); break;
    case 3: halve_rows(upper, lower, width, 3, output); break;
    default: halve_rows(upper, lower, width, 4, output); break;
    }
}
