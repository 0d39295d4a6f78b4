// libjxl. Functions whose parameters differ between its versions are wrapped here, so that the Swift code is the same for all.
#pragma once
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/thread_parallel_runner.h>
#include <jxl/version.h>

// Before 0.9 an unused pixel format preceded the target.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define WEBIMAGE_JXL_FORMAT NULL,
#else
#define WEBIMAGE_JXL_FORMAT
#endif

static inline JxlDecoderStatus webimage_jxl_get_encoded_profile(
    const JxlDecoder *decoder, JxlColorProfileTarget target, JxlColorEncoding *encoding) {
    return JxlDecoderGetColorAsEncodedProfile(decoder, WEBIMAGE_JXL_FORMAT target, encoding);
}

static inline JxlDecoderStatus webimage_jxl_get_icc_profile_size(
    const JxlDecoder *decoder, JxlColorProfileTarget target, size_t *size) {
    return JxlDecoderGetICCProfileSize(decoder, WEBIMAGE_JXL_FORMAT target, size);
}

static inline JxlDecoderStatus webimage_jxl_get_icc_profile(
    const JxlDecoder *decoder, JxlColorProfileTarget target, uint8_t *profile, size_t size) {
    return JxlDecoderGetColorAsICCProfile(decoder, WEBIMAGE_JXL_FORMAT target, profile, size);
}

#undef WEBIMAGE_JXL_FORMAT
