#include "CPixelsEffects.h"

#include <string.h>

#include "Multiversion.h"

typedef uint8_t byte4 __attribute__((vector_size(4)));
typedef uint32_t word4 __attribute__((vector_size(16)));
typedef uint64_t quad4 __attribute__((vector_size(32)));

/// The longest side of a box for which the division is a multiplication; see `divider_by`.
#define LONGEST_NARROW_SIDE 2895

// One number for each sample of a row: the sum of its column of the box. When the box moves down by a row, one row is added to the sums and one is
// subtracted; within a row, columns likewise. So the cost does not depend on the size of the box.

INLINE word4 load_sums(const uint32_t *from) {
    word4 value;
    memcpy(&value, from, sizeof value);
    return value;
}

/// Divides sums by an area, rounded, with a multiplication.
struct divider {
    uint32_t half;
    uint32_t factor;
    int shift;
};

/// Exact for sums of `area` bytes: the factor is too large by less than area / 2^shift, which times a sum, below 256 * area, is too small to change
/// the result. Areas below 2^23 keep the factor within 32 bits.
static struct divider divider_by(uint32_t area) {
    const uint64_t square = 256 * (uint64_t)area * area;
    int shift = 8;
    while (((uint64_t)1 << shift) < square) { shift++; }
    return (struct divider){area / 2, (uint32_t)((((uint64_t)1 << shift) + area - 1) / area), shift};
}

INLINE byte4 mean(word4 sum, struct divider divider) {
    return __builtin_convertvector(
        __builtin_convertvector(sum + divider.half, quad4) * divider.factor >> divider.shift, byte4);
}

MULTIVERSION
static void add_weighted(uint32_t *restrict sums, const uint8_t *restrict row, uint32_t weight, size_t samples) {
    for (size_t i = 0; i < samples; i++) { sums[i] += weight * row[i]; }
}

MULTIVERSION
static void exchange(
    uint32_t *restrict sums, const uint8_t *restrict added, const uint8_t *restrict removed, size_t samples) {
    for (size_t i = 0; i < samples; i++) { sums[i] += (uint32_t)added[i] - (uint32_t)removed[i]; }
}

/// The columns of a row's first box; those outside the image repeat the edge.
#define FIRST_BOX(sum, column)                                                                                          \
    do {                                                                                                                \
        sum = column(0) * (uint32_t)(reach + 1);                                                                        \
        const size_t within = reach < last ? reach : last;                                                              \
        for (size_t i = 1; i <= within; i++) { sum += column(i); }                                                      \
        sum += column(last) * (uint32_t)(reach - within);                                                               \
    } while (0)

INLINE void emit_row(
    const uint32_t *sums, size_t width, size_t reach, const size_t channels, struct divider divider, uint8_t *output) {
    const size_t last = width - 1;
    word4 sum;
#define COLUMN(i) load_sums(sums + channels * (i))
    FIRST_BOX(sum, COLUMN);
    for (size_t x = 0; x < last; x++) {
        const byte4 bytes = mean(sum, divider);
        memcpy(output + channels * x, &bytes, 4);
        const size_t right = x + 1 + reach < last ? x + 1 + reach : last;
        const size_t left = x > reach ? x - reach : 0;
        sum += COLUMN(right) - COLUMN(left);
    }
    // Three bytes of the last pixel: the fourth belongs to the next row.
    const byte4 bytes = mean(sum, divider);
    memcpy(output + channels * last, &bytes, channels);
#undef COLUMN
}

MULTIVERSION
static void emit_narrow(
    const uint32_t *sums, size_t width, size_t reach, int channels, struct divider divider, uint8_t *output) {
    if (width == 1) {
        // Nothing may be written after the only pixel, and all columns are equal.
        const uint32_t side = (uint32_t)(2 * reach + 1);
        for (int c = 0; c < channels; c++) {
            output[c] = (uint8_t)((uint64_t)(sums[c] * side + divider.half) * divider.factor >> divider.shift);
        }
    } else if (channels == 3) {
        emit_row(sums, width, reach, 3, divider, output);
    } else {
        emit_row(sums, width, reach, 4, divider, output);
    }
}

/// The same in 64 bits with a real division, for boxes that are wider than any screen.
static void emit_wide(const uint32_t *sums, size_t width, size_t reach, int channels, uint8_t *output) {
    const size_t last = width - 1;
    const uint64_t side = 2 * (uint64_t)reach + 1, area = side * side;
    for (int c = 0; c < channels; c++) {
        uint64_t sum;
#define COLUMN(i) ((uint64_t)sums[(size_t)channels * (i) + (size_t)c])
        FIRST_BOX(sum, COLUMN);
        for (size_t x = 0; x < width; x++) {
            output[(size_t)channels * x + (size_t)c] = (uint8_t)((sum + area / 2) / area);
            const size_t right = x + 1 + reach < last ? x + 1 + reach : last;
            const size_t left = x > reach ? x - reach : 0;
            sum += COLUMN(right) - COLUMN(left);
        }
#undef COLUMN
    }
}

/// The samples of a row and one additional lane, which is loaded but not used.
static size_t sums_bytes(const struct cpixels_box *box) {
    return (box->width * (size_t)box->channels + 4) * sizeof(uint32_t);
}

/// Returns the number of source rows that are still needed when the result overwrites them.
static size_t kept_rows(const struct cpixels_box *box) {
    return box->reach + 1 < box->height ? box->reach + 1 : box->height;
}

size_t cpixels_box_scratch(const struct cpixels_box *box, bool in_place) {
    return sums_bytes(box) + (in_place ? kept_rows(box) * box->width * (size_t)box->channels : 0);
}

void cpixels_box_blur(
    const struct cpixels_box *box, const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride,
    void *scratch) {
    const size_t samples = box->width * (size_t)box->channels, reach = box->reach, last = box->height - 1;
    const size_t side = 2 * reach + 1, kept = kept_rows(box);
    const bool in_place = source == target, narrow = side <= LONGEST_NARROW_SIDE;
    const struct divider divider = divider_by(narrow ? (uint32_t)(side * side) : 1);
    uint32_t *sums = scratch;
    uint8_t *ring = (uint8_t *)scratch + sums_bytes(box);
    memset(sums, 0, sums_bytes(box));
    add_weighted(sums, source, (uint32_t)(reach + 1), samples);
    const size_t within = reach < last ? reach : last;
    for (size_t y = 1; y <= within; y++) { add_weighted(sums, source + (ptrdiff_t)y * source_stride, 1, samples); }
    add_weighted(sums, source + (ptrdiff_t)last * source_stride, (uint32_t)(reach - within), samples);
    for (size_t y = 0; y <= last; y++) {
        if (in_place) { memcpy(ring + (y % kept) * samples, source + (ptrdiff_t)y * source_stride, samples); }
        uint8_t *output = target + (ptrdiff_t)y * target_stride;
        if (narrow) {
            emit_narrow(sums, box->width, reach, box->channels, divider, output);
        } else {
            emit_wide(sums, box->width, reach, box->channels, output);
        }
        if (y == last) { break; }
        const size_t added = y + 1 + reach < last ? y + 1 + reach : last;
        const size_t removed = y > reach ? y - reach : 0;
        exchange(
            sums, source + (ptrdiff_t)added * source_stride,
            in_place ? ring + (removed % kept) * samples : source + (ptrdiff_t)removed * source_stride, samples);
    }
}
