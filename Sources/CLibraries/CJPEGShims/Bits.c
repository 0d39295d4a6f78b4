#include "Index.h"

#include <errno.h>
#include <unistd.h>

static size_t source_read(const struct webimage_jpeg_bytes *source, uint64_t offset, uint8_t *target, size_t count, bool *failed) {
    if (offset >= source->count) { return 0; }
    if (count > source->count - offset) { count = source->count - offset; }
    if (source->memory) {
        memcpy(target, source->memory + offset, count);
        return count;
    }
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(source->file, target + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) { continue; }
        if (got < 0) { *failed = true; }
        if (got <= 0) { break; }
        done += (size_t)got;
    }
    return done;
}

/// The bytes before the next one that stay in the window, to find the place of a bit that was read ahead.
enum { history = 32 };

void bits_seek(struct bits *bits, uint64_t offset) {
    bits->start = offset;
    bits->next = bits->end = 0;
    bits->buffer = 0;
    bits->count = bits->invented = 0;
}

void bits_advance(struct bits *bits) {
    size_t keep = bits->next < history ? bits->next : history;
    size_t from = bits->next - keep;
    memmove(bits->window, bits->window + from, bits->end - from);
    bits->start += from;
    bits->end -= from;
    bits->next = keep;
    bits->end += source_read(
        bits->source, bits->start + bits->end, bits->window + bits->end, bits->capacity - bits->end, &bits->failed);
}

void bits_fill_slowly(struct bits *bits) {
    while (bits->count <= 56) {
        if (bits->next + 2 > bits->end) {
            bits_advance(bits);
        }
        bool is_over = bits->next >= bits->end;
        uint8_t byte = is_over ? 0xFF : bits->window[bits->next];
        uint8_t after = bits->next + 1 < bits->end ? bits->window[bits->next + 1] : 0xD9;
        if (byte == 0xFF && (is_over || after != 0)) {
            // A marker stays where it is.
            bits->invented += 64 - bits->count;
            bits->count = 64;
            return;
        }
        bits->next += byte == 0xFF ? 2 : 1;
        bits->buffer |= (uint64_t)byte << (56 - bits->count);
        bits->count += 8;
    }
}

uint64_t bits_place(const struct bits *bits) {
    int left = bits->count - bits->invented;
    size_t position = bits->next;
    int back = (left + 7) / 8;
    for (int i = 0; i < back && position > 0; i++) {
        position--;
        if (position > 0 && bits->window[position] == 0 && bits->window[position - 1] == 0xFF) { position--; }
    }
    return (bits->start + position) * 8 + (uint64_t)((8 - left % 8) % 8);
}

void bits_go_to(struct bits *bits, uint64_t place) {
    bits_seek(bits, place / 8);
    bits_fill_slowly(bits);
    bits_drop(bits, (int)(place % 8));
}

bool codes_init(struct codes *codes, const JHUFF_TBL *table, bool is_ac) {
    if (!table) { return false; }
    memset(codes, 0, sizeof *codes);
    int32_t code = 0;
    int index = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        int count = table->bits[length];
        codes->counts[length] = (uint8_t)count;
        codes->offset[length] = index - code;
        codes->most[length] = count > 0 ? code + count - 1 : -1;
        if (index + count > 256 || code + count > 1 << length) { return false; }
        for (int i = 0; i < count; i++, index++, code++) {
            codes->values[index] = table->huffval[index];
            if (length > look_bits) { continue; }
            int free = look_bits - length;
            memset(codes->length + (code << free), length, (size_t)1 << free);
            memset(codes->symbol + (code << free), table->huffval[index], (size_t)1 << free);
        }
    }
    for (uint32_t look = 0; is_ac && look < 1 << look_bits; look++) {
        int used = 0, count = 0;
        while (count < 64) {
            uint32_t rest = look << used & ((1 << look_bits) - 1);
            int length = codes->length[rest], symbol = codes->symbol[rest], size = symbol & 15;
            if (length == 0 || used + length + size > look_bits) { break; }
            if (size > 10 || (size == 0 && symbol != 0 && symbol != 0xF0)) { break; }
            used += length + size;
            if (symbol == 0) {
                count |= end_of_block;
                break;
            }
            count += (symbol >> 4) + 1;
        }
        codes->run_bits[look] = count > 0 && (count & ~end_of_block) <= 63 ? (uint8_t)used : 0;
        codes->run_count[look] = (uint8_t)count;
    }
    codes->is_used = true;
    return true;
}
