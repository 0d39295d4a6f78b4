// Palettes: exact ones of images with few colours, and quantised ones (Wu's boxes of least variance, refined by a few rounds of k-means) with error
// diffusion (Floyd and Steinberg, alternating directions).
#include "CPixels.h"

#include <stdlib.h>
#include <string.h>

#include "Multiversion.h"

enum { SLOTS = 1024, EMPTY = 0 };

struct cpixels_palette {
    uint8_t colors[3 * 256];
    size_t count;
    uint32_t keys[SLOTS];
    uint8_t numbers[SLOTS];
};

struct cpixels_palette *cpixels_palette_create(void) { return calloc(1, sizeof(struct cpixels_palette)); }
void cpixels_palette_destroy(struct cpixels_palette *palette) { free(palette); }
void cpixels_palette_copy(const struct cpixels_palette *from, struct cpixels_palette *to) { *to = *from; }
size_t cpixels_palette_count(const struct cpixels_palette *palette) { return palette->count; }
const uint8_t *cpixels_palette_colors(const struct cpixels_palette *palette) { return palette->colors; }

static inline uint32_t hash(uint32_t color) { return color * 2654435761u >> 22; }

static inline uint32_t color_of(const uint8_t *pixel) {
    return 0xFF000000 | (uint32_t)pixel[2] << 16 | (uint32_t)pixel[1] << 8 | pixel[0];
}

void cpixels_palette_clear(struct cpixels_palette *palette) { memset(palette, 0, sizeof *palette); }

/// Returns the slot of a colour, or the empty one for it. There are more slots than colours.
static inline uint32_t slot_of(const struct cpixels_palette *palette, uint32_t color) {
    uint32_t slot = hash(color);
    while (palette->keys[slot] != EMPTY && palette->keys[slot] != color) slot = (slot + 1) & (SLOTS - 1);
    return slot;
}

static bool add_color(struct cpixels_palette *palette, uint32_t color, size_t limit) {
    uint32_t slot = slot_of(palette, color);
    if (palette->keys[slot] == color) return true;
    if (palette->count >= limit) return false;
    palette->keys[slot] = color;
    palette->numbers[slot] = (uint8_t)palette->count;
    uint8_t *rgb = palette->colors + 3 * palette->count++;
    rgb[0] = (uint8_t)(color >> 16), rgb[1] = (uint8_t)(color >> 8), rgb[2] = (uint8_t)color;
    return true;
}

bool cpixels_palette_add(struct cpixels_palette *palette, const uint8_t *pixels, size_t count, size_t limit) {
    uint32_t last = EMPTY;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 0) continue;
        uint32_t color = color_of(pixels);
        if (color == last) continue;
        if (!add_color(palette, color, limit)) return false;
        last = color;
    }
    return true;
}

bool cpixels_palette_map(
    const struct cpixels_palette *palette, const uint8_t *pixels, size_t count, uint8_t clear, uint8_t *numbers) {
    uint32_t last = EMPTY;
    uint8_t number = 0;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 0) {
            numbers[i] = clear;
            continue;
        }
        uint32_t color = color_of(pixels);
        if (color != last) {
            uint32_t slot = slot_of(palette, color);
            if (palette->keys[slot] != color) return false;
            number = palette->numbers[slot];
            last = color;
        }
        numbers[i] = number;
    }
    return true;
}

// Boxes are found among 32 levels of each component, with an empty one before them for the sums.
enum { SIDE = 33, CELLS = SIDE * SIDE * SIDE, FINE = 64, FINE_CELLS = FINE * FINE * FINE, MOST = 256, ROUNDS = 4 };

struct fine_cell {
    uint64_t sums[3];
    uint64_t count;
};

struct cpixels_quantizer {
    int64_t weight[CELLS];
    int64_t moment[3][CELLS];
    double square[CELLS];
    struct fine_cell fine[FINE_CELLS];
    /// The palette's nearest colour for each cell, plus 1; 0 until it is searched for.
    uint16_t nearest[FINE_CELLS];
    int16_t colors[3][MOST];
    size_t color_count;
};

struct cpixels_quantizer *cpixels_quantizer_create(void) { return calloc(1, sizeof(struct cpixels_quantizer)); }
void cpixels_quantizer_destroy(struct cpixels_quantizer *quantizer) { free(quantizer); }
void cpixels_quantizer_clear(struct cpixels_quantizer *quantizer) { memset(quantizer, 0, sizeof *quantizer); }

static inline size_t fine_index(int red, int green, int blue) {
    return (size_t)(red >> 2) << 12 | (size_t)(green >> 2) << 6 | (size_t)(blue >> 2);
}

void cpixels_quantizer_add(struct cpixels_quantizer *quantizer, const uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 0) continue;
        struct fine_cell *cell = quantizer->fine + fine_index(pixels[2], pixels[1], pixels[0]);
        cell->sums[0] += pixels[2], cell->sums[1] += pixels[1], cell->sums[2] += pixels[0];
        cell->count++;
    }
}

static inline size_t at(int r, int g, int b) { return ((size_t)r * SIDE + (size_t)g) * SIDE + (size_t)b; }

/// Adds eight fine cells to each coarse one, and makes each sum include all cells before it.
static void accumulate(struct cpixels_quantizer *q) {
    for (size_t i = 0; i < FINE_CELLS; i++) {
        const struct fine_cell *cell = q->fine + i;
        if (cell->count == 0) continue;
        size_t to = at((int)(i >> 13) + 1, (int)(i >> 7 & 31) + 1, (int)(i >> 1 & 31) + 1);
        q->weight[to] += (int64_t)cell->count;
        for (int c = 0; c < 3; c++) {
            q->moment[c][to] += (int64_t)cell->sums[c];
            q->square[to] += (double)cell->sums[c] * (double)cell->sums[c] / (double)cell->count;
        }
    }
    for (int r = 1; r < SIDE; r++) {
        int64_t area[4][SIDE] = {{0}};
        double area_square[SIDE] = {0};
        for (int g = 1; g < SIDE; g++) {
            int64_t line[4] = {0};
            double line_square = 0;
            for (int b = 1; b < SIDE; b++) {
                size_t here = at(r, g, b), before = at(r - 1, g, b);
                int64_t *sums[4] = {q->weight, q->moment[0], q->moment[1], q->moment[2]};
                for (int m = 0; m < 4; m++) {
                    line[m] += sums[m][here];
                    area[m][b] += line[m];
                    sums[m][here] = sums[m][before] + area[m][b];
                }
                line_square += q->square[here];
                area_square[b] += line_square;
                q->square[here] = q->square[before] + area_square[b];
            }
        }
    }
}

/// A box from low (exclusive) to high.
struct box {
    int low[3];
    int high[3];
    double variance;
};

static inline int64_t volume(const struct box *box, const int64_t *sums) {
    const int *l = box->low, *h = box->high;
    return sums[at(h[0], h[1], h[2])] - sums[at(h[0], h[1], l[2])] - sums[at(h[0], l[1], h[2])]
        + sums[at(h[0], l[1], l[2])] - sums[at(l[0], h[1], h[2])] + sums[at(l[0], h[1], l[2])]
        + sums[at(l[0], l[1], h[2])] - sums[at(l[0], l[1], l[2])];
}

static double squares(const struct box *box, const double *sums) {
    const int *l = box->low, *h = box->high;
    return sums[at(h[0], h[1], h[2])] - sums[at(h[0], h[1], l[2])] - sums[at(h[0], l[1], h[2])]
        + sums[at(h[0], l[1], l[2])] - sums[at(l[0], h[1], h[2])] + sums[at(l[0], h[1], l[2])]
        + sums[at(l[0], l[1], h[2])] - sums[at(l[0], l[1], l[2])];
}

/// Returns the worth of a box: the square of its sums over its weight. The larger the worth of two halves, the smaller their variance.
static double worth(const struct cpixels_quantizer *q, const struct box *box, int64_t *weight) {
    *weight = volume(box, q->weight);
    if (*weight == 0) return 0;
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double moment = (double)volume(box, q->moment[c]);
        sum += moment * moment;
    }
    return sum / (double)*weight;
}

static void measure(const struct cpixels_quantizer *q, struct box *box) {
    int64_t weight;
    double value = worth(q, box, &weight);
    bool is_one_cell = true;
    for (int c = 0; c < 3; c++) is_one_cell &= box->high[c] - box->low[c] == 1;
    box->variance = is_one_cell ? 0 : squares(box, q->square) - value;
}

/// Cuts the box in two at the best place; false when it cannot be cut.
static bool cut(const struct cpixels_quantizer *q, struct box *box, struct box *other) {
    double best = 0;
    int direction = -1, position = 0;
    for (int c = 0; c < 3; c++) {
        for (int p = box->low[c] + 1; p < box->high[c]; p++) {
            struct box one = *box, two = *box;
            one.high[c] = two.low[c] = p;
            int64_t first, second;
            double value = worth(q, &one, &first) + worth(q, &two, &second);
            if (first == 0 || second == 0 || value <= best) continue;
            best = value, direction = c, position = p;
        }
    }
    if (direction < 0) return false;
    *other = *box;
    box->high[direction] = other->low[direction] = position;
    measure(q, box);
    measure(q, other);
    return true;
}

/// Combines distance and index in one number, so that the smallest is found without branches.
INLINE size_t nearest_color(const struct cpixels_quantizer *q, int red, int green, int blue) {
    int32_t best = INT32_MAX;
    for (int32_t i = 0; i < (int32_t)q->color_count; i++) {
        int32_t r = q->colors[0][i] - red, g = q->colors[1][i] - green, b = q->colors[2][i] - blue;
        int32_t distance = (r * r + g * g + b * b) << 8 | i;
        best = distance < best ? distance : best;
    }
    return (size_t)(best & 255);
}

/// Moves each colour to the mean of its nearest pixels.
MULTIVERSION static void refine(struct cpixels_quantizer *q) {
    static const double none[4] = {0};
    double sums[MOST][4];
    for (size_t i = 0; i < q->color_count; i++) memcpy(sums[i], none, sizeof none);
    for (size_t i = 0; i < FINE_CELLS; i++) {
        const struct fine_cell *cell = q->fine + i;
        if (cell->count == 0) continue;
        uint64_t half = cell->count / 2;
        int mean[3];
        for (int c = 0; c < 3; c++) mean[c] = (int)((cell->sums[c] + half) / cell->count);
        double *sum = sums[nearest_color(q, mean[0], mean[1], mean[2])];
        for (int c = 0; c < 3; c++) sum[c] += (double)cell->sums[c];
        sum[3] += (double)cell->count;
    }
    for (size_t i = 0; i < q->color_count; i++) {
        if (sums[i][3] == 0) continue;
        for (int c = 0; c < 3; c++) q->colors[c][i] = (int16_t)(sums[i][c] / sums[i][3] + 0.5);
    }
}

void cpixels_quantizer_make(struct cpixels_quantizer *q, size_t limit, struct cpixels_palette *palette) {
    struct box boxes[MOST];
    accumulate(q);
    boxes[0] = (struct box){{0, 0, 0}, {SIDE - 1, SIDE - 1, SIDE - 1}, 0};
    measure(q, boxes);
    size_t count = 1;
    if (limit > MOST) limit = MOST;
    while (count < limit) {
        size_t widest = 0;
        for (size_t i = 1; i < count; i++) {
            if (boxes[i].variance > boxes[widest].variance) widest = i;
        }
        if (boxes[widest].variance <= 0) break;
        if (cut(q, boxes + widest, boxes + count)) {
            count++;
        } else {
            boxes[widest].variance = 0;
        }
    }
    q->color_count = count;
    for (size_t i = 0; i < count; i++) {
        int64_t weight = volume(boxes + i, q->weight);
        for (int c = 0; c < 3; c++) {
            int64_t moment = volume(boxes + i, q->moment[c]);
            q->colors[c][i] = weight > 0 ? (int16_t)((moment + weight / 2) / weight) : 0;
        }
    }
    for (int round = 0; round < ROUNDS; round++) refine(q);
    cpixels_palette_clear(palette);
    for (size_t i = 0; i < count; i++) {
        add_color(palette, 0xFF000000 | (uint32_t)q->colors[0][i] << 16 | (uint32_t)q->colors[1][i] << 8
                  | (uint32_t)q->colors[2][i], MOST);
    }
    // Equal colours are merged.
    q->color_count = palette->count;
    for (size_t i = 0; i < palette->count; i++) {
        for (int c = 0; c < 3; c++) q->colors[c][i] = palette->colors[3 * i + (size_t)c];
    }
    memset(q->nearest, 0, sizeof q->nearest);
}

INLINE size_t look_up(struct cpixels_quantizer *q, int red, int green, int blue) {
    uint16_t *known = q->nearest + fine_index(red, green, blue);
    if (*known == 0) *known = (uint16_t)(nearest_color(q, (red & ~3) + 2, (green & ~3) + 2, (blue & ~3) + 2) + 1);
    return *known - 1u;
}

INLINE int clamp(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

MULTIVERSION void cpixels_quantizer_map_row(
    struct cpixels_quantizer *q, const uint8_t *pixels, size_t width, bool backwards, uint8_t clear, int16_t *errors,
    int16_t *next_errors, uint8_t *numbers) {
    ptrdiff_t step = backwards ? -1 : 1;
    memset(next_errors, 0, (width + 2) * 3 * sizeof *next_errors);
    for (size_t i = 0; i < width; i++) {
        size_t x = backwards ? width - 1 - i : i;
        const uint8_t *pixel = pixels + 4 * x;
        if (pixel[3] == 0) {
            numbers[x] = clear;
            continue;
        }
        int wanted[3];
        // Errors are stored one pixel further than their pixels, in sixteenths.
        int16_t *here = errors + 3 * (x + 1), *below = next_errors + 3 * (x + 1);
        for (int c = 0; c < 3; c++) wanted[c] = clamp(pixel[2 - c] + (here[c] + (here[c] >= 0 ? 8 : -8)) / 16);
        size_t number = look_up(q, wanted[0], wanted[1], wanted[2]);
        numbers[x] = (uint8_t)number;
        for (int c = 0; c < 3; c++) {
            int error = wanted[c] - q->colors[c][number];
            here[c + 3 * step] = (int16_t)(here[c + 3 * step] + error * 7);
            below[c - 3 * step] = (int16_t)(below[c - 3 * step] + error * 3);
            below[c] = (int16_t)(below[c] + error * 5);
            below[c + 3 * step] = (int16_t)(below[c + 3 * step] + error);
        }
    }
}
