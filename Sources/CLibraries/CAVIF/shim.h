// libavif. Fields whose names differ between its versions are read here, so that the Swift code is the same for all.
#pragma once
#include <avif/avif.h>

/// Returns the axis: 0 swaps top and bottom, 1 left and right.
static inline uint8_t webimage_avif_mirror_axis(avifImageMirror mirror) {
#if AVIF_VERSION_MAJOR >= 1
    return mirror.axis;
#else
    return mirror.mode;
#endif
}
