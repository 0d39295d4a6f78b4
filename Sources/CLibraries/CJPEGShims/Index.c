// Random access to the blocks of a baseline JPEG without decoding what is before them. A first pass over the Huffman codes remembers where some of the
// blocks begin, and the sums of DC differences there. A rectangle of blocks is then copied into a small JPEG, whose coefficients are the same, so libjpeg
// decodes the same pixels.
#include "Index.h"

#include <stdlib.h>

/// The lengths of codes of a DC table that has all sizes (Annex K.3).
static const uint8_t dc_counts[17] = {0, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0};

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
                // The range of 8-bit images. All differences within it fit into the codes that copies have.
                if (dc < -1024 || dc > 1023) { return false; }
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
