// PNG's row filters, with the compiler's portable vectors.
#pragma once
#include <stdint.h>
#include <string.h>

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH };

/// Restores a row of `count` bytes. `filtered` and `above` must be readable for 4 bytes past the row; `above` is the previous row, zeros for the
/// first. False for an invalid filter.
int png_unfilter(
    int filter, const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, size_t bytes_per_pixel);

/// Filters a row; `above` as before. Returns the sum of the absolute differences, by which filters are compared.
uint64_t png_filter(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *filtered, size_t count, size_t bytes_per_pixel);
