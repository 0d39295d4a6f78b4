#pragma once
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>
#if defined(__x86_64__)
// The library's plain functions are built for any x86-64; these look at the processor and are two to three times faster.
#include <xxh_x86dispatch.h>
#endif

static inline uint64_t webimage_xxh3(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
