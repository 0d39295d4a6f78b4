#include "CPixels.h"

#include "Multiversion.h"

/// Of each cell of `factor` pixels the mean of two, a quarter from its sides.
#define REDUCE(channels)                                                                                              \
    do {                                                                                                              \
        for (size_t x = 0; x < whole; x++) {                                                                          \
            const uint8_t *cell = row + x * factor * (channels);                                                      \
            for (size_t c = 0; c < (channels); c++) {                                                                 \
                uint32_t mean = (cell[first * (channels) + c] + cell[second * (channels) + c] + 1u) >> 1;             \
                uint8_t *to = output + x * (channels) + c;                                                            \
                *to = (uint8_t)(adds ? (*to + mean) >> 1 : mean);                                                     \
            }                                                                                                         \
        }                                                                                                             \
    } while (0)

MULTIVERSION
void cpixels_reduce_row(
    const uint8_t *restrict row, size_t width, size_t channels, size_t factor, uint8_t *restrict output, bool adds) {
    size_t first = factor / 4, second = 3 * factor / 4, whole = width / factor;
    switch (channels) {
    case 1: REDUCE(1); break;
    case 3: REDUCE(3); break;
    default: REDUCE(4); break;
    }
    if (whole * factor == width) return;
    // A cell that the picture ends in: its first pixel.
    for (size_t c = 0; c < channels; c++) {
        uint32_t value = row[whole * factor * channels + c];
        uint8_t *to = output + whole * channels + c;
        *to = (uint8_t)(adds ? (*to + value) >> 1 : value);
    }
}

void cpixels_pick_pixels(const uint8_t *restrict row, size_t width, size_t factor, uint8_t *restrict output) {
    for (size_t x = 0; x < width; x += factor, output += 4) {
        size_t from = x + factor / 2 < width ? x + factor / 2 : x;
        for (size_t c = 0; c < 4; c++) output[c] = row[4 * from + c];
    }
}
