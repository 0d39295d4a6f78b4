#include "Index.h"

#include <stdlib.h>

/// The codes of a DC table that has all sizes (Annex K.3), which copies have, and their lengths.
static const uint16_t dc_codes[12] = {0, 2, 3, 4, 5, 6, 14, 30, 62, 126, 254, 510};
static const uint8_t dc_lengths[12] = {2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9};

/// Writes bits with stuffing, at most `most` bytes.
struct writer {
    uint8_t *bytes;
    size_t count, capacity, most;
    uint64_t buffer;
    int used;
    bool failed, is_full;
};

static void writer_flush(struct writer *writer) {
    if (writer->capacity - writer->count < 24) {
        size_t capacity = writer->capacity * 2;
        writer->is_full = writer->is_full || writer->capacity >= writer->most;
        uint8_t *bytes = writer->is_full ? NULL : realloc(writer->bytes, capacity);
        if (!bytes) {
            // The rest of the row overwrites the copy, which is not used.
            writer->failed = true;
            writer->count = 0;
        } else {
            writer->bytes = bytes;
            writer->capacity = capacity;
        }
    }
    while (writer->used >= 8) {
        uint8_t byte = (uint8_t)(writer->buffer >> (writer->used - 8));
        writer->bytes[writer->count++] = byte;
        if (byte == 0xFF) { writer->bytes[writer->count++] = 0; }
        writer->used -= 8;
    }
}

static inline void write_bits(struct writer *writer, uint32_t value, int count) {
    writer->buffer = writer->buffer << count | value;
    writer->used += count;
    if (writer->used >= 32) { writer_flush(writer); }
}

static bool copy_block(struct bits *bits, struct writer *writer, const struct component *component, int *dc, int *written) {
    int difference;
    if (!read_dc(bits, component->dc, &difference)) { return false; }
    *dc += difference;
    int value = *dc - *written;
    *written = *dc;
    int magnitude = value < 0 ? -value : value, size = 0;
    while (magnitude >> size) { size++; }
    if (size > 11) { return false; }
    write_bits(writer, dc_codes[size], dc_lengths[size]);
    if (size > 0) { write_bits(writer, (uint32_t)(value < 0 ? value + (1 << size) - 1 : value), size); }
    for (int next = 1; next < 64;) {
        uint32_t code;
        int length;
        bits_fill(bits);
        int symbol = next_symbol(bits, component->ac, &code, &length);
        if (symbol < 0) { return false; }
        int bit_count = symbol & 15;
        write_bits(writer, code, length);
        if (bit_count == 0 && symbol != 0xF0) { return symbol == 0; }
        if (bit_count > 10) { return false; }
        next += (symbol >> 4) + 1;
        if (next > 64) { return false; }
        write_bits(writer, take(bits, bit_count), bit_count);
    }
    return true;
}

/// Goes to the data after the next restart marker, which the first pass has seen.
static bool find_restart(struct bits *bits) {
    bits->buffer = 0;
    bits->count = bits->invented = 0;
    while (true) {
        if (bits->next + 2 > bits->end) { bits_advance(bits); }
        if (bits->next + 2 > bits->end) { return false; }
        if (bits->window[bits->next + 1] != 0xFF) { break; }
        bits->next++;
    }
    bits->next += 2;
    return true;
}

static bool copy_row(
    const struct webimage_jpeg_index *index, struct bits *bits, struct writer *writer, const struct webimage_jpeg_place *place,
    uint32_t skipped, uint32_t count, int *written) {
    int dc[4];
    for (int c = 0; c < 4; c++) { dc[c] = place->dc[c]; }
    uint32_t until_restart = place->restart;
    bits_go_to(bits, place->bit);
    for (uint32_t column = 0; column < skipped + count; column++) {
        if (index->interval > 0 && until_restart == 0) {
            if (!find_restart(bits)) { return false; }
            until_restart = index->interval;
            memset(dc, 0, sizeof dc);
        }
        for (int c = 0; c < index->component_count; c++) {
            const struct component *component = &index->components[c];
            for (int block = 0; block < component->horizontal * component->vertical; block++) {
                if (column >= skipped) {
                    if (!copy_block(bits, writer, component, &dc[c], &written[c])) { return false; }
                } else {
                    int difference;
                    if (!read_dc(bits, component->dc, &difference) || !skip_ac(bits, component->ac)) { return false; }
                    dc[c] += difference;
                }
            }
        }
        if (index->interval > 0) { until_restart--; }
        if (bits_are_exhausted(bits)) { return false; }
    }
    return !bits->failed;
}

enum webimage_jpeg_status webimage_jpeg_index_copy(
    const struct webimage_jpeg_index *index, uint32_t column, uint32_t row, uint32_t column_count, uint32_t row_count,
    struct webimage_jpeg_copy_limits limits, uint8_t **bytes, size_t *byte_count) {
    if (column_count == 0 || row_count == 0 || column > index->columns || column_count > index->columns - column
        || row > index->rows || row_count > index->rows - row) {
        return webimage_jpeg_bad_data;
    }
    struct bits bits = {.source = &index->source, .capacity = 64 << 10};
    struct writer writer = {.capacity = 64 << 10, .most = limits.most};
    bits.window = malloc(bits.capacity);
    writer.bytes = malloc(writer.capacity);
    bool is_well = bits.window && writer.bytes, is_wanted = true;
    if (is_well) {
        memcpy(writer.bytes, index->header, index->header_count);
        writer.count = index->header_count;
        uint32_t right = (column + column_count) * index->unit_width, bottom = (row + row_count) * index->unit_height;
        uint32_t width = (right < index->width ? right : index->width) - column * index->unit_width;
        uint32_t height = (bottom < index->height ? bottom : index->height) - row * index->unit_height;
        put16(put16(writer.bytes + index->width_place, height), width);
    }
    int written[4] = {0, 0, 0, 0};
    uint32_t skipped = column % index->step;
    for (uint32_t i = 0; is_well && i < row_count; i++) {
        is_wanted = !limits.is_wanted || limits.is_wanted(limits.context);
        if (!is_wanted) { break; }
        const struct webimage_jpeg_place *place =
            &index->places[(row + i) * index->places_per_row + column / index->step];
        is_well = copy_row(index, &bits, &writer, place, skipped, column_count, written) && !writer.failed;
    }
    if (is_well && is_wanted) {
        // The last byte is filled with ones.
        write_bits(&writer, 0x7F, 7);
        writer_flush(&writer);
        writer.used = 0;
        writer_flush(&writer);
        put16(writer.bytes + writer.count, 0xFFD9);
        writer.count += 2;
        is_well = !writer.failed;
    }
    bool has_memory = bits.window && writer.bytes && !writer.failed;
    free(bits.window);
    if (!is_well || !is_wanted) {
        free(writer.bytes);
        if (!is_wanted) { return webimage_jpeg_too_late; }
        if (writer.is_full) { return webimage_jpeg_too_large; }
        return has_memory ? webimage_jpeg_bad_data : webimage_jpeg_no_memory;
    }
    *bytes = writer.bytes;
    *byte_count = writer.count;
    return webimage_jpeg_ok;
}

/// Writes the means of the blocks of a row of units: one pixel for each 8 by 8 pixels.
static bool write_row_of_blocks(
    const struct webimage_jpeg_index *index, struct bits *bits, const struct webimage_jpeg_place *place, uint32_t skipped,
    uint32_t count, uint8_t *out, size_t bytes_per_row) {
    int dc[4], across = (int)index->unit_width / 8, down = (int)index->unit_height / 8;
    for (int c = 0; c < 4; c++) { dc[c] = place->dc[c]; }
    uint32_t until_restart = place->restart;
    bits_go_to(bits, place->bit);
    for (uint32_t column = 0; column < skipped + count; column++) {
        if (index->interval > 0 && until_restart == 0) {
            if (!find_restart(bits)) { return false; }
            until_restart = index->interval;
            memset(dc, 0, sizeof dc);
        }
        uint8_t *unit = column < skipped ? NULL : out + (column - skipped) * (uint32_t)(across * index->component_count);
        for (int c = 0; c < index->component_count; c++) {
            const struct component *component = &index->components[c];
            uint8_t means[4];
            for (int block = 0; block < component->horizontal * component->vertical; block++) {
                int difference;
                if (!read_dc(bits, component->dc, &difference) || !skip_ac(bits, component->ac)) { return false; }
                dc[c] += difference;
                if (dc[c] < -1024 || dc[c] > 1023) { return false; }
                int value = dc[c] * component->quantum;
                means[block] = byte_of(128 + (value + (value < 0 ? -4 : 4)) / 8);
            }
            for (int y = 0; unit && y < down; y++) {
                const uint8_t *line = means + y * component->vertical / down * component->horizontal;
                for (int x = 0; x < across; x++) {
                    unit[(size_t)y * bytes_per_row + (size_t)(x * index->component_count + c)] =
                        line[x * component->horizontal / across];
                }
            }
        }
        if (index->interval > 0) { until_restart--; }
        if (bits_are_exhausted(bits)) { return false; }
    }
    return !bits->failed;
}

static void convert_means(const struct webimage_jpeg_index *index, const uint8_t *in, uint32_t width, uint8_t *out);

enum webimage_jpeg_status webimage_jpeg_index_blocks(
    const struct webimage_jpeg_index *index, uint32_t column, uint32_t row, uint32_t column_count, uint8_t *out,
    size_t bytes_per_row) {
    if (column > index->columns || column_count > index->columns - column || row >= index->rows) {
        return webimage_jpeg_bad_data;
    }
    struct bits bits = {.source = &index->source, .capacity = 16 << 10};
    bits.window = malloc(bits.capacity);
    if (!bits.window) { return webimage_jpeg_no_memory; }
    const struct webimage_jpeg_place *place = &index->places[row * index->places_per_row + column / index->step];
    uint32_t skipped = column % index->step;
    bool is_well = write_row_of_blocks(index, &bits, place, skipped, column_count, out, bytes_per_row);
    free(bits.window);
    if (!is_well) { return webimage_jpeg_bad_data; }
    for (uint32_t y = 0; y < index->unit_height / 8; y++) {
        uint8_t *line = out + y * bytes_per_row;
        convert_means(index, line, column_count * index->unit_width / 8, line);
    }
    return webimage_jpeg_ok;
}

/// Multiplies by a factor in units of 1 / 65536, rounded.
static int scaled(int value, int factor) { return (value * factor + 32768) >> 16; }

/// Converts YCbCr to RGB, and YCCK to CMYK. `in` and `out` may be the same.
static void convert_means(const struct webimage_jpeg_index *index, const uint8_t *in, uint32_t width, uint8_t *out) {
    int count = index->component_count;
    bool is_ycc = index->color == JCS_YCbCr || index->color == JCS_YCCK;
    if (!is_ycc) {
        memmove(out, in, (size_t)width * (size_t)count);
        return;
    }
    for (uint32_t x = 0; x < width; x++, in += count, out += count) {
        int y = in[0], cb = in[1] - 128, cr = in[2] - 128, black = count == 4 ? in[3] : 0;
        int rgb[3] = {y + scaled(cr, 91881), y - scaled(cb, 22554) - scaled(cr, 46802), y + scaled(cb, 116130)};
        for (int i = 0; i < 3; i++) { out[i] = byte_of(count == 4 ? 255 - rgb[i] : rgb[i]); }
        if (count == 4) { out[3] = (uint8_t)black; }
    }
}

void webimage_jpeg_index_means(const struct webimage_jpeg_index *index, uint32_t row, uint8_t *out) {
    if (row >= index->mean_height) { return; }
    size_t width = index->mean_width * (size_t)index->component_count;
    convert_means(index, index->means + row * width, index->mean_width, out);
}
