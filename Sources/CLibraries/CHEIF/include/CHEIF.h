// libheif. Limits that differ between its versions are set here, so that the Swift code is the same for all.
#pragma once
#include <libheif/heif.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Limits images to `width` × `height` pixels. Codecs work in blocks of up to 64 × 64 pixels, so an image may be stored with up to 63 more on each
/// side.
///
/// Before 1.19 libheif has one limit, for each side. Since then it has a limit of pixels, and stricter default limits than ours. We ignore a profile
/// that is too long; libheif would refuse the image.
static inline void webimage_heif_limit(
    struct heif_context *context, uint32_t width, uint32_t height, uint64_t maximum_pixel_count) {
#if LIBHEIF_NUMERIC_VERSION >= 0x01130000
    struct heif_security_limits *limits = heif_context_get_security_limits(context);
    uint64_t pixel_count = ((uint64_t)width + 63) * ((uint64_t)height + 63);
    // The blocks of the largest allowed image, if that is smaller.
    uint64_t most = maximum_pixel_count + maximum_pixel_count / 8 + (64 << 10);
    limits->max_image_size_pixels = pixel_count < most ? pixel_count : most;
    limits->max_color_profile_size = 0;
#else
    (void)maximum_pixel_count;
    uint32_t side = width > height ? width : height;
    // The first side that is rejected.
    heif_context_set_maximum_image_size_limit(context, side < INT32_MAX ? (int)side + 1 : INT32_MAX);
#endif
}

/// Returns whether libheif can decode an image that has no tiles with several threads of the codec (since 1.21).
static inline bool webimage_heif_has_codec_threads(void) { return LIBHEIF_NUMERIC_VERSION >= 0x01150000; }

/// Decodes an image to planes of red, green and blue, and alpha if there is any. The tiles of a grid are decoded by `tile_thread_count` threads while
/// the caller waits; each tile, or an image without tiles, by `codec_thread_count` threads if libheif can. The image is NULL unless the result is
/// heif_error_Ok.
///
/// libheif throws where the system has no more threads or memory, and an exception that arrives in Swift ends the process. Without threads, the caller
/// decodes.
struct heif_error webimage_heif_decode(
    struct heif_context *context, const struct heif_image_handle *handle, int tile_thread_count, int codec_thread_count,
    struct heif_image **image);

#ifdef __cplusplus
}
#endif
