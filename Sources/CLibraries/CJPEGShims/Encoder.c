#include "Errors.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

struct webimage_jpeg_encoder {
    struct jpeg_compress_struct info;
    struct error_trap trap;
    struct jpeg_destination_mgr destination;
    uint8_t *bytes;
    size_t capacity;
    size_t byte_count;
};

static struct webimage_jpeg_encoder *owner(j_compress_ptr info) { return info->client_data; }

static void use_rest(struct webimage_jpeg_encoder *encoder, size_t used) {
    encoder->destination.next_output_byte = encoder->bytes + used;
    encoder->destination.free_in_buffer = encoder->capacity - used;
}

static void destination_init(j_compress_ptr info) { use_rest(owner(info), 0); }

static boolean destination_grow(j_compress_ptr info) {
    struct webimage_jpeg_encoder *encoder = owner(info);
    size_t used = encoder->capacity;
    uint8_t *bytes = used > SIZE_MAX / 2 ? NULL : realloc(encoder->bytes, used * 2);
    if (!bytes) { ERREXIT1(info, JERR_OUT_OF_MEMORY, 0); }
    encoder->bytes = bytes;
    encoder->capacity = used * 2;
    use_rest(encoder, used);
    return TRUE;
}

static void destination_end(j_compress_ptr info) {
    owner(info)->byte_count = owner(info)->capacity - info->dest->free_in_buffer;
}

struct webimage_jpeg_encoder *webimage_jpeg_encoder_create(void) {
    struct webimage_jpeg_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) { return NULL; }
    encoder->info.err = error_trap_install(&encoder->trap);
    if (setjmp(encoder->trap.target)) {
        webimage_jpeg_encoder_free(encoder);
        return NULL;
    }
    jpeg_create_compress(&encoder->info);
    encoder->info.client_data = encoder;
    encoder->destination.init_destination = destination_init;
    encoder->destination.empty_output_buffer = destination_grow;
    encoder->destination.term_destination = destination_end;
    encoder->info.dest = &encoder->destination;
    return encoder;
}

void webimage_jpeg_encoder_free(struct webimage_jpeg_encoder *encoder) {
    if (!encoder) { return; }
    if (!setjmp(encoder->trap.target)) { jpeg_destroy_compress(&encoder->info); }
    free(encoder->bytes);
    free(encoder);
}

const char *webimage_jpeg_encoder_message(const struct webimage_jpeg_encoder *encoder) { return encoder->trap.message; }

enum webimage_jpeg_status webimage_jpeg_encoder_start(
    struct webimage_jpeg_encoder *encoder, unsigned width, unsigned height, int quality, bool full_chroma,
    bool optimize) {
    j_compress_ptr info = &encoder->info;
    if (setjmp(encoder->trap.target)) { return encoder->trap.status; }
    encoder->capacity = 16384 + (size_t)width * height / 4;
    encoder->bytes = malloc(encoder->capacity);
    if (!encoder->bytes) { error_trap_raise(&encoder->trap, webimage_jpeg_no_memory, "no memory"); }
    info->image_width = width;
    info->image_height = height;
    info->input_components = 3;
    info->in_color_space = JCS_EXT_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    info->dct_method = JDCT_ISLOW;
    info->optimize_coding = optimize;
    if (full_chroma) {
        info->comp_info[0].h_samp_factor = 1;
        info->comp_info[0].v_samp_factor = 1;
    }
    jpeg_start_compress(info, TRUE);
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_encoder_exif(
    struct webimage_jpeg_encoder *encoder, const uint8_t *bytes, size_t byte_count) {
    if (setjmp(encoder->trap.target)) { return encoder->trap.status; }
    jpeg_write_marker(&encoder->info, JPEG_APP0 + 1, bytes, (unsigned)byte_count);
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_encoder_write(
    struct webimage_jpeg_encoder *encoder, unsigned count, const uint8_t *base, size_t bytes_per_row) {
    enum { batch = 16 };
    if (setjmp(encoder->trap.target)) { return encoder->trap.status; }
    while (count > 0) {
        JSAMPROW rows[batch];
        unsigned offered = count < batch ? count : batch;
        for (unsigned i = 0; i < offered; i++) { rows[i] = (JSAMPROW)(base + i * bytes_per_row); }
        unsigned taken = jpeg_write_scanlines(&encoder->info, rows, offered);
        if (taken == 0) { error_trap_raise(&encoder->trap, webimage_jpeg_bad_data, "the encoder takes no more rows"); }
        base += taken * bytes_per_row;
        count -= taken;
    }
    return webimage_jpeg_ok;
}

enum webimage_jpeg_status webimage_jpeg_encoder_finish(
    struct webimage_jpeg_encoder *encoder, uint8_t **bytes, size_t *byte_count) {
    if (setjmp(encoder->trap.target)) { return encoder->trap.status; }
    jpeg_finish_compress(&encoder->info);
    *bytes = encoder->bytes;
    *byte_count = encoder->byte_count;
    encoder->bytes = NULL;
    return webimage_jpeg_ok;
}
