// Random access to the blocks of a baseline JPEG without decoding what is before them. A first pass over the Huffman codes remembers where some of the
// blocks begin, and the sums of DC differences there. A rectangle of blocks is then copied into a small JPEG, whose coefficients are the same, so libjpeg
// decodes the same pixels.
#include "Decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void bits_seek(struct bits *bits, uint64_t offset) {
    bits->start = offset;
    bits->next = bits->end = 0;
    bits->buffer = 0;
    bits->count = bits->invented = 0;
}

/// Moves the window forward, so that at least 16 bytes are in it if the source has them.
static void bits_advance(struct bits *bits) {
    size_t keep = bits->next < history ? bits->next : history;
    size_t from = bits->next - keep;
    memmove(bits->window, bits->window + from, bits->end - from);
    bits->start += from;
    bits->end -= from;
    bits->next = keep;
    bits->end += source_read(
        bits->source, bits->start + bits->end, bits->window + bits->end, bits->capacity - bits->end, &bits->failed);
}

static void bits_fill_slowly(struct bits *bits) {
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

/// Returns the place of the next bit: the offset of its byte times 8, and the bit.
static uint64_t bits_place(const struct bits *bits) {
    int left = bits->count - bits->invented;
    size_t position = bits->next;
    int back = (left + 7) / 8;
    for (int i = 0; i < back && position > 0; i++) {
        position--;
        if (position > 0 && bits->window[position] == 0 && bits->window[position - 1] == 0xFF) { position--; }
    }
    return (bits->start + position) * 8 + (uint64_t)((8 - left % 8) % 8);
}

static void bits_go_to(struct bits *bits, uint64_t place) {
    bits_seek(bits, place / 8);
    bits_fill_slowly(bits);
    bits_drop(bits, (int)(place % 8));
}

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

static bool codes_init(struct codes *codes, const JHUFF_TBL *table, bool is_ac) {
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

/// The code lengths of a DC table that has all sizes (Annex K.3).
static const uint8_t dc_counts[17] = {0, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t dc_lengths[12] = {2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9};
static const uint16_t dc_codes[12] = {0, 2, 3, 4, 5, 6, 14, 30, 62, 126, 254, 510};

static uint8_t *put16(uint8_t *out, unsigned value) {
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
    return out + 2;
}

/// Writes the header of copies: the tables and components of the file, and what tells its colours.
static bool make_header(struct webimage_jpeg_index *index, j_decompress_ptr info) {
    uint8_t *out = index->header = calloc(1, 4096);
    if (!out) { return false; }
    out = put16(out, 0xFFD8);
    bool is_adobe = info->jpeg_color_space == JCS_RGB || info->num_components == 4;
    if (is_adobe) {
        static const uint8_t adobe[] = {0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0};
        memcpy(out, adobe, sizeof adobe);
        out += sizeof adobe;
        *out++ = info->jpeg_color_space == JCS_YCCK ? 2 : 0;
    } else {
        static const uint8_t jfif[] = {0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
        memcpy(out, jfif, sizeof jfif);
        out += sizeof jfif;
    }
    for (int i = 0; i < 4; i++) {
        const JQUANT_TBL *table = info->quant_tbl_ptrs[i];
        if (!table) { continue; }
        out = put16(put16(out, 0xFFDB), 2 + 1 + 128);
        *out++ = (uint8_t)(16 | i);
        // In zigzag order.
        static const uint8_t order[64] = {
            0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
            35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
        for (int k = 0; k < 64; k++) { out = put16(out, table->quantval[order[k]]); }
    }
    out = put16(put16(out, 0xFFC1), (unsigned)(8 + 3 * info->num_components));
    *out++ = 8;
    index->width_place = (size_t)(out - index->header);
    out = put16(put16(out, 0), 0);
    *out++ = (uint8_t)info->num_components;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        *out++ = (uint8_t)(i + 1);
        *out++ = (uint8_t)(component->h_samp_factor << 4 | component->v_samp_factor);
        *out++ = (uint8_t)component->quant_tbl_no;
    }
    out = put16(put16(out, 0xFFC4), 2 + 17 + 12);
    *out++ = 0;
    memcpy(out, dc_counts + 1, 16);
    out += 16;
    for (int i = 0; i < 12; i++) { *out++ = (uint8_t)i; }
    for (int i = 0; i < 4; i++) {
        const struct codes *codes = &index->tables[1][i];
        if (!codes->is_used) { continue; }
        unsigned count = 0;
        for (int length = 1; length <= 16; length++) { count += codes->counts[length]; }
        out = put16(put16(out, 0xFFC4), 2 + 17 + count);
        *out++ = (uint8_t)(16 | i);
        memcpy(out, codes->counts + 1, 16);
        memcpy(out + 16, codes->values, count);
        out += 16 + count;
    }
    out = put16(put16(out, 0xFFDA), (unsigned)(6 + 2 * info->num_components));
    *out++ = (uint8_t)info->num_components;
    for (int i = 0; i < info->num_components; i++) {
        *out++ = (uint8_t)(i + 1);
        *out++ = (uint8_t)info->comp_info[i].ac_tbl_no;
    }
    *out++ = 0;
    *out++ = 63;
    *out++ = 0;
    index->header_count = (size_t)(out - index->header);
    return true;
}

static bool prepare(struct webimage_jpeg_index *index, j_decompress_ptr info) {
    if (info->progressive_mode || info->arith_code || info->num_components != info->comps_in_scan) { return false; }
    if (info->data_precision != 8 || info->Ss != 0 || info->Se != 63) { return false; }
    index->component_count = info->num_components;
    int widest = 1, tallest = 1;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *from = &info->comp_info[i];
        struct component *to = &index->components[i];
        // The scan may order its components differently, and blocks may be too large for the means.
        if (info->cur_comp_info[i] != from || from->h_samp_factor > 2 || from->v_samp_factor > 2) { return false; }
        if (from->dc_tbl_no > 3 || from->ac_tbl_no > 3 || from->quant_tbl_no > 3) { return false; }
        if (!info->quant_tbl_ptrs[from->quant_tbl_no]) { return false; }
        to->horizontal = from->h_samp_factor;
        to->vertical = from->v_samp_factor;
        to->dc = &index->tables[0][from->dc_tbl_no];
        to->ac = &index->tables[1][from->ac_tbl_no];
        to->quantum = info->quant_tbl_ptrs[from->quant_tbl_no]->quantval[0];
        if (!codes_init(to->dc, info->dc_huff_tbl_ptrs[from->dc_tbl_no], false)) { return false; }
        if (!codes_init(to->ac, info->ac_huff_tbl_ptrs[from->ac_tbl_no], true)) { return false; }
        if (from->h_samp_factor > widest) { widest = from->h_samp_factor; }
        if (from->v_samp_factor > tallest) { tallest = from->v_samp_factor; }
    }
    // Of one component the blocks are not grouped, whatever its factors.
    if (info->num_components == 1 && (widest > 1 || tallest > 1)) { return false; }
    index->width = info->image_width;
    index->height = info->image_height;
    index->unit_width = (uint32_t)(8 * widest);
    index->unit_height = (uint32_t)(8 * tallest);
    index->columns = (index->width + index->unit_width - 1) / index->unit_width;
    index->rows = (index->height + index->unit_height - 1) / index->unit_height;
    index->interval = index->until_restart = info->restart_interval;
    index->color = info->jpeg_color_space;
    index->mean_width = (index->width + 15) / 16;
    index->mean_height = (index->height + 15) / 16;
    // 24 bytes for each place: at most 12 MiB.
    index->step = 8;
    while ((uint64_t)index->rows * ((index->columns + index->step - 1) / index->step) > 1 << 19) { index->step *= 2; }
    index->places_per_row = (index->columns + index->step - 1) / index->step;
    return make_header(index, info);
}

struct webimage_jpeg_index *webimage_jpeg_index_create(
    const uint8_t *header, size_t header_count, struct webimage_jpeg_bytes source, uint64_t scan_start) {
    struct webimage_jpeg_index *index = calloc(1, sizeof *index);
    if (!index) { return NULL; }
    index->source = source;
    index->bits.source = &index->source;
    index->bits.capacity = 256 << 10;
    index->bits.window = malloc(index->bits.capacity);
    struct webimage_jpeg_decoder *decoder = webimage_jpeg_decoder_create(header, header_count);
    volatile bool is_prepared = false;
    if (decoder && index->bits.window && !setjmp(decoder->trap.target)) {
        is_prepared = jpeg_read_header(&decoder->info, TRUE) == JPEG_HEADER_OK && prepare(index, &decoder->info);
    }
    webimage_jpeg_decoder_free(decoder);
    size_t width = index->mean_width * (size_t)index->component_count;
    if (is_prepared) {
        index->places = calloc((size_t)index->rows * index->places_per_row, sizeof *index->places);
        index->sums = calloc(width, sizeof *index->sums);
        index->shares = calloc(width, sizeof *index->shares);
        index->means = calloc(index->mean_height, width);
    }
    if (!is_prepared || !index->places || !index->sums || !index->shares || !index->means) {
        webimage_jpeg_index_free(index);
        return NULL;
    }
    bits_seek(&index->bits, scan_start);
    return index;
}

void webimage_jpeg_index_free(struct webimage_jpeg_index *index) {
    if (!index) { return; }
    free(index->bits.window);
    free(index->header);
    free(index->places);
    free(index->sums);
    free(index->shares);
    free(index->means);
    free(index);
}

struct webimage_jpeg_layout webimage_jpeg_index_layout(const struct webimage_jpeg_index *index) {
    return (struct webimage_jpeg_layout){
        index->columns, index->rows, index->unit_width, index->unit_height, index->mean_width, index->mean_height,
        index->component_count, (size_t)index->rows * index->places_per_row * sizeof *index->places};
}

/// Passes a restart marker, where one is due.
static bool pass_restart(struct webimage_jpeg_index *index, struct bits *bits) {
    if (bits->count - bits->invented >= 8) { return false; }
    bits->buffer = 0;
    bits->count = bits->invented = 0;
    if (bits->next + 2 > bits->end) { bits_advance(bits); }
    while (bits->next + 2 <= bits->end && bits->window[bits->next] == 0xFF && bits->window[bits->next + 1] == 0xFF) {
        bits->next++;
        if (bits->next + 2 > bits->end) { bits_advance(bits); }
    }
    if (bits->next + 2 > bits->end || bits->window[bits->next] != 0xFF) { return false; }
    if (bits->window[bits->next + 1] != 0xD0 + index->next_restart) { return false; }
    bits->next += 2;
    index->next_restart = (index->next_restart + 1) & 7;
    index->until_restart = index->interval;
    memset(index->dc, 0, sizeof index->dc);
    return true;
}

static uint8_t byte_of(int value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

/// Turns the sums of a row of cells into bytes.
static void finish_means(struct webimage_jpeg_index *index, uint32_t row) {
    size_t width = index->mean_width * (size_t)index->component_count;
    uint8_t *out = index->means + row * width;
    for (size_t i = 0; i < width; i++) {
        int32_t share = index->shares[i] > 0 ? index->shares[i] : 1;
        int32_t sum = index->sums[i];
        out[i] = byte_of(128 + (sum + (sum < 0 ? -4 : 4) * share) / (8 * share));
    }
    memset(index->sums, 0, width * sizeof *index->sums);
    memset(index->shares, 0, width * sizeof *index->shares);
}

static bool walk_row(struct webimage_jpeg_index *index, struct bits *bits) {
    uint32_t row = index->row;
    int count = index->component_count;
    for (uint32_t column = 0; column < index->columns; column++) {
        if (index->interval > 0 && index->until_restart == 0 && !pass_restart(index, bits)) { return false; }
        if (column % index->step == 0) {
            struct webimage_jpeg_place *place = &index->places[row * index->places_per_row + column / index->step];
            place->bit = bits_place(bits);
            memcpy(place->dc, index->dc, sizeof place->dc);
            place->restart = (uint32_t)index->until_restart;
        }
        for (int c = 0; c < count; c++) {
            const struct component *component = &index->components[c];
            int dc = index->dc[c], sum = 0, blocks = component->horizontal * component->vertical;
            for (int block = 0; block < blocks; block++) {
                int difference;
                if (!read_dc(bits, component->dc, &difference)) { return false; }
                dc += difference;
                if (dc < -2047 || dc > 2047) { return false; }
                if (!skip_ac(bits, component->ac)) { return false; }
                sum += dc;
            }
            index->dc[c] = (int16_t)dc;
            // A unit lies in one cell. All of its blocks count, also those beyond the image.
            uint32_t cell = column * index->unit_width / 16;
            if (cell < index->mean_width) {
                index->sums[cell * (uint32_t)count + (uint32_t)c] += sum * component->quantum;
                index->shares[cell * (uint32_t)count + (uint32_t)c] += blocks;
            }
        }
        if (index->interval > 0) { index->until_restart--; }
        if (bits_are_exhausted(bits)) { return false; }
    }
    uint32_t bottom = (row + 1) * index->unit_height;
    if (bottom % 16 == 0 || row + 1 == index->rows) { finish_means(index, (bottom - 1) / 16); }
    return true;
}

enum webimage_jpeg_status webimage_jpeg_index_walk(struct webimage_jpeg_index *index, uint32_t row_count, uint32_t *row) {
    for (uint32_t i = 0; i < row_count && index->row < index->rows; i++) {
        if (!walk_row(index, &index->bits) || index->bits.failed) { return webimage_jpeg_bad_data; }
        index->row++;
    }
    *row = index->row;
    return webimage_jpeg_ok;
}

/// Writes bits with stuffing.
struct writer {
    uint8_t *bytes;
    size_t count, capacity;
    uint64_t buffer;
    int used;
    bool failed;
};

static void writer_flush(struct writer *writer) {
    if (writer->capacity - writer->count < 24) {
        size_t capacity = writer->capacity * 2;
        uint8_t *bytes = realloc(writer->bytes, capacity);
        if (!bytes) {
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
    uint8_t **bytes, size_t *byte_count) {
    if (column_count == 0 || row_count == 0 || column > index->columns || column_count > index->columns - column
        || row > index->rows || row_count > index->rows - row) {
        return webimage_jpeg_bad_data;
    }
    struct bits bits = {.source = &index->source, .capacity = 64 << 10};
    struct writer writer = {.capacity = 64 << 10};
    bits.window = malloc(bits.capacity);
    writer.bytes = malloc(writer.capacity);
    bool is_well = bits.window && writer.bytes;
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
        const struct webimage_jpeg_place *place =
            &index->places[(row + i) * index->places_per_row + column / index->step];
        is_well = copy_row(index, &bits, &writer, place, skipped, column_count, written) && !writer.failed;
    }
    if (is_well) {
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
    if (!is_well) {
        free(writer.bytes);
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
                if (dc[c] < -2047 || dc[c] > 2047) { return false; }
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
    size_t width = index->mean_width * (size_t)index->component_count;
    convert_means(index, index->means + row * width, index->mean_width, out);
}
