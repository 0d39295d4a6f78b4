// The parts of the index that are shared: tables of codes, and the reader of bits.
#pragma once
#include <string.h>

#include "Decoder.h"

enum { look_bits = 12, end_of_block = 0x80 };

/// A Huffman table. Codes of up to `look_bits` bits are found by the bits that follow.
struct codes {
    /// Length of the code and symbol; length 0 for longer codes and for none.
    uint8_t length[1 << look_bits];
    uint8_t symbol[1 << look_bits];
    /// Several AC coefficients at once: the bits of their codes and values, and the number of coefficients, with `end_of_block`.
    uint8_t run_bits[1 << look_bits];
    uint8_t run_count[1 << look_bits];
    /// The largest code of each length, -1 for none, and what to add for its index in `values`.
    int32_t most[18];
    int32_t offset[17];
    uint8_t values[256];
    uint8_t counts[17];
    bool is_used;
};

struct component {
    int blocks;
    int horizontal, vertical;
    struct codes *dc, *ac;
    int quantum;
};

/// Reads bits of entropy coded data through a window of the source.
struct bits {
    const struct webimage_jpeg_bytes *source;
    uint8_t *window;
    size_t capacity;
    /// The offset of the window in the source, and the used part of it.
    uint64_t start;
    size_t next, end;
    uint64_t buffer;
    int count;
    /// Bits that were made up after a marker or the end.
    int invented;
    bool failed;
};

struct webimage_jpeg_index {
    struct webimage_jpeg_bytes source;
    struct bits bits;
    struct component components[4];
    int component_count, blocks_per_unit;
    struct codes tables[2][4];
    uint8_t *header;
    size_t header_count;
    size_t width_place;
    uint32_t width, height, unit_width, unit_height, columns, rows, step, places_per_row;
    struct webimage_jpeg_place *places;
    uint32_t row, interval, until_restart;
    int next_restart;
    int16_t dc[4];
    // The image of the means of 16 by 16 pixels: sums of a row that is not complete, and the bytes of those that are.
    int32_t *sums, *shares;
    uint8_t *means;
    uint32_t mean_width, mean_height;
    int color;
};

/// Begins at an offset of the source.
void bits_seek(struct bits *bits, uint64_t offset);
/// Moves the window forward, so that at least 16 bytes are in it if the source has them.
void bits_advance(struct bits *bits);
/// Fills the buffer byte by byte, up to a marker, and with zeros after it.
void bits_fill_slowly(struct bits *bits);
/// Returns the place of the next bit: the offset of its byte times 8, and the bit.
uint64_t bits_place(const struct bits *bits);
void bits_go_to(struct bits *bits, uint64_t place);
/// Makes the tables of codes; false for invalid ones.
bool codes_init(struct codes *codes, const JHUFF_TBL *table, bool is_ac);

/// Makes sure that there are at least 48 bits; zeros after the end.
static inline void bits_fill(struct bits *bits) {
    if (bits->count >= 48) { return; }
    if (bits->next + 8 <= bits->end) {
        uint64_t word;
        memcpy(&word, bits->window + bits->next, 8);
        uint64_t inverse = ~word;
        if (((inverse - 0x0101010101010101u) & ~inverse & 0x8080808080808080u) == 0) {
            word = __builtin_bswap64(word);
            int bytes = (64 - bits->count) >> 3;
            uint64_t mask = bytes == 8 ? ~(uint64_t)0 : ~(~(uint64_t)0 >> (8 * bytes));
            bits->buffer |= (word & mask) >> bits->count;
            bits->count += 8 * bytes;
            bits->next += (size_t)bytes;
            return;
        }
    }
    bits_fill_slowly(bits);
}

static inline void bits_drop(struct bits *bits, int count) {
    bits->buffer = count < 64 ? bits->buffer << count : 0;
    bits->count -= count;
}

/// Returns whether bits were used that the source does not have.
static inline bool bits_are_exhausted(const struct bits *bits) { return bits->invented > bits->count; }

/// Returns the symbol of the next code, which is dropped; -1 for none. Its code is `*code` with `*length` bits.
static inline int next_symbol(struct bits *bits, const struct codes *codes, uint32_t *code, int *length) {
    uint32_t look = (uint32_t)(bits->buffer >> (64 - look_bits));
    int count = codes->length[look];
    if (count > 0) {
        *length = count;
        *code = look >> (look_bits - count);
        bits_drop(bits, count);
        return codes->symbol[look];
    }
    int32_t value = (int32_t)(bits->buffer >> 48);
    for (count = look_bits + 1; count <= 16; count++) {
        int32_t prefix = value >> (16 - count);
        if (codes->most[count] >= 0 && prefix <= codes->most[count]) {
            *length = count;
            *code = (uint32_t)prefix;
            bits_drop(bits, count);
            return codes->values[(prefix + codes->offset[count]) & 255];
        }
    }
    return -1;
}

static inline int signed_value(uint32_t raw, int size) {
    if (size == 0) { return 0; }
    return raw < 1u << (size - 1) ? (int)raw - (1 << size) + 1 : (int)raw;
}

static inline uint32_t take(struct bits *bits, int count) {
    if (count == 0) { return 0; }
    uint32_t value = (uint32_t)(bits->buffer >> (64 - count));
    bits_drop(bits, count);
    return value;
}

/// Reads a DC difference; false for an invalid one.
static inline bool read_dc(struct bits *bits, const struct codes *codes, int *difference) {
    uint32_t code;
    int length;
    bits_fill(bits);
    int size = next_symbol(bits, codes, &code, &length);
    if (size < 0 || size > 11) { return false; }
    *difference = signed_value(take(bits, size), size);
    return true;
}

/// Passes the AC coefficients of a block.
static inline bool skip_ac(struct bits *bits, const struct codes *codes) {
    int next = 1;
    while (next < 64) {
        bits_fill(bits);
        uint32_t look = (uint32_t)(bits->buffer >> (64 - look_bits));
        int count = codes->run_count[look];
        // After the last coefficient there is no code for the end of the block: what looks like it belongs to the next one.
        int most = count & end_of_block ? 63 : 64;
        if (codes->run_bits[look] > 0 && next + (count & ~end_of_block) <= most) {
            bits_drop(bits, codes->run_bits[look]);
            if (count & end_of_block) { return true; }
            next += count;
            continue;
        }
        uint32_t code;
        int length;
        int symbol = next_symbol(bits, codes, &code, &length);
        if (symbol < 0) { return false; }
        int size = symbol & 15;
        if (size == 0 && symbol != 0xF0) { return symbol == 0; }
        if (size > 10) { return false; }
        next += (symbol >> 4) + 1;
        if (next > 64) { return false; }
        bits_drop(bits, size);
    }
    return true;
}

static inline uint8_t *put16(uint8_t *out, unsigned value) {
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
    return out + 2;
}

static inline uint8_t byte_of(int value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }
