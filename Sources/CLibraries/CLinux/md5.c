#include <string.h>

#include "CLinux.h"

// MD5 as in RFC 1321. It names cache files, as in SDWebImage; nothing depends on its strength. No library that is available
// everywhere provides it: libcrypto is a private dependency of libcurl, and libmd is missing from RHEL's family.

// Steps are written out, because compilers do not turn a loop over them into rotations in registers: a third faster. Each step waits for
// the one before, so its result comes in as late as possible.

/// Returns the 32-bit number whose bytes are in the order of the message: least significant first.
static inline uint32_t word(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint32_t rotated(uint32_t value, unsigned turn) { return value << turn | value >> (32 - turn); }

#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
// Of no bit both are set, so a sum instead of a union, of which one half can be added early.
#define G(x, y, z) (((x) & (z)) + ((y) & ~(z)))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))

#define STEP(mix, a, b, c, d, from, turn, sine) a = rotated(a + (mix(b, c, d) + word(block + 4 * (from)) + (sine)), turn) + b;

/// Four steps, in which the four numbers change their places once around.
#define STEPS(mix, f0, f1, f2, f3, t0, t1, t2, t3, s0, s1, s2, s3) \
    STEP(mix, a, b, c, d, f0, t0, s0) \
    STEP(mix, d, a, b, c, f1, t1, s1) \
    STEP(mix, c, d, a, b, f2, t2, s2) \
    STEP(mix, b, c, d, a, f3, t3, s3)

static void digest_block(uint32_t state[4], const uint8_t *block) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    STEPS(F, 0, 1, 2, 3, 7, 12, 17, 22, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee)
    STEPS(F, 4, 5, 6, 7, 7, 12, 17, 22, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501)
    STEPS(F, 8, 9, 10, 11, 7, 12, 17, 22, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be)
    STEPS(F, 12, 13, 14, 15, 7, 12, 17, 22, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821)
    STEPS(G, 1, 6, 11, 0, 5, 9, 14, 20, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa)
    STEPS(G, 5, 10, 15, 4, 5, 9, 14, 20, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8)
    STEPS(G, 9, 14, 3, 8, 5, 9, 14, 20, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed)
    STEPS(G, 13, 2, 7, 12, 5, 9, 14, 20, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a)
    STEPS(H, 5, 8, 11, 14, 4, 11, 16, 23, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c)
    STEPS(H, 1, 4, 7, 10, 4, 11, 16, 23, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70)
    STEPS(H, 13, 0, 3, 6, 4, 11, 16, 23, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05)
    STEPS(H, 9, 12, 15, 2, 4, 11, 16, 23, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665)
    STEPS(I, 0, 7, 14, 5, 6, 10, 15, 21, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039)
    STEPS(I, 12, 3, 10, 1, 6, 10, 15, 21, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1)
    STEPS(I, 8, 15, 6, 13, 6, 10, 15, 21, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1)
    STEPS(I, 4, 11, 2, 9, 6, 10, 15, 21, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391)
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void webimage_md5(const void *bytes, size_t count, uint8_t digest[16]) {
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *next = bytes;
    size_t left = count;
    for (; left >= 64; left -= 64, next += 64) digest_block(state, next);
    // The remaining bytes, a one bit, zeros, and the number of bits in the last 8 bytes of a block.
    uint8_t end[128] = {0};
    if (left > 0) memcpy(end, next, left);
    end[left] = 0x80;
    const size_t end_count = left < 56 ? 64 : 128;
    const uint64_t bits = (uint64_t)count << 3;
    for (unsigned i = 0; i < 8; i++) end[end_count - 8 + i] = (uint8_t)(bits >> (8 * i));
    for (size_t i = 0; i < end_count; i += 64) digest_block(state, end + i);
    for (unsigned i = 0; i < 16; i++) digest[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}
