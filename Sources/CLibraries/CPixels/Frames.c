#include "CPixels.h"

#include <string.h>

#include "Multiversion.h"

static inline uint32_t load(const uint8_t *pixels, size_t index) {
    uint32_t pixel;
    memcpy(&pixel, pixels + 4 * index, 4);
    return pixel;
}

static inline void store(uint8_t *pixels, size_t index, uint32_t pixel) { memcpy(pixels + 4 * index, &pixel, 4); }

/// Alpha is the last byte.
static inline uint32_t alpha(uint32_t pixel) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return pixel & 255;
#else
    return pixel >> 24;
#endif
}

typedef bool (*differs)(uint32_t before, uint32_t now);

static inline bool is_other(uint32_t before, uint32_t now) { return before != now; }
static inline bool is_cleared(uint32_t before, uint32_t now) { return alpha(before) != 0 && alpha(now) == 0; }

static inline __attribute__((always_inline)) bool find(
    differs is_found, const uint8_t *before, ptrdiff_t before_stride, const uint8_t *now, ptrdiff_t now_stride,
    size_t width, size_t height, struct cpixels_rectangle *found) {
    size_t left = width, right = 0, top = height, bottom = 0;
    for (size_t y = 0; y < height; y++, before += before_stride, now += now_stride) {
        if (memcmp(before, now, width * 4) == 0) continue;
        size_t first = 0, last = width;
        while (first < width && !is_found(load(before, first), load(now, first))) first++;
        if (first == width) continue;
        while (!is_found(load(before, last - 1), load(now, last - 1))) last--;
        if (first < left) left = first;
        if (last > right) right = last;
        if (top == height) top = y;
        bottom = y + 1;
    }
    *found = (struct cpixels_rectangle){left, top, right - left, bottom - top};
    return top < height;
}

bool cpixels_difference(
    const uint8_t *before, ptrdiff_t before_stride, const uint8_t *now, ptrdiff_t now_stride, size_t width,
    size_t height, struct cpixels_rectangle *changed) {
    return find(is_other, before, before_stride, now, now_stride, width, height, changed);
}

bool cpixels_cleared(
    const uint8_t *before, ptrdiff_t before_stride, const uint8_t *now, ptrdiff_t now_stride, size_t width,
    size_t height, struct cpixels_rectangle *cleared) {
    return find(is_cleared, before, before_stride, now, now_stride, width, height, cleared);
}

size_t cpixels_keep_changed(const uint8_t *before, const uint8_t *now, uint8_t *kept, size_t count, bool *lies_over) {
    size_t changed = 0;
    bool over = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t former = load(before, i), pixel = load(now, i);
        bool is_changed = former != pixel;
        changed += is_changed;
        over = over && (!is_changed || alpha(pixel) == 255 || alpha(former) == 0);
        store(kept, i, is_changed ? pixel : 0);
    }
    *lies_over &= over;
    return changed;
}

size_t cpixels_threshold(const uint8_t *bgra, uint8_t *pixels, size_t count, const uint8_t *background) {
    size_t opaque = 0;
    for (size_t i = 0; i < count; i++, bgra += 4, pixels += 4) {
        uint32_t opacity = bgra[3];
        opaque += opacity >= 128;
        if (opacity == 255) {
            memcpy(pixels, bgra, 4);
        } else if (opacity < 128) {
            memset(pixels, 0, 4);
        } else if (background) {
            for (int c = 0; c < 3; c++) {
                pixels[c] = (uint8_t)(bgra[c] + (background[2 - c] * (255 - opacity) * 2 + 255) / 510);
            }
            pixels[3] = 255;
        } else {
            cpixels_unpremultiply_bgra_to_bgra(bgra, pixels, 1);
            pixels[3] = 255;
        }
    }
    return opaque;
}
