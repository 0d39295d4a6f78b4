#include "filters.h"

#include "Multiversion.h"

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int16_t shorts4 __attribute__((vector_size(8)));

static inline bytes4 load(const uint8_t *from) {
    bytes4 value;
    memcpy(&value, from, 4);
    return value;
}

static inline shorts4 widened(bytes4 value) { return __builtin_convertvector(value, shorts4); }

/// Returns the neighbour closest to left (a) + above (b) - corner (c).
static inline shorts4 paeth(shorts4 a, shorts4 b, shorts4 c) {
    shorts4 to_a = b - c, to_b = a - c, to_c = to_a + to_b;
    to_a = __builtin_elementwise_abs(to_a);
    to_b = __builtin_elementwise_abs(to_b);
    to_c = __builtin_elementwise_abs(to_c);
    // Signs instead of comparisons: with AVX-512 those use mask registers, which takes three times as long.
    shorts4 is_c = (to_c - to_b) >> 15;
    shorts4 not_a = (__builtin_elementwise_min(to_b, to_c) - to_a) >> 15;
    shorts4 other = (c & is_c) | (b & ~is_c);
    return (other & not_a) | (a & ~not_a);
}

static inline bytes4 average(bytes4 left, bytes4 above) {
    return __builtin_convertvector((widened(left) + widened(above)) >> 1, bytes4);
}

/// Restores pixel by pixel, with the previous one in a register. Stores beyond a pixel of 3 bytes are overwritten by the next pixel; the
/// last one is stored exactly.
#define RESTORE_PIXELS(predicted)                                                   \
    do {                                                                            \
        bytes4 left = {0};                                                          \
        size_t i = 0;                                                               \
        for (; i + size < count; i += size) {                                       \
            bytes4 up = load(above + i);                                            \
            (void)up;                                                               \
            left = load(filtered + i) + (predicted);                                \
            memcpy(row + i, &left, 4);                                              \
        }                                                                           \
        bytes4 up = load(above + i);                                                \
        left = load(filtered + i) + (predicted);                                    \
        (void)up;                                                                   \
        memcpy(row + i, &left, size);                                               \
    } while (0)

/// The same for the filter with the longest dependency between pixels: the previous pixel stays in 16 bits.
static inline __attribute__((always_inline)) void restore_paeth(
    const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, size_t size) {
    shorts4 left = {0}, corner = {0};
    size_t i = 0;
    for (; i + size < count; i += size) {
        shorts4 up = widened(load(above + i));
        left = (widened(load(filtered + i)) + paeth(left, up, corner)) & 0xFF;
        corner = up;
        bytes4 result = __builtin_convertvector(left, bytes4);
        memcpy(row + i, &result, 4);
    }
    shorts4 up = widened(load(above + i));
    left = widened(load(filtered + i)) + paeth(left, up, corner);
    bytes4 result = __builtin_convertvector(left, bytes4);
    memcpy(row + i, &result, size);
}

static inline __attribute__((always_inline)) void restore(
    int filter, const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, size_t size) {
    switch (filter) {
    case FILTER_SUB: RESTORE_PIXELS(left); break;
    case FILTER_AVERAGE: RESTORE_PIXELS(average(left, up)); break;
    default: restore_paeth(filtered, above, row, count, size); break;
    }
}

/// Grey rows: the same, byte by byte.
static void restore_bytes(int filter, const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count) {
    int left = 0, corner = 0;
    for (size_t i = 0; i < count; i++) {
        int up = above[i], predicted = left;
        if (filter == FILTER_AVERAGE) predicted = (left + up) >> 1;
        if (filter == FILTER_PAETH) {
            int a = up - corner, b = left - corner, c = a + b;
            a = a < 0 ? -a : a, b = b < 0 ? -b : b, c = c < 0 ? -c : c;
            predicted = a <= b && a <= c ? left : b <= c ? up : corner;
        }
        corner = up;
        row[i] = (uint8_t)(left = (uint8_t)(filtered[i] + predicted));
    }
}

MULTIVERSION int png_unfilter(
    int filter, const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, size_t bytes_per_pixel) {
    switch (filter) {
    case FILTER_NONE: memcpy(row, filtered, count); return 1;
    case FILTER_UP:
        for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(filtered[i] + above[i]);
        return 1;
    case FILTER_SUB:
    case FILTER_AVERAGE:
    case FILTER_PAETH: break;
    default: return 0;
    }
    if (bytes_per_pixel == 4) {
        restore(filter, filtered, above, row, count, 4);
    } else if (bytes_per_pixel == 3) {
        restore(filter, filtered, above, row, count, 3);
    } else {
        restore_bytes(filter, filtered, above, row, count);
    }
    return 1;
}

MULTIVERSION uint64_t png_filter(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *filtered, size_t count, size_t size) {
    size_t i = 0;
    for (; i < size && i < count; i++) {
        int predicted = filter == FILTER_UP ? above[i] : filter == FILTER_AVERAGE ? above[i] >> 1 : 0;
        filtered[i] = (uint8_t)(row[i] - predicted);
    }
    if (filter == FILTER_SUB) {
        for (; i < count; i++) filtered[i] = (uint8_t)(row[i] - row[i - size]);
    } else if (filter == FILTER_UP) {
        for (; i < count; i++) filtered[i] = (uint8_t)(row[i] - above[i]);
    } else {
        for (; i < count; i++) filtered[i] = (uint8_t)(row[i] - ((row[i - size] + above[i]) >> 1));
    }
    uint64_t sum = 0;
    for (i = 0; i < count;) {
        // Sums of 32 bits, which the compiler vectorises.
        size_t end = count - i < 1 << 16 ? count : i + (1 << 16);
        uint32_t part = 0;
        for (; i < end; i++) part += filtered[i] < 128 ? filtered[i] : (uint8_t)-filtered[i];
        sum += part;
    }
    return sum;
}
