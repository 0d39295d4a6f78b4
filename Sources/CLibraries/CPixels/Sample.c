#include "CPixelsEffects.h"

#include <math.h>
#include <string.h>

#include "Multiversion.h"

typedef uint8_t byte4 __attribute__((vector_size(4)));
typedef uint8_t byte16 __attribute__((vector_size(16)));
typedef int int4 __attribute__((vector_size(16)));
typedef float float4 __attribute__((vector_size(16)));
typedef float float16 __attribute__((vector_size(64)));

// MARK: Coverage of a pixel by the image

/// Returns the part of a rotated unit square beyond a line at distance `x` behind its centre: the integral of the square's profile, which is a
/// trapezoid between `inner` and `outer` on both sides.
static double part_beyond(double x, double inner, double outer) {
    if (x >= outer) { return 1; }
    if (x <= -outer) { return 0; }
    const double height = 1 / (inner + outer), slope = outer - inner;
    if (x < -inner) { return height * (x + outer) * (x + outer) / (2 * slope); }
    if (x > inner) { return 1 - height * (outer - x) * (outer - x) / (2 * slope); }
    return 0.5 + height * x;
}

/// Returns the part at a corner of the image, counted on a grid.
static double part_at_corner(const struct cpixels_sampling *s, double x, double y) {
    enum { steps = 64 };
    int within = 0;
    for (int i = 0; i < steps; i++) {
        for (int j = 0; j < steps; j++) {
            const double across = (i + 0.5) / steps - 0.5, down = (j + 0.5) / steps - 0.5;
            const double u = x + across * s->step_x - down * s->step_y, v = y + across * s->step_y + down * s->step_x;
            within += u >= 0 && u < (double)s->width && v >= 0 && v < (double)s->height;
        }
    }
    return (double)within / (steps * steps);
}

struct shadow {
    double inner;
    double outer;
};

static double coverage(const struct cpixels_sampling *s, struct shadow shadow, double x, double y) {
    const double across = part_beyond(x, shadow.inner, shadow.outer)
                          + part_beyond((double)s->width - x, shadow.inner, shadow.outer) - 1;
    const double down = part_beyond(y, shadow.inner, shadow.outer)
                        + part_beyond((double)s->height - y, shadow.inner, shadow.outer) - 1;
    if (across <= 0 || down <= 0) { return 0; }
    return across < 1 && down < 1 ? part_at_corner(s, x, y) : across * down;
}

// MARK: Samples

INLINE float4 cubic_weights(float t) {
    const float4 cubed = {-0.5f, 1.5f, -1.5f, 0.5f}, squared = {1, -2.5f, 2, -0.5f}, first = {-0.5f, 0, 0.5f, 0};
    return ((cubed * t + squared) * t + first) * t + (float4){0, 1, 0, 0};
}

/// Returns four pixels side by side, as blue, green, red, alpha each.
INLINE float16 four_pixels(const uint8_t *from, const int channels) {
    byte16 bytes;
    memcpy(&bytes, from, sizeof bytes);
    if (channels == 3) {
        const byte16 opaque = (byte16){0} + 255;
        bytes = __builtin_shufflevector(bytes, opaque, 2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10, 9, 16);
    }
    return __builtin_convertvector(bytes, float16);
}

/// Returns the weighted sum of 4 × 4 pixels; `rows` points to the first pixel of each row.
INLINE float4 weigh(const uint8_t *const rows[4], const int channels, float across, float down) {
    const float4 wx = cubic_weights(across), wy = cubic_weights(down);
    float16 sums = four_pixels(rows[0], channels) * wy[0];
    for (int k = 1; k < 4; k++) { sums += four_pixels(rows[k], channels) * wy[k]; }
    sums *= __builtin_shufflevector(wx, wx, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return (__builtin_shufflevector(sums, sums, 0, 1, 2, 3) + __builtin_shufflevector(sums, sums, 4, 5, 6, 7))
           + (__builtin_shufflevector(sums, sums, 8, 9, 10, 11) + __builtin_shufflevector(sums, sums, 12, 13, 14, 15));
}

/// Stores a pixel with its colours clamped to alpha and all values to a byte, times `part`.
INLINE void store(float4 value, float part, uint8_t *to) {
    value = __builtin_elementwise_min(__builtin_elementwise_max(value, (float4){0}), (float4){0} + 255);
    value = __builtin_elementwise_min(value, __builtin_shufflevector(value, value, 3, 3, 3, 3));
    byte4 bytes = __builtin_convertvector(__builtin_convertvector(value * part + 0.5f, int4), byte4);
    memcpy(to, &bytes, sizeof bytes);
}

static size_t clamped(int64_t index, size_t count) {
    return index < 0 ? 0 : (size_t)index >= count ? count - 1 : (size_t)index;
}

/// Samples a pixel near an edge; neighbours outside repeat the edge.
static void sample_at_edge(const struct cpixels_sampling *s, struct shadow shadow, double x, double y, uint8_t *to) {
    const double part = coverage(s, shadow, x, y);
    if (part <= 0) {
        memset(to, 0, 4);
        return;
    }
    const double left = floor(x - 0.5), top = floor(y - 0.5);
    uint8_t pixels[4][16];
    const uint8_t *rows[4];
    for (int j = 0; j < 4; j++) {
        const uint8_t *row = s->source + (ptrdiff_t)clamped((int64_t)top - 1 + j, s->height) * s->bytes_per_row;
        for (int i = 0; i < 4; i++) {
            const uint8_t *from = row + clamped((int64_t)left - 1 + i, s->width) * (size_t)s->channels;
            const bool is_rgb = s->channels == 3;
            pixels[j][4 * i] = from[is_rgb ? 2 : 0];
            pixels[j][4 * i + 1] = from[1];
            pixels[j][4 * i + 2] = from[is_rgb ? 0 : 2];
            pixels[j][4 * i + 3] = is_rgb ? 255 : from[3];
        }
        rows[j] = pixels[j];
    }
    store(weigh(rows, 4, (float)(x - 0.5 - left), (float)(y - 0.5 - top)), (float)part, to);
}

// MARK: Rows

/// Restricts [*from, *to) to the pixels of a row for which first <= x + i * step <= last.
static void restrict_to(double x, double step, double first, double last, int64_t *from, int64_t *to) {
    if (first > last || (fabs(step) < 1e-12 && (x < first || x > last))) { *to = *from; }
    if (fabs(step) < 1e-12 || *from == *to) { return; }
    const double a = (first - x) / step, b = (last - x) / step;
    const double low = ceil(a < b ? a : b), high = floor(a < b ? b : a);
    if (low > (double)*from) { *from = low < (double)*to ? (int64_t)low : *to; }
    if (high < (double)*to - 1) { *to = high < (double)*from ? *from : (int64_t)high + 1; }
}

INLINE void sample_within(
    const struct cpixels_sampling *s, double x, double y, uint8_t *to, int64_t from, int64_t end, const int channels) {
    // Fixed-point positions, with 32 bits of whole pixels and 32 of fractions.
    const double one = 4294967296.0;
    int64_t u = (int64_t)((x - 0.5 + (double)from * s->step_x) * one), v = (int64_t)((y - 0.5 + (double)from * s->step_y) * one);
    const int64_t du = (int64_t)(s->step_x * one), dv = (int64_t)(s->step_y * one);
    for (int64_t i = from; i < end; i++, u += du, v += dv) {
        const uint8_t *first = s->source + ((v >> 32) - 1) * s->bytes_per_row + ((u >> 32) - 1) * channels;
        const uint8_t *const rows[4] = {
            first, first + s->bytes_per_row, first + 2 * s->bytes_per_row, first + 3 * s->bytes_per_row};
        const float across = (float)((uint32_t)u >> 8) * 0x1p-24f, down = (float)((uint32_t)v >> 8) * 0x1p-24f;
        store(weigh(rows, channels, across, down), 1, to + 4 * i);
    }
}

MULTIVERSION
static void sample_inner(
    const struct cpixels_sampling *s, double x, double y, uint8_t *to, int64_t from, int64_t end) {
    if (s->channels == 3) {
        sample_within(s, x, y, to, from, end, 3);
    } else {
        sample_within(s, x, y, to, from, end, 4);
    }
}

void cpixels_sample_row(const struct cpixels_sampling *s, double x, double y, uint8_t *bgra, size_t count) {
    const double across = fabs(s->step_x), down = fabs(s->step_y);
    const struct shadow shadow = {fabs(across - down) / 2, (across + down) / 2};
    const double width = (double)s->width, height = (double)s->height;
    // The range of visible pixels, and the range in which all 16 neighbours exist and 16 bytes can be read from each of their rows.
    int64_t from = 0, to = (int64_t)count;
    restrict_to(x, s->step_x, -shadow.outer, width + shadow.outer, &from, &to);
    restrict_to(y, s->step_y, -shadow.outer, height + shadow.outer, &from, &to);
    int64_t inner_from = from, inner_to = to;
    const double more = s->channels == 3 ? 2 : 0, margin = 1.5 + 1e-3;
    restrict_to(x, s->step_x, margin, width - margin - more, &inner_from, &inner_to);
    restrict_to(y, s->step_y, margin, height - margin, &inner_from, &inner_to);
    if (inner_from >= inner_to) { inner_from = inner_to = to; }
    memset(bgra, 0, (size_t)from * 4);
    for (int64_t i = from; i < inner_from; i++) {
        sample_at_edge(s, shadow, x + (double)i * s->step_x, y + (double)i * s->step_y, bgra + 4 * i);
    }
    sample_inner(s, x, y, bgra, inner_from, inner_to);
    for (int64_t i = inner_to; i < to; i++) {
        sample_at_edge(s, shadow, x + (double)i * s->step_x, y + (double)i * s->step_y, bgra + 4 * i);
    }
    memset(bgra + 4 * to, 0, (count - (size_t)to) * 4);
}
