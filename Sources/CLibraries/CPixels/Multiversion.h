#pragma once

// A function so marked is compiled for each level of x86-64, and the one for this processor is chosen when the program is
// loaded. Sanitizers cannot have that: they would instrument the choice, which happens before they are ready.
#if !defined(__x86_64__) || __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MULTIVERSION
#else
#define MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

// Vectors are passed only between functions that are always inlined, so how they would be passed does not matter.
#pragma clang diagnostic ignored "-Wpsabi"

/// For functions that such a function is made of: they are compiled with it, for each level.
#define INLINE static inline __attribute__((always_inline))
