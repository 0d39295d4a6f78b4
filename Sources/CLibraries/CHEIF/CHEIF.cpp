#include "CHEIF.h"

#include <memory>

namespace {

using Options = std::unique_ptr<struct heif_decoding_options, decltype(&heif_decoding_options_free)>;

struct heif_error decode(const struct heif_image_handle *handle, int codec_thread_count, struct heif_image **image) {
    Options options(codec_thread_count > 1 ? heif_decoding_options_alloc() : nullptr, heif_decoding_options_free);
#if LIBHEIF_NUMERIC_VERSION >= 0x01150000
    if (options && options->version >= 8) options->num_codec_threads = codec_thread_count;
#endif
    return heif_decode_image(handle, image, heif_colorspace_RGB, heif_chroma_444, options.get());
}

}  // namespace

struct heif_error webimage_heif_decode(
    struct heif_context *context, const struct heif_image_handle *handle, int tile_thread_count, int codec_thread_count,
    struct heif_image **image) {
    if (tile_thread_count > 1 || codec_thread_count > 1) {
        heif_context_set_max_decoding_threads(context, tile_thread_count > 1 ? tile_thread_count : 0);
        try {
            return decode(handle, codec_thread_count, image);
        } catch (...) {
        }
    }
    heif_context_set_max_decoding_threads(context, 0);
    try {
        return decode(handle, 1, image);
    } catch (...) {
        return {heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no memory"};
    }
}
