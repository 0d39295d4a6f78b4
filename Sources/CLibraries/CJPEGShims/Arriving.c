#include "Decoder.h"

/// Returns how many of the bytes so far were used.
static size_t position(const struct webimage_jpeg_decoder *decoder) {
    return decoder->byte_count - decoder->source.bytes_in_buffer;
}

void webimage_jpeg_decoder_feed(
    struct webimage_jpeg_decoder *decoder, const uint8_t *data, size_t byte_count, bool is_whole) {
    // After the last bytes the source holds an end marker that was added here.
    if (decoder->hit_end || byte_count < decoder->byte_count) { return; }
    size_t start = position(decoder);
    size_t skipped = byte_count - start < decoder->to_skip ? byte_count - start : decoder->to_skip;
    decoder->to_skip -= skipped;
    decoder->awaits_more = !is_whole;
    decoder->byte_count = byte_count;
    decoder->source.next_input_byte = data + start + skipped;
    decoder->source.bytes_in_buffer = byte_count - start - skipped;
    // Bytes to be skipped that do not exist are the end of the data.
    if (is_whole && decoder->to_skip > 0) { decoder->source.fill_input_buffer(&decoder->info); }
}

enum webimage_jpeg_status webimage_jpeg_decoder_begin(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height, bool *has_scans) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    if (!decoder->has_header) {
        if (jpeg_read_header(info, TRUE) == JPEG_SUSPENDED) { return webimage_jpeg_suspended; }
        decoder->has_header = true;
        decoder_configure(decoder, pixels, eighths, maximum_scans);
        info->buffered_image = jpeg_has_multiple_scans(info);
    }
    if (!jpeg_start_decompress(info)) { return webimage_jpeg_suspended; }
    *width = info->output_width;
    *height = info->output_height;
    *has_scans = info->buffered_image;
    return webimage_jpeg_ok;
}

/// Reads rows until all are read or the bytes end.
static unsigned read_rows(j_decompress_ptr info, unsigned count, uint8_t *base, size_t bytes_per_row) {
    enum { batch = 16 };
    unsigned done = 0;
    while (done < count) {
        JSAMPROW rows[batch];
        unsigned wanted = count - done < batch ? count - done : batch;
        for (unsigned i = 0; i < wanted; i++) { rows[i] = base + (done + i) * bytes_per_row; }
        unsigned got = jpeg_read_scanlines(info, rows, wanted);
        if (got == 0) { break; }
        done += got;
    }
    return done;
}

enum webimage_jpeg_status webimage_jpeg_decoder_read_available(
    struct webimage_jpeg_decoder *decoder, uint8_t *base, size_t bytes_per_row, unsigned *row_count) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    unsigned left = info->output_height - info->output_scanline;
    if (left == 0) { return webimage_jpeg_ok; }
    read_rows(info, left, base + info->output_scanline * bytes_per_row, bytes_per_row);
    *row_count = info->output_scanline;
    if (info->output_scanline < info->output_height) {
        if (decoder->awaits_more) { return webimage_jpeg_suspended; }
        error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "the image data is truncated");
    }
    decoder_check_completeness(decoder);
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_decoder_absorb(struct webimage_jpeg_decoder *decoder, unsigned *scan_count) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    int result = jpeg_input_complete(info) ? JPEG_REACHED_EOI : JPEG_ROW_COMPLETED;
    while (result != JPEG_SUSPENDED && result != JPEG_REACHED_EOI) {
        decoder_check_bounds(decoder);
        result = jpeg_consume_input(info);
    }
    // The last scan counts only when the image ends after it.
    bool is_complete = result == JPEG_REACHED_EOI;
    *scan_count = (unsigned)(info->input_scan_number - (is_complete ? 0 : 1));
    if (!is_complete) { return webimage_jpeg_suspended; }
    decoder_check_completeness(decoder);
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_decoder_begin_pass(
    struct webimage_jpeg_decoder *decoder, unsigned scan, bool smooths) {
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    decoder->info.do_block_smoothing = smooths;
    return jpeg_start_output(&decoder->info, (int)scan) ? webimage_jpeg_ok : webimage_jpeg_suspended;
}

enum webimage_jpeg_status webimage_jpeg_decoder_read_pass(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row) {
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    j_decompress_ptr info = &decoder->info;
    if (count > info->output_height - info->output_scanline) {
        error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "there are no more rows");
    }
    if (read_rows(info, count, base, bytes_per_row) < count) {
        error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "the image data is truncated");
    }
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_decoder_end_pass(struct webimage_jpeg_decoder *decoder) {
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    return jpeg_finish_output(&decoder->info) ? webimage_jpeg_ok : webimage_jpeg_suspended;
}
