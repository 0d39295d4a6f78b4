#include "Decoder.h"

#include <jerror.h>
#include <stdlib.h>
#include <time.h>

static struct webimage_jpeg_decoder *owner(j_decompress_ptr info) { return info->client_data; }

static void source_nothing(j_decompress_ptr info) { (void)info; }

/// The decoder reads ahead, so running out of bytes is not an error yet: it gets an end marker, and missing data is detected elsewhere. If
/// more data may follow, decoding is suspended.
static boolean source_fill(j_decompress_ptr info) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    struct webimage_jpeg_decoder *decoder = owner(info);
    if (decoder->awaits_more) { return FALSE; }
    if (decoder->rest_count > 0) {
        info->src->next_input_byte = decoder->rest;
        info->src->bytes_in_buffer = decoder->rest_count;
        decoder->rest_count = 0;
        return TRUE;
    }
    decoder->hit_end = true;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void source_skip(j_decompress_ptr info, long count) {
    if (count <= 0) { return; }
    if ((size_t)count > info->src->bytes_in_buffer) {
        if (owner(info)->awaits_more) {
            owner(info)->to_skip += (size_t)count - info->src->bytes_in_buffer;
            info->src->next_input_byte += info->src->bytes_in_buffer;
            info->src->bytes_in_buffer = 0;
        } else {
            source_fill(info);
        }
        return;
    }
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

/// libjpeg paints over damage and warns. Warnings that mean painted pixels are recorded, or become errors. The others concern deviations of real
/// encoders that do not change any pixel (a few extra bytes, odd version numbers).
static void on_message(j_common_ptr common, int level) {
    if (level >= 0) { return; }
    struct webimage_jpeg_decoder *decoder = owner((j_decompress_ptr)common);
    common->err->num_warnings++;
    switch (common->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        // Missing data may still be available elsewhere, so it is always an error.
        if (!decoder->tolerates_damage || decoder->hit_end) { common->err->error_exit(common); }
        decoder->is_damaged = true;
    default: break;
    }
}

void webimage_jpeg_decoder_tolerate_damage(struct webimage_jpeg_decoder *decoder) { decoder->tolerates_damage = true; }

bool webimage_jpeg_decoder_is_damaged(const struct webimage_jpeg_decoder *decoder) { return decoder->is_damaged; }

/// Called repeatedly while scans and rows are decoded.
static void check_bounds(j_common_ptr common) { decoder_check_bounds(owner((j_decompress_ptr)common)); }

static uint64_t monotonic_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void webimage_jpeg_decoder_limit(struct webimage_jpeg_decoder *decoder, uint64_t deadline) {
    decoder->deadline = deadline;
}

void decoder_check_bounds(struct webimage_jpeg_decoder *decoder) {
    j_decompress_ptr info = &decoder->info;
    if (info->input_scan_number > 0 && (unsigned)info->input_scan_number > decoder->maximum_scans) {
        error_trap_raise(&decoder->trap, webimage_jpeg_too_many_scans, "the image has too many scans");
    }
    if (decoder->deadline > 0 && monotonic_time() >= decoder->deadline) {
        error_trap_raise(&decoder->trap, webimage_jpeg_too_late, "the deadline has passed");
    }
}

/// Returns whether every coefficient of every component is complete.
static bool is_fully_refined(j_decompress_ptr info) {
    if (!info->coef_bits) { return false; }
    for (int component = 0; component < info->num_components; component++) {
        for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++) {
            if (info->coef_bits[component][coefficient] != 0) { return false; }
        }
    }
    return true;
}

/// An image whose bytes ran out is complete only if nothing but the end marker can be missing.
void decoder_check_completeness(struct webimage_jpeg_decoder *decoder) {
    j_decompress_ptr info = &decoder->info;
    if (!decoder->hit_end) { return; }
    // Arithmetic decoding continues with zeros after the end and cannot detect it.
    bool complete = !info->arith_code && (!jpeg_has_multiple_scans(info) || is_fully_refined(info));
    if (!complete) { error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "the image data is truncated"); }
}

struct webimage_jpeg_decoder *webimage_jpeg_decoder_create(const uint8_t *data, size_t byte_count) {
    struct webimage_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) { return NULL; }
    decoder->info.err = error_trap_install(&decoder->trap);
    if (setjmp(decoder->trap.target)) {
        webimage_jpeg_decoder_free(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->info);
    decoder->info.client_data = decoder;
    decoder->trap.manager.emit_message = on_message;
    decoder->source.init_source = source_nothing;
    decoder->source.fill_input_buffer = source_fill;
    decoder->source.skip_input_data = source_skip;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = source_nothing;
    decoder->source.next_input_byte = data;
    decoder->source.bytes_in_buffer = byte_count;
    decoder->info.src = &decoder->source;
    return decoder;
}

void webimage_jpeg_decoder_append(struct webimage_jpeg_decoder *decoder, const uint8_t *data, size_t byte_count) {
    decoder->rest = data;
    decoder->rest_count = byte_count;
}

void webimage_jpeg_decoder_free(struct webimage_jpeg_decoder *decoder) {
    if (!decoder) { return; }
    if (!setjmp(decoder->trap.target)) { jpeg_destroy_decompress(&decoder->info); }
    free(decoder);
}

const char *webimage_jpeg_decoder_message(const struct webimage_jpeg_decoder *decoder) { return decoder->trap.message; }

enum webimage_jpeg_status webimage_jpeg_decoder_start(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans,
    unsigned *width, unsigned *height) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    jpeg_read_header(info, TRUE);
    decoder_configure(decoder, pixels, eighths, maximum_scans);
    jpeg_start_decompress(info);
    // So that the first block is decoded as in a whole image: libjpeg has another loop, with other warnings, where few bytes are left.
    if (decoder->rest_count > 0 && info->src->bytes_in_buffer == 0) { source_fill(info); }
    decoder_check_completeness(decoder);
    *width = info->output_width;
    *height = info->output_height;
    return webimage_jpeg_ok;
}

void decoder_configure(
    struct webimage_jpeg_decoder *decoder, enum webimage_jpeg_pixels pixels, unsigned eighths, unsigned maximum_scans) {
    j_decompress_ptr info = &decoder->info;
    decoder->maximum_scans = maximum_scans;
    decoder->progress.progress_monitor = check_bounds;
    info->progress = &decoder->progress;
    switch (pixels) {
    case webimage_jpeg_gray: info->out_color_space = JCS_GRAYSCALE; break;
    case webimage_jpeg_rgb: info->out_color_space = JCS_EXT_RGB; break;
    case webimage_jpeg_bgra: info->out_color_space = JCS_EXT_BGRA; break;
    case webimage_jpeg_cmyk: info->out_color_space = JCS_CMYK; break;
    }
    info->scale_num = eighths;
    info->scale_denom = 8;
    info->dct_method = JDCT_ISLOW;
}

enum webimage_jpeg_status webimage_jpeg_decoder_read(
    struct webimage_jpeg_decoder *decoder, unsigned count, uint8_t *base, size_t bytes_per_row) {
    enum { batch = 16 };
    if (setjmp(decoder->trap.target)) { return decoder->trap.status; }
    j_decompress_ptr info = &decoder->info;
    if (count > info->output_height - info->output_scanline) {
        error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "there are no more rows");
    }
    while (count > 0) {
        JSAMPROW rows[batch];
        unsigned wanted = count < batch ? count : batch;
        for (unsigned i = 0; i < wanted; i++) { rows[i] = base + i * bytes_per_row; }
        unsigned got = jpeg_read_scanlines(info, rows, wanted);
        if (got == 0) { error_trap_raise(&decoder->trap, webimage_jpeg_bad_data, "the image data is truncated"); }
        base += got * bytes_per_row;
        count -= got;
    }
    if (info->output_scanline == info->output_height) { decoder_check_completeness(decoder); }
    return webimage_jpeg_ok;
}
