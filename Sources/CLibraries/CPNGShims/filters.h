// PNG's row filters, with vectors as the compiler offers them on every machine.
#pragma once
#include <stdint.h>
#include <string.h>

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH };

/// Restores a row of `count` bytes. `filtered` and `above` must be readable for 4 bytes past the row; `above` is the row
/// before, zeros for the first. False for a filter that does not exist.
int png_unfilter(
    int filter, const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, size_t bytes_per_pixel);

/// Filters a row; `above` as before. Returns how large the differences are in sum, by which filters are compared.
uint64_t png_filter(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *filtered, size_t count, size_t bytes_per_pixel);
