// repeat-jpeg FILE SIDE OUTPUT
//     writes a JPEG of SIDE x SIDE pixels, quality 85, 4:2:0, no restart markers, that repeats the picture of another, each time moved down a bit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

int main(int count, char **words) {
    FILE *input = count == 4 ? fopen(words[1], "rb") : NULL, *output = input ? fopen(words[3], "wb") : NULL;
    int side = count == 4 ? atoi(words[2]) : 0;
    if (!output || side < 1) {
        fprintf(stderr, "usage: repeat-jpeg FILE SIDE OUTPUT\n");
        return 64;
    }
    struct jpeg_error_mgr errors[2];
    struct jpeg_decompress_struct from = {.err = jpeg_std_error(&errors[0])};
    jpeg_create_decompress(&from);
    jpeg_stdio_src(&from, input);
    jpeg_read_header(&from, TRUE);
    from.out_color_space = JCS_RGB;
    jpeg_start_decompress(&from);
    size_t width = from.output_width, height = from.output_height;
    unsigned char *pixels = malloc(width * height * 3), *row = malloc(((size_t)side + width) * 3);
    while (from.output_scanline < from.output_height) {
        JSAMPROW rows[] = {pixels + from.output_scanline * width * 3};
        jpeg_read_scanlines(&from, rows, 1);
    }
    struct jpeg_compress_struct to = {.err = jpeg_std_error(&errors[1])};
    jpeg_create_compress(&to);
    jpeg_stdio_dest(&to, output);
    to.image_width = to.image_height = (JDIMENSION)side;
    to.input_components = 3;
    to.in_color_space = JCS_RGB;
    jpeg_set_defaults(&to);
    jpeg_set_quality(&to, 85, TRUE);
    jpeg_start_compress(&to, TRUE);
    for (size_t y = 0; y < (size_t)side; y++) {
        const unsigned char *source = pixels + (y + y / height * 331) % height * width * 3;
        for (size_t x = 0; x < (size_t)side; x += width) { memcpy(row + x * 3, source, width * 3); }
        JSAMPROW rows[] = {row};
        jpeg_write_scanlines(&to, rows, 1);
    }
    jpeg_finish_compress(&to);
    return fclose(output) == 0 ? 0 : 1;
}
