#pragma once

// A function marked with this is compiled for each level of x86-64, and the variant for this processor is chosen when the program is loaded.
// Sanitizers do not support that: they would instrument the resolver, which runs before they are ready.
#if !defined(__x86_64__) || __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MULTIVERSION
#else
#define MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

// Vectors are passed only between functions that are always inlined, so their calling convention does not matter.
#pragma clang diagnostic ignored "-Wpsabi"

/// For helpers of such functions: they are compiled with them, for each level.
#define INLINE static inline __attribute__((always_inline))
