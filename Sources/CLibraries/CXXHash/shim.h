#pragma once
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>
#if defined(__x86_64__)
// The library's plain functions are compiled for any x86-64; these dispatch on the processor and are two to three times faster.
#include <xxh_x86dispatch.h>
#endif

static inline uint64_t webimage_xxh3(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }

// An incremental hash. All functions accept NULL, a hash that could not be allocated.
static inline void *webimage_xxh3_create(void) {
    XXH3_state_t *state = XXH3_createState();
    if (state) XXH3_64bits_reset(state);
    return state;
}
static inline void webimage_xxh3_free(void *state) { XXH3_freeState((XXH3_state_t *)state); }
static inline void webimage_xxh3_update(void *state, const void *bytes, size_t count) {
    if (state && count > 0) XXH3_64bits_update((XXH3_state_t *)state, bytes, count);
}
static inline uint64_t webimage_xxh3_digest(const void *state) {
    return state ? XXH3_64bits_digest((const XXH3_state_t *)state) : 0;
}
