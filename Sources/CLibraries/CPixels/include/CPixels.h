// Inner loops over pixels and samples, compiled once for each level of vector instructions and chosen at run time.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPixelsEffects.h"

/// Straight RGBA to premultiplied BGRA, exactly rounded: (c * a + 127) / 255. Both may be the same memory.
void cpixels_premultiply_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t count);

/// Premultiplied BGRA to straight BGRA or RGBA, rounded to nearest; 0 where alpha is 0. Both may be the same memory.
void cpixels_unpremultiply_bgra_to_bgra(const uint8_t *bgra, uint8_t *straight, size_t count);
void cpixels_unpremultiply_bgra_to_rgba(const uint8_t *bgra, uint8_t *rgba, size_t count);

/// Opaque conversions of `count` pixels; source and destination must not overlap.
void cpixels_gray_to_rgb(const uint8_t *gray, uint8_t *rgb, size_t count);
void cpixels_gray_to_bgra(const uint8_t *gray, uint8_t *bgra, size_t count);
void cpixels_rgb_to_bgra(const uint8_t *rgb, uint8_t *bgra, size_t count);

/// The naive conversion R = (255 - C)(255 - K) / 255, for pictures without a profile; 0 is no ink.
void cpixels_cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, size_t count);

/// 255 - x, in place.
void cpixels_invert(uint8_t *bytes, size_t count);

/// Puts premultiplied pixels over others: target = source + target * (255 - alpha) / 255, rounded to nearest.
void cpixels_bgra_over_bgra(const uint8_t *source, uint8_t *target, size_t count);

/// Removes premultiplied pixels from their alpha by putting them onto an opaque colour: BGRA to RGB.
void cpixels_bgra_onto_color(const uint8_t *bgra, uint8_t *rgb, size_t count, uint8_t red, uint8_t green, uint8_t blue);

/// Copies a block of rows to where its pixels belong in a bigger picture: pixel (x, y) of the block goes to
/// `origin + x * step_x + y * step_y`. `bytes_per_pixel` is 3 or 4.
void cpixels_place(
    const uint8_t *rows, ptrdiff_t bytes_per_row, size_t width, size_t height, uint8_t *origin, ptrdiff_t step_x,
    ptrdiff_t step_y, int bytes_per_pixel);

/// Four rows of `count` samples to floats, one after the other in `samples`, `stride` floats apart.
void cpixels_to_float(const uint8_t *rows, ptrdiff_t bytes_per_row, size_t row_count, float *samples, size_t count);

/// sums[i] = (clear ? 0 : sums[i]) + the sum of weights[k] * samples[k * count + i] over four rows, in 64ths.
/// The absolute weights of all rows that go into a sum must add up to less than 2.
void cpixels_accumulate(int16_t *sums, const float *samples, const float weights[4], size_t count, bool clear);

/// How one row is made narrower or wider: output pixel x is the sum of `taps` pixels from `first[x]` on, times
/// `weights[x * taps ...]`. `taps` is a multiple of 4.
struct cpixels_row_filter {
    const int32_t *first;
    const float *weights;
    size_t taps;
    size_t output_width;
};

/// Rows that are filtered together, each in one lane of a vector.
enum { cpixels_lanes = 8 };

/// Floats of scratch memory that `cpixels_filter_rows` needs.
size_t cpixels_filter_scratch(const struct cpixels_row_filter *filter, int channels);

/// Applies `filter` to rows of such sums of `channels` (1, 3, 4) interleaved samples, and rounds to bytes.
/// All `cpixels_lanes` pointers must be valid; only the first `row_count` rows are written, `bytes_per_row` apart.
/// A row must be readable for `taps` pixels and 16 samples past its last pixel.
/// With `premultiplied`, colours are kept at or below the fourth channel.
void cpixels_filter_rows(
    const int16_t *const rows[cpixels_lanes], size_t row_count, int channels, bool premultiplied,
    const struct cpixels_row_filter *filter, float *scratch, uint8_t *output, ptrdiff_t bytes_per_row);

/// A narrow filter in bytes: output pixel x is the sum of four pixels from `first[x]` on, times `weights[4 * x ...]`, which
/// add up to 256.
struct cpixels_area_filter {
    const int32_t *first;
    const uint16_t *weights;
    size_t output_width;
};

/// Rows that are narrowed together.
enum { cpixels_area_rows = 4 };

/// One row that is the weighted sum of up to four; the weights add up to 256, and those not needed are zero and last.
/// All four rows must be readable.
void cpixels_blend_rows(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, const uint16_t weights[4], uint8_t *output,
    size_t samples);

/// Applies `filter` to four rows of `channels` (3, 4) interleaved bytes. Rows must be readable for 16 bytes from the first
/// byte of any `first[x]` on; results are written with one byte too many behind the last pixel of each row.
void cpixels_narrow_rows(
    const uint8_t *rows, ptrdiff_t bytes_per_row, int channels, const struct cpixels_area_filter *filter,
    uint8_t *output, ptrdiff_t output_bytes_per_row);
