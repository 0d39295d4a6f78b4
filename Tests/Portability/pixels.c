// Runs the pixel code on numbers that are the same everywhere and prints a hash of each result: Scripts/portability compares what two
// processors print. Lengths are odd, so that vectors have a remainder.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CPixels.h"
#include "CPixelsEffects.h"

enum { count = 4 * 257 + 3, most = 16 * count };

static uint64_t state;

static uint32_t next_number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void fill(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)next_number();
}

/// Premultiplied pixels: no colour is above its alpha.
static void fill_premultiplied(uint8_t *bgra, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t alpha = (uint8_t)next_number();
        for (size_t c = 0; c < 3; c++) bgra[4 * i + c] = (uint8_t)(next_number() % (alpha + 1u));
        bgra[4 * i + 3] = alpha;
    }
}

/// Numbers from a little below 0 to a little above 1.
static void fill_floats(float *floats, size_t size) {
    for (size_t i = 0; i < size; i++) floats[i] = (float)(next_number() % 70000) / 65535.0f - 0.03f;
}

static void report(const char *name, int variant, const void *bytes, size_t size) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    printf("%s %d %016" PRIx64 "\n", name, variant, hash);
}

static uint8_t source[most], target[most], scratch[1 << 20];
static float floats[most], more_floats[most];
static uint16_t shorts[most];

static void begin(void) {
    state = 26;
    memset(target, 0, sizeof target);
    fill(source, sizeof source);
}

#define CONVERT(function, bytes)              \
    begin();                                  \
    function(source, target, count);          \
    report(#function, 0, target, bytes *count)

static void conversions(void) {
    CONVERT(cpixels_premultiply_rgba_to_bgra, 4);
    CONVERT(cpixels_gray_to_rgb, 3);
    CONVERT(cpixels_gray_to_bgra, 4);
    CONVERT(cpixels_rgb_to_bgra, 4);
    CONVERT(cpixels_bgra_to_rgb, 3);
    CONVERT(cpixels_bgra_to_rgba, 4);
    CONVERT(cpixels_cmyk_to_rgb, 3);
    begin();
    cpixels_planes_to_rgb(source, source + count, source + 2 * count, target, count);
    report("cpixels_planes_to_rgb", 0, target, 3 * count);
    cpixels_planes_to_rgba(source, source + count, source + 2 * count, source + 3 * count, target, count);
    report("cpixels_planes_to_rgba", 0, target, 4 * count);
    begin();
    fill_premultiplied(source, count);
    cpixels_unpremultiply_bgra_to_bgra(source, target, count);
    report("cpixels_unpremultiply_bgra_to_bgra", 0, target, 4 * count);
    cpixels_unpremultiply_bgra_to_rgba(source, target, count);
    report("cpixels_unpremultiply_bgra_to_rgba", 0, target, 4 * count);
    fill_premultiplied(target, count);
    cpixels_bgra_over_bgra(source, target, count);
    report("cpixels_bgra_over_bgra", 0, target, 4 * count);
    cpixels_bgra_onto_color(source, target, count, 200, 100, 3);
    report("cpixels_bgra_onto_color", 0, target, 3 * count);
    report("cpixels_threshold", (int)cpixels_threshold(source, target, count, NULL), target, 4 * count);
    const uint8_t background[3] = {9, 99, 199};
    report("cpixels_threshold", (int)cpixels_threshold(source, target, count, background), target, 4 * count);
    cpixels_invert(source, count);
    report("cpixels_invert", 0, source, count);
}

static void places(void) {
    const ptrdiff_t width = 29, height = 23;
    for (int bytes = 3; bytes <= 8; bytes += bytes == 3 ? 1 : 4) {
        for (int turned = 0; turned < 2; turned++) {
            for (int mirrored = 0; mirrored < 4; mirrored++) {
                begin();
                const ptrdiff_t row = (turned ? height : width) * bytes;
                ptrdiff_t step_x = turned ? row : bytes, step_y = turned ? bytes : row, offset = 0;
                if (mirrored & 1) offset += (width - 1) * step_x, step_x = -step_x;
                if (mirrored & 2) offset += (height - 1) * step_y, step_y = -step_y;
                cpixels_place(source, width * bytes, width, height, target + offset, step_x, step_y, bytes);
                report("cpixels_place", 100 * bytes + 10 * turned + mirrored, target, width * height * bytes);
            }
        }
    }
}

static void resampling(void) {
    enum { output = 61, taps = 8, input = 128 };
    static int32_t first[output];
    static float weights[output * taps];
    static uint16_t bytes_weights[output * 4];
    begin();
    for (int x = 0; x < output; x++) {
        first[x] = x * 2 < input - taps ? x * 2 : input - taps;
        float sum = 0;
        for (int k = 0; k < taps; k++) sum += weights[x * taps + k] = 1 + (float)(next_number() % 100);
        for (int k = 0; k < taps; k++) weights[x * taps + k] /= sum;
        bytes_weights[4 * x] = 200, bytes_weights[4 * x + 1] = 30, bytes_weights[4 * x + 2] = 20, bytes_weights[4 * x + 3] = 6;
    }
    const struct cpixels_row_filter filter = {first, weights, taps, output};
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        static int16_t sums[cpixels_lanes][4 * input + 64];
        const int16_t *rows[cpixels_lanes];
        const size_t samples = (size_t)(input * channels);
        for (int lane = 0; lane < cpixels_lanes; lane++) {
            fill(source, 4 * samples);
            cpixels_to_float(source, (ptrdiff_t)samples, 4, floats, samples);
            const float four[4] = {0.1f, 0.2f, 0.3f, 0.4f};
            cpixels_accumulate(sums[lane], floats, four, samples, true);
            rows[lane] = sums[lane];
        }
        report("cpixels_accumulate", channels, sums[0], samples * sizeof sums[0][0]);
        memset(target, 0, sizeof target);
        if (cpixels_filter_scratch(&filter, channels) * sizeof(float) > sizeof more_floats) exit(1);
        cpixels_filter_rows(rows, cpixels_lanes, channels, false, &filter, more_floats, target, output * channels);
        report("cpixels_filter_rows", channels, target, (size_t)(cpixels_lanes * output * channels));
        if (channels == 1) continue;
        const struct cpixels_area_filter area = {first, bytes_weights, output};
        cpixels_narrow_rows(source, (ptrdiff_t)samples, channels, &area, target, output * channels + 1);
        report("cpixels_narrow_rows", channels, target, (size_t)(cpixels_area_rows * (output * channels + 1)));
    }
    const uint16_t blend[4] = {100, 80, 70, 6};
    begin();
    cpixels_blend_rows(source, source + 1000, source + 2000, source + 3000, blend, target, 997);
    report("cpixels_blend_rows", 0, target, 997);
    fill_floats(floats, 4 * input);
    cpixels_filter_float_row(floats, &filter, more_floats);
    report("cpixels_filter_float_row", 0, more_floats, output * 4 * sizeof(float));
    cpixels_add_weighted(more_floats, floats, 0.3f, 4 * output);
    report("cpixels_add_weighted", 0, more_floats, output * 4 * sizeof(float));
    for (size_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        for (int adds = 0; adds < 2; adds++) {
            cpixels_reduce_row(source, 301, channels, 3, target, adds);
            report("cpixels_reduce_row", (int)(10 * channels) + adds, target, 100 * channels);
        }
    }
    cpixels_pick_pixels(source, 301, 3, target);
    report("cpixels_pick_pixels", 0, target, 400);
}

static void effects(void) {
    begin();
    fill_premultiplied(source, count);
    for (int channels = 3; channels <= 4; channels++) {
        const struct cpixels_box box = {channels, 31, 29, 5};
        if (cpixels_box_scratch(&box, false) > sizeof scratch) exit(1);
        cpixels_box_blur(&box, source, 31 * channels, target, 31 * channels, scratch);
        report("cpixels_box_blur", channels, target, (size_t)(31 * 29 * channels));
    }
    const struct cpixels_color_matrix matrix = {
        {{0.5f, 0.4f, 0.1f, 0, 3}, {0.2f, 0.9f, -0.1f, 0, 0}, {0.1f, 0.1f, 1.2f, 0, -9}, {0, 0, 0, 0.9f, 10}}};
    cpixels_color_matrix_rgb(&matrix, source, target, count);
    report("cpixels_color_matrix_rgb", 0, target, 3 * count);
    cpixels_color_matrix_bgra(&matrix, source, target, count);
    report("cpixels_color_matrix_bgra", 0, target, 4 * count);
    const float color[4] = {0.8f, 0.3f, 0.1f, 0.6f};
    for (int mode = cpixels_blend_normal; mode <= cpixels_blend_plus_lighter; mode++) {
        cpixels_blend_color_onto(mode, color, source, target, count);
        report("cpixels_blend_color_onto", mode, target, 4 * count);
    }
    for (int channels = 3; channels <= 4; channels++) {
        const struct cpixels_sampling sampling = {source, 31 * channels, 31, 29, channels, 0.8, 0.6};
        cpixels_sample_row(&sampling, -3.5, 2.25, target, 60);
        report("cpixels_sample_row", channels, target, 240);
    }
}

static void light(void) {
    static struct cpixels_light_tables tables;
    static float transfer[65536];
    begin();
    cpixels_fill_light_tables(&tables);
    report("cpixels_fill_light_tables", 0, &tables, sizeof tables);
    for (int kind = cpixels_transfer_srgb; kind <= cpixels_transfer_hlg; kind++) {
        cpixels_fill_transfer(transfer, (enum cpixels_transfer)kind, 2.2);
        report("cpixels_fill_transfer", kind, transfer, sizeof transfer);
        const struct cpixels_light how = {
            transfer, {1.6f, -0.5f, -0.1f, -0.1f, 1.1f, 0, 0, -0.1f, 1.1f}, kind == cpixels_transfer_hlg, {0.26f, 0.68f, 0.06f}, &tables};
        fill_floats(floats, 4 * count);
        cpixels_codes_to_light(floats, count, &how);
        report("cpixels_codes_to_light", kind, floats, 4 * count * sizeof(float));
        for (int maps = 0; maps < 2; maps++) {
            cpixels_light_to_levels(floats, target, count, maps, &tables);
            report("cpixels_light_to_levels", 10 * kind + maps, target, 4 * count);
        }
        cpixels_light_to_codes(floats, count, &tables);
        report("cpixels_light_to_codes", kind, floats, 4 * count * sizeof(float));
        cpixels_srgb_codes_to_light(floats, count, &tables);
        report("cpixels_srgb_codes_to_light", kind, floats, 4 * count * sizeof(float));
    }
    fill_floats(floats, 4 * count);
    cpixels_codes_to_levels(floats, target, count);
    report("cpixels_codes_to_levels", 0, target, 4 * count);
    cpixels_premultiply_floats(floats, count);
    report("cpixels_premultiply_floats", 0, floats, 4 * count * sizeof(float));
    cpixels_unpremultiply_floats(floats, count);
    report("cpixels_unpremultiply_floats", 0, floats, 4 * count * sizeof(float));
    cpixels_limit_alpha(floats, count);
    report("cpixels_limit_alpha", 0, floats, 4 * count * sizeof(float));
    cpixels_floats_to_halves(floats, shorts, count);
    report("cpixels_floats_to_halves", 0, shorts, count * sizeof(uint16_t));
    cpixels_halves_to_floats(shorts, floats, count);
    report("cpixels_halves_to_floats", 0, floats, count * sizeof(float));
    for (size_t i = 0; i < 4 * count; i++) shorts[i] = (uint16_t)(next_number() & 1023);
    cpixels_shorts_to_floats(shorts, floats, count, 1023);
    report("cpixels_shorts_to_floats", 0, floats, count * sizeof(float));
    cpixels_rgb_shorts_to_rgba_floats(shorts, floats, count, 1023);
    report("cpixels_rgb_shorts_to_rgba_floats", 0, floats, 4 * count * sizeof(float));
    cpixels_shorts_to_levels(shorts, target, count, 1023);
    report("cpixels_shorts_to_levels", 0, target, count);
    const size_t part = count / 4;
    static uint16_t interleaved[count];
    cpixels_short_planes_to_rgb(shorts, shorts + part, shorts + 2 * part, interleaved, part);
    report("cpixels_short_planes_to_rgb", 0, interleaved, 3 * part * sizeof(uint16_t));
    cpixels_short_planes_to_rgba(shorts, shorts + part, shorts + 2 * part, shorts + 3 * part, interleaved, part);
    report("cpixels_short_planes_to_rgba", 0, interleaved, 4 * part * sizeof(uint16_t));
}

static void palettes(void) {
    begin();
    enum { width = 101, height = 10 };
    for (size_t i = 3; i < 4 * width * height; i += 4) source[i] = 255;
    struct cpixels_quantizer *quantizer = cpixels_quantizer_create();
    struct cpixels_palette *palette = cpixels_palette_create();
    if (!quantizer || !palette) exit(1);
    cpixels_quantizer_add(quantizer, source, width * height);
    cpixels_quantizer_make(quantizer, 64, palette);
    report("cpixels_quantizer_make", (int)cpixels_palette_count(palette), cpixels_palette_colors(palette), 3 * cpixels_palette_count(palette));
    static int16_t errors[2][3 * (width + 2)];
    for (int y = 0; y < height; y++) {
        cpixels_quantizer_map_row(
            quantizer, source + 4 * width * y, width, y & 1, 255, errors[y & 1], errors[~y & 1], target + width * y);
    }
    report("cpixels_quantizer_map_row", 0, target, width * height);
    for (size_t i = 0; i < width * height; i++) target[i] &= 63;
    if (cpixels_lzw_bound(width * height) > sizeof scratch) exit(1);
    const size_t size = cpixels_lzw(target, width * height, 6, scratch);
    report("cpixels_lzw", (int)size, scratch, size);
    cpixels_palette_destroy(palette);
    cpixels_quantizer_destroy(quantizer);
    fill(source, 4 * width * height);
    memcpy(target, source, 4 * width * height);
    target[4 * (3 * width + 7) + 3] = 0;
    target[4 * (6 * width + 50)] ^= 1;
    struct cpixels_rectangle area = {0};
    bool found = cpixels_difference(source, 4 * width, target, 4 * width, width, height, &area);
    report("cpixels_difference", found, &area, sizeof area);
    found = cpixels_cleared(source, 4 * width, target, 4 * width, width, height, &area);
    report("cpixels_cleared", found, &area, sizeof area);
    bool lies_over = true;
    const size_t changed = cpixels_keep_changed(source, target, scratch, width * height, &lies_over);
    report("cpixels_keep_changed", (int)(2 * changed) + lies_over, scratch, 4 * width * height);
}

int main(void) {
    conversions();
    places();
    resampling();
    effects();
    light();
    palettes();
    return 0;
}
