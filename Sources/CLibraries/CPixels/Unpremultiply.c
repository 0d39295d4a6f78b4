#include "CPixels.h"

/// Returns colour * 255 / alpha, rounded, for the three colours, with one division: n * ceil(2^32 / a) >> 32 is n / a for all n here.
static inline uint32_t unpremultiplied(uint32_t pixel) {
    uint32_t alpha = pixel >> 24;
    if (alpha == 255) return pixel;
    if (alpha == 0) return 0;
    uint64_t inverse = UINT32_MAX / alpha + 1ull;
    uint32_t result = alpha << 24;
    for (int shift = 0; shift < 24; shift += 8) {
        uint32_t color = (uint32_t)((((pixel >> shift) & 255) * 255 + alpha / 2) * inverse >> 32);
        result |= (color > 255 ? 255 : color) << shift;
    }
    return result;
}

void cpixels_unpremultiply_bgra_to_bgra(const uint8_t *bgra, uint8_t *straight, size_t count) {
    for (size_t i = 0; i < count; i++, bgra += 4, straight += 4) {
        uint32_t pixel = bgra[0] | bgra[1] << 8 | bgra[2] << 16 | (uint32_t)bgra[3] << 24;
        pixel = unpremultiplied(pixel);
        straight[0] = (uint8_t)pixel;
        straight[1] = (uint8_t)(pixel >> 8);
        straight[2] = (uint8_t)(pixel >> 16);
        straight[3] = (uint8_t)(pixel >> 24);
    }
}

void cpixels_unpremultiply_bgra_to_rgba(const uint8_t *bgra, uint8_t *rgba, size_t count) {
    for (size_t i = 0; i < count; i++, bgra += 4, rgba += 4) {
        uint32_t pixel = bgra[0] | bgra[1] << 8 | bgra[2] << 16 | (uint32_t)bgra[3] << 24;
        pixel = unpremultiplied(pixel);
        rgba[0] = (uint8_t)(pixel >> 16);
        rgba[1] = (uint8_t)(pixel >> 8);
        rgba[2] = (uint8_t)pixel;
        rgba[3] = (uint8_t)(pixel >> 24);
    }
}
