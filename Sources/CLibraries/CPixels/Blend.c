#include "CPixelsEffects.h"

#include <math.h>

#include "Multiversion.h"

// Products and sums are rounded separately, so that all processors compute the same levels.
#pragma clang fp contract(off)

INLINE float lesser(float a, float b) { return a < b ? a : b; }
INLINE float greater(float a, float b) { return a > b ? a : b; }
INLINE uint8_t rounded(float value) { return (uint8_t)(int)(lesser(greater(value, 0), 255) + 0.5f); }

// MARK: Porter and Duff: the result is a sum of both images, each times a factor of the alphas.

/// The factors of the colour where the image is transparent and where it is opaque; and the factor of the image.
struct weights {
    float on_clear;
    float on_opaque;
    float image;
};

static struct weights weights_of(int mode, float alpha) {
    switch (mode) {
        case cpixels_blend_normal: return (struct weights){1, 1, 1 - alpha};
        case cpixels_blend_copy: return (struct weights){1, 1, 0};
        case cpixels_blend_source_in: return (struct weights){0, 1, 0};
        case cpixels_blend_source_out: return (struct weights){1, 0, 0};
        case cpixels_blend_source_atop: return (struct weights){0, 1, 1 - alpha};
        case cpixels_blend_destination_over: return (struct weights){1, 0, 1};
        case cpixels_blend_destination_in: return (struct weights){0, 0, alpha};
        case cpixels_blend_destination_out: return (struct weights){0, 0, 1 - alpha};
        case cpixels_blend_destination_atop: return (struct weights){1, 0, alpha};
        case cpixels_blend_xor: return (struct weights){1, 0, 1 - alpha};
        case cpixels_blend_plus_lighter: return (struct weights){1, 1, 1};
        default: return (struct weights){0, 0, 0};
    }
}

MULTIVERSION
static void blend_linear(
    struct weights weights, const float premultiplied[4], const uint8_t *bgra, uint8_t *result, size_t count) {
    const float b = premultiplied[0], g = premultiplied[1], r = premultiplied[2], a = premultiplied[3];
    const float slope = (weights.on_opaque - weights.on_clear) / 255;
    for (size_t i = 0; i < count; i++) {
        const float left = weights.on_clear + slope * bgra[4 * i + 3];
        const uint8_t blue = rounded(b * left + bgra[4 * i] * weights.image);
        const uint8_t green = rounded(g * left + bgra[4 * i + 1] * weights.image);
        const uint8_t red = rounded(r * left + bgra[4 * i + 2] * weights.image);
        result[4 * i + 3] = rounded(a * left + bgra[4 * i + 3] * weights.image);
        result[4 * i] = blue;
        result[4 * i + 1] = green;
        result[4 * i + 2] = red;
    }
}

/// The sum of both distances from white.
MULTIVERSION
static void blend_plus_darker(const float premultiplied[4], const uint8_t *bgra, uint8_t *result, size_t count) {
    const float alpha = premultiplied[3];
    for (size_t i = 0; i < count; i++) {
        const float both = lesser(alpha + bgra[4 * i + 3], 255), lack = alpha + bgra[4 * i + 3] - both;
        for (size_t c = 0; c < 3; c++) { result[4 * i + c] = rounded(premultiplied[c] + bgra[4 * i + c] - lack); }
        result[4 * i + 3] = rounded(both);
    }
}

// MARK: Modes of one component at a time; those of the colour and the image are straight, 0...1.

INLINE float hard_light(float image, float color) {
    const float twice = 2 * color - 1;
    return color <= 0.5f ? 2 * image * color : image + twice - image * twice;
}

INLINE float soft_light(float image, float color) {
    if (color <= 0.5f) { return image - (1 - 2 * color) * image * (1 - image); }
    const float lit = image <= 0.25f ? ((16 * image - 12) * image + 4) * image : sqrtf(image);
    return image + (2 * color - 1) * (lit - image);
}

INLINE float mixed(int mode, float image, float color) {
    switch (mode) {
        case cpixels_blend_multiply: return image * color;
        case cpixels_blend_screen: return image + color - image * color;
        case cpixels_blend_overlay: return hard_light(color, image);
        case cpixels_blend_darken: return lesser(image, color);
        case cpixels_blend_lighten: return greater(image, color);
        case cpixels_blend_color_dodge:
            if (image <= 0) { return 0; }
            return color >= 1 ? 1 : lesser(1, image / (1 - color));
        case cpixels_blend_color_burn:
            if (image >= 1) { return 1; }
            return color <= 0 ? 0 : 1 - lesser(1, (1 - image) / color);
        case cpixels_blend_soft_light: return soft_light(image, color);
        case cpixels_blend_hard_light: return hard_light(image, color);
        case cpixels_blend_difference: return fabsf(image - color);
        default: return image + color - 2 * image * color;
    }
}

// MARK: Modes of hue, saturation and luminosity

struct rgb {
    float r, g, b;
};

static float least(struct rgb c) { return lesser(c.r, lesser(c.g, c.b)); }
static float most(struct rgb c) { return greater(c.r, greater(c.g, c.b)); }
static float luminosity(struct rgb c) { return 0.3f * c.r + 0.59f * c.g + 0.11f * c.b; }
static float saturation(struct rgb c) { return most(c) - least(c); }

static struct rgb towards(struct rgb c, float gray, float factor) {
    return (struct rgb){gray + (c.r - gray) * factor, gray + (c.g - gray) * factor, gray + (c.b - gray) * factor};
}

static struct rgb with_luminosity(struct rgb c, float wanted) {
    const float more = wanted - luminosity(c);
    c = (struct rgb){c.r + more, c.g + more, c.b + more};
    const float low = least(c), high = most(c);
    if (low < 0) { c = towards(c, wanted, wanted / (wanted - low)); }
    if (high > 1) { c = towards(c, wanted, (1 - wanted) / (high - wanted)); }
    return c;
}

static struct rgb with_saturation(struct rgb c, float wanted) {
    const float low = least(c), range = saturation(c);
    if (range <= 0) { return (struct rgb){0, 0, 0}; }
    return (struct rgb){(c.r - low) * wanted / range, (c.g - low) * wanted / range, (c.b - low) * wanted / range};
}

static struct rgb toned(int mode, struct rgb image, struct rgb color) {
    switch (mode) {
        case cpixels_blend_hue: return with_luminosity(with_saturation(color, saturation(image)), luminosity(image));
        case cpixels_blend_saturation:
            return with_luminosity(with_saturation(image, saturation(color)), luminosity(image));
        case cpixels_blend_color: return with_luminosity(color, luminosity(image));
        default: return with_luminosity(image, luminosity(color));
    }
}

/// Blends where both are opaque; where only one is, it stays unchanged.
static void blend_mixing(int mode, const float color[4], const uint8_t *bgra, uint8_t *result, size_t count) {
    const float alpha = color[3];
    const struct rgb c = {color[0], color[1], color[2]};
    const bool tones = mode >= cpixels_blend_hue;
    for (size_t i = 0; i < count; i++) {
        const float below = bgra[4 * i + 3] / 255.0f, scale = below > 0 ? 1 / (255 * below) : 0;
        const struct rgb p = {
            lesser(bgra[4 * i + 2] * scale, 1), lesser(bgra[4 * i + 1] * scale, 1), lesser(bgra[4 * i] * scale, 1)};
        const struct rgb m = tones ? toned(mode, p, c)
                                   : (struct rgb){mixed(mode, p.r, c.r), mixed(mode, p.g, c.g), mixed(mode, p.b, c.b)};
        const float alone = alpha * (1 - below), under = below * (1 - alpha), both = alpha * below;
        const uint8_t opacity = rounded(255 * (alone + under + both));
        const uint8_t red = rounded(255 * (alone * c.r + under * p.r + both * m.r));
        const uint8_t green = rounded(255 * (alone * c.g + under * p.g + both * m.g));
        const uint8_t blue = rounded(255 * (alone * c.b + under * p.b + both * m.b));
        result[4 * i] = blue < opacity ? blue : opacity;
        result[4 * i + 1] = green < opacity ? green : opacity;
        result[4 * i + 2] = red < opacity ? red : opacity;
        result[4 * i + 3] = opacity;
    }
}

void cpixels_blend_color_onto(int mode, const float color[4], const uint8_t *bgra, uint8_t *result, size_t count) {
    const float alpha = color[3];
    const float premultiplied[4] = {
        255 * color[2] * alpha, 255 * color[1] * alpha, 255 * color[0] * alpha, 255 * alpha};
    if (mode >= cpixels_blend_multiply && mode <= cpixels_blend_luminosity) {
        blend_mixing(mode, color, bgra, result, count);
    } else if (mode == cpixels_blend_plus_darker) {
        blend_plus_darker(premultiplied, bgra, result, count);
    } else {
        blend_linear(weights_of(mode, alpha), premultiplied, bgra, result, count);
    }
}
