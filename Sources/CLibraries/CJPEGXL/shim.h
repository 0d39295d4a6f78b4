// libjxl. Functions whose parameters differ between its versions are wrapped here, so that the Swift code is the same for all.
#pragma once
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/parallel_runner.h>
#include <jxl/version.h>
#include <pthread.h>
#include <signal.h>

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

/// A step of the decoder that several threads run.
struct webimage_jxl_step {
    JxlParallelRunFunction function;
    void *context;
    uint64_t next;
    uint64_t end;
    uint64_t thread_count;
};

static inline void *webimage_jxl_work(void *context) {
    struct webimage_jxl_step *step = (struct webimage_jxl_step *)context;
    uint64_t thread = __atomic_fetch_add(&step->thread_count, 1, __ATOMIC_RELAXED);
    for (;;) {
        uint64_t value = __atomic_fetch_add(&step->next, 1, __ATOMIC_RELAXED);
        if (value >= step->end) { return NULL; }
        step->function(step->context, (uint32_t)value, (size_t)thread);
    }
}

/// Runs a step on `count` threads (an integer in a pointer), at most 8, including the caller's. If a thread cannot be created, it runs on fewer; the
/// runner of libjxl_threads would end the process.
static inline JxlParallelRetCode webimage_jxl_run(
    void *count, void *context, JxlParallelRunInit init, JxlParallelRunFunction function, uint32_t start, uint32_t end) {
    enum { most = 8 };
    if (start >= end) { return 0; }
    size_t wanted = (size_t)count;
    if (wanted > most) { wanted = most; }
    if (wanted > end - start) { wanted = end - start; }
    JxlParallelRetCode problem = init(context, wanted);
    if (problem != 0) { return problem; }
    struct webimage_jxl_step step = {function, context, start, end, 0};
    pthread_t threads[most];
    size_t started = 0;
    // The threads block all signals, which the program's own threads handle.
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, webimage_jxl_work, &step) == 0) { started++; }
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    webimage_jxl_work(&step);
    for (size_t i = 0; i < started; i++) { pthread_join(threads[i], NULL); }
    return 0;
}
