#include "CPixels.h"

#include <string.h>

// Codes of strings are found by their prefix and last byte. Twice as many slots as needed keep probing short.
enum { SLOTS = 8192, MOST_CODES = 4096, LONGEST = 12, BLOCK = 255 };

struct table {
    /// The prefix and byte of a string, plus 1; 0 for none.
    uint32_t keys[SLOTS];
    uint16_t codes[SLOTS];
};

struct writer {
    uint8_t *output;
    size_t count;
    /// The offset of the open block's length.
    size_t block;
    uint64_t bits;
    unsigned bit_count;
};

static void put_byte(struct writer *writer, uint8_t byte) {
    if (writer->count - writer->block - 1 == BLOCK) {
        writer->output[writer->block] = BLOCK;
        writer->block = writer->count++;
    }
    writer->output[writer->count++] = byte;
}

static inline void put_code(struct writer *writer, unsigned code, unsigned size) {
    writer->bits |= (uint64_t)code << writer->bit_count;
    writer->bit_count += size;
    while (writer->bit_count >= 8) {
        put_byte(writer, (uint8_t)writer->bits);
        writer->bits >>= 8;
        writer->bit_count -= 8;
    }
}

size_t cpixels_lzw_bound(size_t count) {
    // At most one code of 12 bits for each index, a clear code for each full table, a length for each 255 bytes.
    size_t bits = count * LONGEST + (count / (MOST_CODES / 2) + 4) * LONGEST;
    return bits / 8 + bits / 8 / BLOCK + 16;
}

size_t cpixels_lzw(const uint8_t *numbers, size_t count, unsigned minimum_size, uint8_t *output) {
    struct table table;
    struct writer writer = {output, 2, 1, 0, 0};
    output[0] = (uint8_t)minimum_size;
    unsigned clear = 1u << minimum_size, end = clear + 1, next = end + 1, size = minimum_size + 1;
    memset(table.keys, 0, sizeof table.keys);
    put_code(&writer, clear, size);
    unsigned prefix = numbers[0];
    for (size_t i = 1; i < count; i++) {
        uint8_t number = numbers[i];
        uint32_t key = (prefix << 8 | number) + 1;
        uint32_t slot = key * 2654435761u >> 19;
        while (table.keys[slot] != 0 && table.keys[slot] != key) slot = (slot + 1) & (SLOTS - 1);
        if (table.keys[slot] == key) {
            prefix = table.codes[slot];
            continue;
        }
        put_code(&writer, prefix, size);
        prefix = number;
        if (next == MOST_CODES) {
            put_code(&writer, clear, size);
            memset(table.keys, 0, sizeof table.keys);
            next = end + 1;
            size = minimum_size + 1;
            continue;
        }
        table.keys[slot] = key;
        table.codes[slot] = (uint16_t)next;
        if (next == 1u << size && size < LONGEST) size++;
        next++;
    }
    put_code(&writer, prefix, size);
    // A decoder has also added a string for that code, and may read longer codes from here on.
    if (next == 1u << size && size < LONGEST) size++;
    put_code(&writer, end, size);
    if (writer.bit_count > 0) put_byte(&writer, (uint8_t)writer.bits);
    output[writer.block] = (uint8_t)(writer.count - writer.block - 1);
    // An empty block ends the data; the open one may be it.
    if (output[writer.block] > 0) output[writer.count++] = 0;
    return writer.count;
}
