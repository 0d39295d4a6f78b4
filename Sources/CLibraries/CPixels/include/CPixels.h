// Inner loops over pixels and samples, compiled for each level of vector instructions and chosen at run time.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPixelsEffects.h"

/// Converts straight RGBA to premultiplied BGRA, exactly rounded: (c * a + 127) / 255. Both may be the same memory.
void cpixels_premultiply_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t count);

/// Converts premultiplied BGRA to straight BGRA or RGBA, rounded to nearest; 0 where alpha is 0. Both may be the same memory.
void cpixels_unpremultiply_bgra_to_bgra(const uint8_t *bgra, uint8_t *straight, size_t count);
void cpixels_unpremultiply_bgra_to_rgba(const uint8_t *bgra, uint8_t *rgba, size_t count);

/// Opaque conversions of `count` pixels; source and destination must not overlap.
void cpixels_gray_to_rgb(const uint8_t *gray, uint8_t *rgb, size_t count);
void cpixels_gray_to_bgra(const uint8_t *gray, uint8_t *bgra, size_t count);
void cpixels_rgb_to_bgra(const uint8_t *rgb, uint8_t *bgra, size_t count);
void cpixels_bgra_to_rgb(const uint8_t *bgra, uint8_t *rgb, size_t count);

/// Interleaves `count` samples of each plane, of 8 and of 16 bits.
void cpixels_planes_to_rgb(
    const uint8_t *red, const uint8_t *green, const uint8_t *blue, uint8_t *rgb, size_t count);
void cpixels_planes_to_rgba(
    const uint8_t *red, const uint8_t *green, const uint8_t *blue, const uint8_t *alpha, uint8_t *rgba, size_t count);
void cpixels_short_planes_to_rgb(
    const uint16_t *red, const uint16_t *green, const uint16_t *blue, uint16_t *rgb, size_t count);
void cpixels_short_planes_to_rgba(
    const uint16_t *red, const uint16_t *green, const uint16_t *blue, const uint16_t *alpha, uint16_t *rgba,
    size_t count);

/// `bgra` and `rgba` may be the same memory.
void cpixels_bgra_to_rgba(const uint8_t *bgra, uint8_t *rgba, size_t count);

/// The naive conversion R = (255 - C)(255 - K) / 255, for images without a profile; 0 means no ink.
void cpixels_cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, size_t count);

/// Computes 255 - x in place.
void cpixels_invert(uint8_t *bytes, size_t count);

/// Blends premultiplied pixels over others: target = source + target * (255 - alpha) / 255, rounded to nearest.
void cpixels_bgra_over_bgra(const uint8_t *source, uint8_t *target, size_t count);

/// Flattens premultiplied pixels onto an opaque colour: BGRA to RGB.
void cpixels_bgra_onto_color(const uint8_t *bgra, uint8_t *rgb, size_t count, uint8_t red, uint8_t green, uint8_t blue);

/// Copies a block of rows to the places of its pixels in a larger image: pixel (x, y) of the block goes to `origin + x * step_x + y *
/// step_y`. `bytes_per_pixel` is 3, 4 or 8.
void cpixels_place(
    const uint8_t *rows, ptrdiff_t bytes_per_row, size_t width, size_t height, uint8_t *origin, ptrdiff_t step_x,
    ptrdiff_t step_y, int bytes_per_pixel);

/// Converts four rows of `count` samples to floats, one row after the other in `samples`, `stride` floats apart.
void cpixels_to_float(const uint8_t *rows, ptrdiff_t bytes_per_row, size_t row_count, float *samples, size_t count);

/// sums[i] = (clear ? 0 : sums[i]) + the sum of weights[k] * samples[k * count + i] over four rows, in 64ths.
/// The absolute weights of all rows that go into a sum must add up to less than 2.
void cpixels_accumulate(int16_t *sums, const float *samples, const float weights[4], size_t count, bool clear);

/// The number of rows that `cpixels_sum_rows` can add. More rows would take much more memory than sums that are added
/// to, four rows at a time.
enum { cpixels_most_summed_rows = 20 };

/// Rows of bytes, one after the other; row n is at the place n modulo `count`. Each can be read up to the next multiple of 64 bytes.
struct cpixels_ring {
    const uint8_t *rows;
    ptrdiff_t bytes_per_row;
    size_t count;
};

/// Computes the sum of `weights[k]` * row `first + k` for `row_count` rows (1 ... `cpixels_most_summed_rows`), in 64ths. Writes up to the next multiple
/// of 64 sums. The absolute weights must add up to less than 2.
void cpixels_sum_rows(
    struct cpixels_ring ring, size_t first, const float *weights, size_t row_count, int16_t *sums, size_t count);

/// A filter that resizes a row: output pixel x is the sum of `taps` pixels from `first[x]` on, times `weights[x * taps ...]`. `taps` is a
/// multiple of 4.
struct cpixels_row_filter {
    const int32_t *first;
    const float *weights;
    size_t taps;
    size_t output_width;
};

/// Finds the pixels of a line that contribute to each of `count` result pixels: those from `first[x]` to before `end[x]`, at least one and at most
/// `taps`. Result pixel x is centred at `origin + (x + 0.5) * scale`; a filter reaches `support` pixels to each side.
void cpixels_find_reach(
    size_t input_count, double origin, double scale, double support, size_t taps, int32_t *first, int32_t *end, size_t count);

/// What `cpixels_find_reach` has found. `taps` is a multiple of 4.
struct cpixels_reach {
    const int32_t *first;
    const int32_t *end;
    size_t count;
    size_t taps;
};

/// Computes the weights of a filter: `taps` for each result pixel, which add up to 1; those of pixels that do not contribute are 0. Where `scale` is
/// more than 1, the filter widens with it.
void cpixels_area_weights(struct cpixels_reach reach, double origin, double scale, float *weights);
void cpixels_lanczos_weights(struct cpixels_reach reach, double origin, double scale, float *weights);

/// Rounds weights to parts of 256, four at a time, which add up to 256: the largest takes the rounding error, so white stays white.
void cpixels_weight_shares(const float *weights, uint16_t *shares, size_t count);

/// The number of rows that are filtered together, each in one lane of a vector.
enum { cpixels_lanes = 8 };

/// Returns the number of floats of scratch memory that `cpixels_filter_rows` needs.
size_t cpixels_filter_scratch(const struct cpixels_row_filter *filter, int channels);

/// Applies `filter` to rows of such sums of `channels` (1, 3, 4) interleaved samples, and rounds to bytes. All `cpixels_lanes` pointers
/// must be valid; only the first `row_count` rows are written, `bytes_per_row` apart. A row must be readable for `taps` pixels and 16
/// samples past its last pixel. With `premultiplied`, colours are clamped to the fourth channel.
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

/// The number of rows that are narrowed together.
enum { cpixels_area_rows = 4 };

/// Computes one row as the weighted sum of up to four; the weights add up to 256, and unused ones are zero and last. All four rows must be
/// readable.
void cpixels_blend_rows(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, const uint16_t weights[4], uint8_t *output,
    size_t samples);

/// Applies `filter` to four rows of `channels` (3, 4) interleaved bytes. Rows must be readable for 16 bytes from the first byte of any `first[x]` on.
/// The result has at least one pixel.
void cpixels_narrow_rows(
    const uint8_t *rows, ptrdiff_t bytes_per_row, int channels, const struct cpixels_area_filter *filter,
    uint8_t *output, ptrdiff_t output_bytes_per_row);

/// A part of an image, in pixels.
struct cpixels_rectangle {
    size_t left;
    size_t top;
    size_t width;
    size_t height;
};

/// Finds the smallest rectangle outside of which two images of 4 bytes per pixel are equal; false when they are equal.
bool cpixels_difference(
    const uint8_t *before, ptrdiff_t before_stride, const uint8_t *now, ptrdiff_t now_stride, size_t width,
    size_t height, struct cpixels_rectangle *changed);

/// Finds the smallest rectangle of all pixels that have become transparent; false when there are none.
bool cpixels_cleared(
    const uint8_t *before, ptrdiff_t before_stride, const uint8_t *now, ptrdiff_t now_stride, size_t width,
    size_t height, struct cpixels_rectangle *cleared);

/// Copies the pixels that have changed and makes the others transparent; returns the number of changed ones. `lies_over` becomes false when blending
/// the copy over the earlier pixels would not give the current ones.
size_t cpixels_keep_changed(const uint8_t *before, const uint8_t *now, uint8_t *kept, size_t count, bool *lies_over);

/// Converts premultiplied BGRA to pixels that are either opaque or transparent (0): transparent from half transparent on, others blended on
/// `background` (red, green, blue), or their own colour made opaque without one. Returns the number of opaque pixels.
size_t cpixels_threshold(const uint8_t *bgra, uint8_t *pixels, size_t count, const uint8_t *background);

/// A palette of at most 256 colours, with an index of them.
struct cpixels_palette;
struct cpixels_palette *cpixels_palette_create(void);
void cpixels_palette_destroy(struct cpixels_palette *palette);
void cpixels_palette_clear(struct cpixels_palette *palette);
void cpixels_palette_copy(const struct cpixels_palette *from, struct cpixels_palette *to);
size_t cpixels_palette_count(const struct cpixels_palette *palette);
/// Returns red, green and blue of each colour.
const uint8_t *cpixels_palette_colors(const struct cpixels_palette *palette);

/// Adds the colours of such pixels; false when they are more than `limit` (at most 256).
bool cpixels_palette_add(struct cpixels_palette *palette, const uint8_t *pixels, size_t count, size_t limit);

/// Writes the index of each pixel's colour, `clear` for transparent ones; false when a colour is not in the palette.
bool cpixels_palette_map(
    const struct cpixels_palette *palette, const uint8_t *pixels, size_t count, uint8_t clear, uint8_t *numbers);

/// Makes a palette for images with more colours than it has room for.
struct cpixels_quantizer;
struct cpixels_quantizer *cpixels_quantizer_create(void);
void cpixels_quantizer_destroy(struct cpixels_quantizer *quantizer);
/// Removes all pixels.
void cpixels_quantizer_clear(struct cpixels_quantizer *quantizer);
void cpixels_quantizer_add(struct cpixels_quantizer *quantizer, const uint8_t *pixels, size_t count);
/// Makes a palette of at most `limit` (2...256) colours for the pixels that were added.
void cpixels_quantizer_make(struct cpixels_quantizer *quantizer, size_t limit, struct cpixels_palette *palette);
/// Writes the palette indices of a row, in the palette made last. Errors are diffused to pixels beside and below: both arrays have 3 * (width + 2)
/// numbers; `errors` are those that the row above wrote (zeros for the first), `next_errors` is overwritten.
void cpixels_quantizer_map_row(
    struct cpixels_quantizer *quantizer, const uint8_t *pixels, size_t width, bool backwards, uint8_t clear,
    int16_t *errors, int16_t *next_errors, uint8_t *numbers);

/// Compresses the palette indices of a GIF frame, each below 1 << minimum_size (2...8): the byte with the size, blocks, and the empty block that ends
/// them. `count` is at least 1; `output` has room for `cpixels_lzw_bound(count)` bytes, all bytes of the result included.
size_t cpixels_lzw_bound(size_t count);
size_t cpixels_lzw(const uint8_t *numbers, size_t count, unsigned minimum_size, uint8_t *output);

// Pixels of more than 8 bits: four floats each, red, green, blue, alpha, straight alpha unless stated otherwise. Any float is accepted: NaN counts as
// 0.

/// The steps of interpolated tables.
enum { cpixels_light_steps = 4096 };

/// The transfer function from numbers to light.
enum cpixels_transfer {
    cpixels_transfer_srgb,
    /// light = number ^ gamma
    cpixels_transfer_gamma,
    /// SMPTE ST 2084
    cpixels_transfer_pq,
    /// BT.2100 HLG, without its system gamma
    cpixels_transfer_hlg,
};

/// Tables for light; 1 is reference white.
struct cpixels_light_tables {
    /// By the fourth root of light: the gain of tone mapping; the sRGB number; root ^ 0.8.
    float gain[cpixels_light_steps + 2];
    float encoded[cpixels_light_steps + 2];
    float system_gamma[cpixels_light_steps + 2];
    /// Light by sRGB number.
    float decoded[2 * cpixels_light_steps + 2];
    /// The 8-bit sRGB level by light.
    uint8_t level[65536];
};

/// The conversion of numbers to light in the primaries of sRGB.
struct cpixels_light {
    /// 65 536 entries; NULL for numbers that are linear light.
    const float *transfer;
    /// From the image's primaries to those of sRGB, row by row.
    float matrix[9];
    /// Whether the transfer function is HLG, whose light depends on the luminance: the sum of red, green and blue with these weights.
    bool is_hlg;
    float luminance[3];
    const struct cpixels_light_tables *tables;
};

/// Fills the 65 536 entries of a transfer table.
void cpixels_fill_transfer(float *table, enum cpixels_transfer transfer, double gamma);
void cpixels_fill_light_tables(struct cpixels_light_tables *tables);

/// Converts numbers to light in place.
void cpixels_codes_to_light(float *pixels, size_t count, const struct cpixels_light *how);
/// Converts light to sRGB levels, RGBA with straight alpha; values out of range are clamped, after optional tone mapping.
void cpixels_light_to_levels(
    const float *light, uint8_t *rgba, size_t count, bool tone_maps, const struct cpixels_light_tables *tables);
/// Converts light to sRGB numbers of extended range, in place.
void cpixels_light_to_codes(float *pixels, size_t count, const struct cpixels_light_tables *tables);
/// The inverse conversion.
void cpixels_srgb_codes_to_light(float *pixels, size_t count, const struct cpixels_light_tables *tables);
/// Converts numbers to levels, rounded, clamped to 0 and 1.
void cpixels_codes_to_levels(const float *codes, uint8_t *rgba, size_t count);

/// In place; alpha is clamped to 0...1. Unpremultiplied colours are 0 where alpha is.
void cpixels_premultiply_floats(float *pixels, size_t count);
void cpixels_unpremultiply_floats(float *pixels, size_t count);

/// Converts `count` samples of 0...most to 0...1, or to 0...255 rounded to nearest.
void cpixels_shorts_to_floats(const uint16_t *shorts, float *floats, size_t count, float most);
void cpixels_shorts_to_levels(const uint16_t *shorts, uint8_t *levels, size_t count, uint32_t most);
/// Converts `count` pixels of three samples to four, alpha 1.
void cpixels_rgb_shorts_to_rgba_floats(const uint16_t *shorts, float *floats, size_t count, float most);

/// Converts to and from half floats; rounded to nearest, at most 65 504.
void cpixels_floats_to_halves(const float *floats, uint16_t *halves, size_t count);
void cpixels_halves_to_floats(const uint16_t *halves, float *floats, size_t count);

/// Resizes one row of four floats per pixel; it must be readable for `taps` pixels from any `first[x]` on.
void cpixels_filter_float_row(const float *row, const struct cpixels_row_filter *filter, float *output);
/// sums[i] += row[i] * weight
void cpixels_add_weighted(float *sums, const float *row, float weight, size_t count);
/// Clamps alpha to 0...1.
void cpixels_limit_alpha(float *pixels, size_t count);

/// Makes a row `factor` (2 or more) times narrower, cheaply: the mean of two pixels of every `factor`. `channels` is 1, 3 or 4. With `adds` the
/// result is the mean of that and the contents of `output`.
void cpixels_reduce_row(
    const uint8_t *row, size_t width, size_t channels, size_t factor, uint8_t *output, bool adds);

/// Makes one row of half the width, rounded up, from two: the means of two by two pixels, rounded to nearest. An odd last pixel counts twice. `channels`
/// is at most 4.
void cpixels_halve_rows(
    const uint8_t *upper, const uint8_t *lower, size_t width, size_t channels, uint8_t *output);

/// The same by picking one pixel of four bytes of every `factor`: for straight alpha, whose colours cannot be averaged.
void cpixels_pick_pixels(const uint8_t *row, size_t width, size_t factor, uint8_t *output);
