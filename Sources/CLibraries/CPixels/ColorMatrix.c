#include "CPixelsEffects.h"

#include "Multiversion.h"

/// Clamps to the range of a component; NaN becomes 0.
INLINE float limited(float value) {
    value = value > 0 ? value : 0;
    return value < 255 ? value : 255;
}

/// Rounds to the nearest; halves are rounded up, including those that single precision slightly misses (1.3 times 5).
INLINE uint8_t rounded(float value) { return (uint8_t)(int)(value + 0.50005f); }

INLINE float row(const float *factors, float red, float green, float blue, float alpha) {
    return limited(factors[0] * red + factors[1] * green + factors[2] * blue + factors[3] * alpha + factors[4]);
}

MULTIVERSION
void cpixels_color_matrix_rgb(
    const struct cpixels_color_matrix *matrix, const uint8_t *restrict rgb, uint8_t *restrict result, size_t count) {
    const struct cpixels_color_matrix m = *matrix;
    for (size_t i = 0; i < count; i++) {
        float red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
        result[3 * i] = rounded(row(m.rows[0], red, green, blue, 255));
        result[3 * i + 1] = rounded(row(m.rows[1], red, green, blue, 255));
        result[3 * i + 2] = rounded(row(m.rows[2], red, green, blue, 255));
    }
}

MULTIVERSION
void cpixels_color_matrix_bgra(
    const struct cpixels_color_matrix *matrix, const uint8_t *bgra, uint8_t *result, size_t count) {
    const struct cpixels_color_matrix m = *matrix;
    for (size_t i = 0; i < count; i++) {
        float alpha = bgra[4 * i + 3];
        float straight = alpha > 0 ? 255 / alpha : 0;
        float red = limited(bgra[4 * i + 2] * straight), green = limited(bgra[4 * i + 1] * straight);
        float blue = limited(bgra[4 * i] * straight);
        float opacity = rounded(row(m.rows[3], red, green, blue, alpha));
        float factor = opacity / 255;
        result[4 * i] = rounded(row(m.rows[2], red, green, blue, alpha) * factor);
        result[4 * i + 1] = rounded(row(m.rows[1], red, green, blue, alpha) * factor);
        result[4 * i + 2] = rounded(row(m.rows[0], red, green, blue, alpha) * factor);
        result[4 * i + 3] = (uint8_t)opacity;
    }
}

void cpixels_map_rgb(
    const uint8_t red[256], const uint8_t green[256], const uint8_t blue[256], const uint8_t *rgb, uint8_t *result,
    size_t count) {
    for (size_t i = 0; i < count; i++) {
        result[3 * i] = red[rgb[3 * i]];
        result[3 * i + 1] = green[rgb[3 * i + 1]];
        result[3 * i + 2] = blue[rgb[3 * i + 2]];
    }
}
