#include "CHEIF.h"

namespace {

struct heif_error decode(const struct heif_image_handle *handle, struct heif_image **image) {
    return heif_decode_image(handle, image, heif_colorspace_RGB, heif_chroma_444, nullptr);
}

}  // namespace

struct heif_error webimage_heif_decode(
    struct heif_context *context, const struct heif_image_handle *handle, int thread_count, struct heif_image **image) {
    if (thread_count > 1) {
        heif_context_set_max_decoding_threads(context, thread_count);
        try {
            return decode(handle, image);
        } catch (...) {
        }
    }
    heif_context_set_max_decoding_threads(context, 0);
    try {
        return decode(handle, image);
    } catch (...) {
        return {heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no memory"};
    }
}
