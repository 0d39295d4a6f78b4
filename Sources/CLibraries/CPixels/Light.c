// From code values of more than 8 bits to light, and from light to sRGB. Sources/WebImageCodecs/README.md, "High dynamic range",
// defines the computation.
#include <math.h>
#include <string.h>

#include "CPixels.h"
#include "Multiversion.h"

/// The luminance of reference white, in cd/m².
#define WHITE 203.0
/// The luminance from which on everything is mapped to white, in cd/m².
#define PEAK 1000.0
/// The number of codes in tables, less one.
#define CODES 65535
/// The steps of interpolated tables.
#define STEPS cpixels_light_steps
/// The brightest light in tables, in reference whites.
#define BRIGHTEST 128.0f
/// The largest sRGB number in tables.
#define BIGGEST 8.0f

static double pq_to_light(double code) {
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128, c3 = 2392.0 / 128;
    double power = pow(fmax(code, 0), 1 / m2);
    return 10000 * pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1);
}

static double light_to_pq(double light) {
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128, c3 = 2392.0 / 128;
    double power = pow(fmax(light, 0) / 10000, m1);
    return pow((c1 + c2 * power) / (1 + c3 * power), m2);
}

static double hlg_to_scene(double code) {
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return code <= 0.5 ? code * code / 3 : (exp((code - c) / a) + b) / 12;
}

static double srgb_encode(double light) {
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static double srgb_decode(double code) { return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4); }

/// BT.2390: maps `light` (in reference whites) to a screen whose maximum is reference white.
static double tone(double light) {
    const double top = light_to_pq(PEAK), limit = light_to_pq(WHITE) / top, knee = 1.5 * limit - 0.5;
    double code = fmin(light_to_pq(light * WHITE) / top, 1);
    if (code > knee) {
        double t = (code - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
        code = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (-2 * t3 + 3 * t2) * limit;
    }
    return pq_to_light(code * top) / WHITE;
}

void cpixels_fill_transfer(float *table, enum cpixels_transfer transfer, double gamma) {
    for (int i = 0; i <= CODES; i++) {
        double code = (double)i / CODES;
        switch (transfer) {
        case cpixels_transfer_srgb: table[i] = (float)srgb_decode(code); break;
        case cpixels_transfer_gamma: table[i] = (float)pow(code, gamma); break;
        case cpixels_transfer_pq: table[i] = (float)(pq_to_light(code) / WHITE); break;
        case cpixels_transfer_hlg: table[i] = (float)hlg_to_scene(code); break;
        }
    }
}

void cpixels_fill_light_tables(struct cpixels_light_tables *tables) {
    for (int i = 0; i <= STEPS + 1; i++) {
        double root = (double)i / STEPS, light = BRIGHTEST * root * root * root * root;
        tables->gain[i] = light > 0 ? (float)(tone(light) / light) : 1;
        tables->encoded[i] = (float)srgb_encode(light);
        tables->system_gamma[i] = (float)pow(root, 0.8);
    }
    for (int i = 0; i <= 2 * STEPS + 1; i++) { tables->decoded[i] = (float)srgb_decode(BIGGEST * i / (2 * STEPS)); }
    for (int i = 0; i <= CODES; i++) { tables->level[i] = (uint8_t)(255 * srgb_encode((double)i / CODES) + 0.5); }
}

/// Interpolates between two entries of a table; `position` must lie within it.
INLINE float between(const float *table, float position) {
    int index = (int)position;
    return table[index] + (table[index + 1] - table[index]) * (position - (float)index);
}

INLINE float least(float a, float b) { return a < b ? a : b; }
/// Returns the larger number; the second if the first is NaN.
INLINE float most(float a, float b) { return a > b ? a : b; }

INLINE float by_root(const float *table, float light, float brightest) {
    return between(table, sqrtf(sqrtf(least(light, brightest) / brightest)) * STEPS);
}

INLINE float from_code(const float *table, float code) {
    return table[(int)(least(most(code, 0), 1) * CODES + 0.5f)];
}

MULTIVERSION
void cpixels_codes_to_light(float *pixels, size_t count, const struct cpixels_light *how) {
    const float *m = how->matrix;
    for (size_t i = 0; i < count; i++) {
        float *pixel = pixels + 4 * i, light[3];
        for (int c = 0; c < 3; c++) { light[c] = how->transfer ? from_code(how->transfer, pixel[c]) : pixel[c]; }
        if (how->is_hlg) {
            float luminance = how->luminance[0] * light[0] + how->luminance[1] * light[1] + how->luminance[2] * light[2];
            float factor = by_root(how->tables->system_gamma, most(luminance, 0), 1) * (float)(PEAK / WHITE);
            for (int c = 0; c < 3; c++) { light[c] *= factor; }
        }
        for (int c = 0; c < 3; c++) { pixel[c] = m[3 * c] * light[0] + m[3 * c + 1] * light[1] + m[3 * c + 2] * light[2]; }
    }
}

MULTIVERSION
void cpixels_light_to_levels(
    const float *light, uint8_t *rgba, size_t count, bool tone_maps, const struct cpixels_light_tables *tables) {
    for (size_t i = 0; i < count; i++) {
        const float *pixel = light + 4 * i;
        float brightest = most(most(pixel[0], pixel[1]), most(pixel[2], 0)), gain = 1;
        if (tone_maps) {
            // Light above the table's range is mapped to the end of the table, which is white.
            gain = brightest > BRIGHTEST ? 1 / brightest : by_root(tables->gain, brightest, BRIGHTEST);
        }
        for (int c = 0; c < 3; c++) { rgba[4 * i + c] = tables->level[(int)(least(most(pixel[c] * gain, 0), 1) * CODES + 0.5f)]; }
        rgba[4 * i + 3] = (uint8_t)(least(most(pixel[3], 0), 1) * 255 + 0.5f);
    }
}

MULTIVERSION
void cpixels_light_to_codes(float *pixels, size_t count, const struct cpixels_light_tables *tables) {
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            float light = pixels[4 * i + c];
            float code = by_root(tables->encoded, most(fabsf(light), 0), BRIGHTEST);
            pixels[4 * i + c] = light < 0 ? -code : code;
        }
    }
}

MULTIVERSION
void cpixels_srgb_codes_to_light(float *pixels, size_t count, const struct cpixels_light_tables *tables) {
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            float code = pixels[4 * i + c];
            float light = between(tables->decoded, least(most(fabsf(code), 0), BIGGEST) * (2 * STEPS / BIGGEST));
            pixels[4 * i + c] = code < 0 ? -light : light;
        }
    }
}

MULTIVERSION
void cpixels_codes_to_levels(const float *codes, uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < 4 * count; i++) { rgba[i] = (uint8_t)(least(most(codes[i], 0), 1) * 255 + 0.5f); }
}

MULTIVERSION
void cpixels_premultiply_floats(float *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float alpha = least(most(pixels[4 * i + 3], 0), 1);
        for (int c = 0; c < 3; c++) { pixels[4 * i + c] *= alpha; }
        pixels[4 * i + 3] = alpha;
    }
}

MULTIVERSION
void cpixels_unpremultiply_floats(float *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float alpha = pixels[4 * i + 3], factor = alpha > 0 ? 1 / alpha : 0;
        for (int c = 0; c < 3; c++) { pixels[4 * i + c] *= factor; }
    }
}

MULTIVERSION
void cpixels_shorts_to_floats(const uint16_t *shorts, float *floats, size_t count, float most) {
    const float factor = 1 / most;
    for (size_t i = 0; i < count; i++) { floats[i] = (float)shorts[i] * factor; }
}

MULTIVERSION
void cpixels_rgb_shorts_to_rgba_floats(const uint16_t *shorts, float *floats, size_t count, float most) {
    const float factor = 1 / most;
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) { floats[4 * i + c] = (float)shorts[3 * i + c] * factor; }
        floats[4 * i + 3] = 1;
    }
}

MULTIVERSION
void cpixels_shorts_to_levels(const uint16_t *shorts, uint8_t *levels, size_t count, uint32_t most) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value = shorts[i] < most ? shorts[i] : most;
        levels[i] = (uint8_t)((value * 510 + most) / (2 * most));
    }
}
