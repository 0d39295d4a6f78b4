// Inner loops of the transformers. BGRA is premultiplied unless a comment states otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One pass of a box blur with a box of `2 * reach + 1` pixels along both sides, the edges extended: every sample becomes the mean of its box,
/// rounded to nearest.
struct cpixels_box {
    /// Samples per pixel, 3 or 4.
    int channels;
    size_t width;
    size_t height;
    /// At most `cpixels_box_longest_reach`.
    size_t reach;
};

enum { cpixels_box_longest_reach = 1 << 20 };

/// Returns the number of bytes of scratch memory that a pass from `source` needs; more if the result overwrites the source.
size_t cpixels_box_scratch(const struct cpixels_box *box, bool in_place);

/// Runs a pass. `target` may be `source`, with the same bytes per row, or must not overlap it.
void cpixels_box_blur(
    const struct cpixels_box *box, const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
    void *scratch);

/// A matrix of four rows (red, green, blue, alpha of the result) of five: factors of red, green, blue and alpha, and an offset, in levels. Components
/// are straight, 0...255; results are clamped to that range and rounded to nearest.
struct cpixels_color_matrix {
    float rows[4][5];
};

/// RGB to RGB: alpha is always 255, whatever the fourth row is.
void cpixels_color_matrix_rgb(const struct cpixels_color_matrix *matrix, const uint8_t *rgb, uint8_t *result, size_t count);
/// BGRA to BGRA. Both may be the same memory.
void cpixels_color_matrix_bgra(const struct cpixels_color_matrix *matrix, const uint8_t *bgra, uint8_t *result, size_t count);

/// Blend modes with the values of CGBlendMode.
enum cpixels_blend_mode {
    cpixels_blend_normal = 0,
    cpixels_blend_multiply,
    cpixels_blend_screen,
    cpixels_blend_overlay,
    cpixels_blend_darken,
    cpixels_blend_lighten,
    cpixels_blend_color_dodge,
    cpixels_blend_color_burn,
    cpixels_blend_soft_light,
    cpixels_blend_hard_light,
    cpixels_blend_difference,
    cpixels_blend_exclusion,
    cpixels_blend_hue,
    cpixels_blend_saturation,
    cpixels_blend_color,
    cpixels_blend_luminosity,
    cpixels_blend_clear,
    cpixels_blend_copy,
    cpixels_blend_source_in,
    cpixels_blend_source_out,
    cpixels_blend_source_atop,
    cpixels_blend_destination_over,
    cpixels_blend_destination_in,
    cpixels_blend_destination_out,
    cpixels_blend_destination_atop,
    cpixels_blend_xor,
    cpixels_blend_plus_darker,
    cpixels_blend_plus_lighter
};

/// Fills BGRA pixels with one colour (straight red, green, blue, alpha, 0...1) in a mode. Both may be the same memory.
void cpixels_blend_color_onto(
    int mode, const float color[4], const uint8_t *bgra, uint8_t *result, size_t count);

/// Maps each component of RGB pixels with a separate table. Both may be the same memory.
void cpixels_map_rgb(const uint8_t red[256], const uint8_t green[256], const uint8_t blue[256], const uint8_t *rgb, uint8_t *result, size_t count);

/// An image that is sampled along a slanted line.
struct cpixels_sampling {
    const uint8_t *source;
    ptrdiff_t bytes_per_row;
    size_t width;
    size_t height;
    /// 3 (RGB) or 4 (BGRA).
    int channels;
    /// The offset from a pixel's centre to that of the next in the row: the cosine and sine of the angle.
    double step_x;
    double step_y;
};

/// Computes a row of BGRA pixels of the image: the first is centred on (x, y) of the source, where the centre of the source's first pixel is (0.5,
/// 0.5). Bicubic (Catmull-Rom), the image's edges smoothed; transparent outside.
void cpixels_sample_row(const struct cpixels_sampling *sampling, double x, double y, uint8_t *bgra, size_t count);
