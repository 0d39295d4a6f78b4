// format-decode decode ITERATIONS FILE
//     decodes a file that often from memory to 8-bit RGB or RGBA; CPU time per picture
// format-decode frames LOOPS FILE
//     plays a GIF, an animated WebP, an AVIF sequence or an animated JPEG XL that often, every frame on its canvas; frames per second
//     of CPU time
//
// Each format by its C library, as its examples do it.
#include "bench.h"

#include <avif/avif.h>
#include <gif_lib.h>
#include <jxl/decode.h>
#include <libheif/heif.h>
#include <librsvg/rsvg.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <webp/decode.h>
#include <webp/demux.h>

// One buffer for all pictures: what is compared is decoding.
static unsigned char *pixels(size_t count) {
    static unsigned char *buffer;
    static size_t room;
    if (count > room) {
        free(buffer);
        buffer = need(count);
        room = count;
    }
    return buffer;
}

static void decode_png(Blob file) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, file.bytes, file.count)) die("PNG: %s", image.message);
    image.format = image.format & PNG_FORMAT_FLAG_ALPHA ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    if (!png_image_finish_read(&image, NULL, pixels(PNG_IMAGE_SIZE(image)), 0, NULL)) die("PNG: %s", image.message);
}

static void decode_webp(Blob file) {
    int width, height;
    if (!WebPGetInfo(file.bytes, file.count, &width, &height)) die("WebP: no header");
    size_t size = (size_t)width * (size_t)height * 3;
    if (!WebPDecodeRGBInto(file.bytes, file.count, pixels(size), size, width * 3)) die("WebP: damaged");
}

static int read_gif(GifFileType *gif, GifByteType *target, int count) {
    Blob *rest = gif->UserData;
    size_t most = (size_t)count < rest->count ? (size_t)count : rest->count;
    memcpy(target, rest->bytes, most);
    rest->bytes += most;
    rest->count -= most;
    return (int)most;
}

// Draws every frame on a canvas; how many there are.
static int play_gif(Blob file) {
    int error = 0, frames = 0;
    Blob rest = file;
    GifFileType *gif = DGifOpen(&rest, read_gif, &error);
    if (!gif || DGifSlurp(gif) != GIF_OK) die("GIF: damaged");
    size_t width = (size_t)gif->SWidth, height = (size_t)gif->SHeight;
    uint32_t *canvas = (uint32_t *)pixels(width * height * 4);
    memset(canvas, 0, width * height * 4);
    for (; frames < gif->ImageCount; frames++) {
        SavedImage *image = &gif->SavedImages[frames];
        GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
        DGifSavedExtensionToGCB(gif, frames, &control);
        ColorMapObject *map = image->ImageDesc.ColorMap ? image->ImageDesc.ColorMap : gif->SColorMap;
        uint32_t colors[256] = {0};
        for (int i = 0; map && i < map->ColorCount; i++)
            colors[i] = 0xFF000000u | (uint32_t)map->Colors[i].Red << 16 | (uint32_t)map->Colors[i].Green << 8 | map->Colors[i].Blue;
        for (int y = 0; y < image->ImageDesc.Height; y++)
            for (int x = 0; x < image->ImageDesc.Width; x++) {
                int value = image->RasterBits[(size_t)y * (size_t)image->ImageDesc.Width + (size_t)x];
                if (value != control.TransparentColor)
                    canvas[(size_t)(y + image->ImageDesc.Top) * width + (size_t)(x + image->ImageDesc.Left)] = colors[value];
            }
    }
    DGifCloseFile(gif, &error);
    return frames;
}

static int play_webp(Blob file) {
    WebPAnimDecoderOptions options;
    WebPAnimDecoderOptionsInit(&options);
    options.color_mode = MODE_bgrA;
    WebPData data = {file.bytes, file.count};
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    if (!decoder) die("WebP: no animation");
    int frames = 0, time;
    uint8_t *canvas;
    while (WebPAnimDecoderHasMoreFrames(decoder)) {
        if (!WebPAnimDecoderGetNext(decoder, &canvas, &time)) die("WebP: damaged");
        frames++;
    }
    WebPAnimDecoderDelete(decoder);
    return frames;
}

static void decode_avif(Blob file) {
    avifDecoder *decoder = avifDecoderCreate();
    avifImage *image = avifImageCreateEmpty();
    avifRGBImage rgb;
    decoder->maxThreads = 1;
    if (avifDecoderReadMemory(decoder, image, file.bytes, file.count) != AVIF_RESULT_OK) die("AVIF: damaged");
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_RGB;
    rgb.depth = 8;
    rgb.rowBytes = image->width * 3;
    rgb.pixels = pixels((size_t)rgb.rowBytes * image->height);
    if (avifImageYUVToRGB(image, &rgb) != AVIF_RESULT_OK) die("AVIF: colours");
    avifImageDestroy(image);
    avifDecoderDestroy(decoder);
}

static void decode_heif(Blob file) {
    struct heif_context *context = heif_context_alloc();
    struct heif_image_handle *handle;
    struct heif_image *image;
    if (heif_context_read_from_memory_without_copy(context, file.bytes, file.count, NULL).code
        || heif_context_get_primary_image_handle(context, &handle).code
        || heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGB, NULL).code)
        die("HEIF: damaged");
    heif_image_release(image);
    heif_image_handle_release(handle);
    heif_context_free(context);
}

static void decode_jxl(Blob file) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlPixelFormat format = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    size_t size;
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, file.bytes, file.count);
    JxlDecoderCloseInput(decoder);
    for (JxlDecoderStatus status; (status = JxlDecoderProcessInput(decoder)) != JXL_DEC_FULL_IMAGE;) {
        if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER || JxlDecoderImageOutBufferSize(decoder, &format, &size) != JXL_DEC_SUCCESS
            || JxlDecoderSetImageOutBuffer(decoder, &format, pixels(size), size) != JXL_DEC_SUCCESS)
            die("JPEG XL: damaged");
    }
    JxlDecoderDestroy(decoder);
}

static int play_avif(Blob file) {
    avifDecoder *decoder = avifDecoderCreate();
    decoder->maxThreads = 1;
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    if (avifDecoderSetIOMemory(decoder, file.bytes, file.count) != AVIF_RESULT_OK || avifDecoderParse(decoder) != AVIF_RESULT_OK)
        die("AVIF: damaged");
    int frames = 0;
    while (avifDecoderNextImage(decoder) == AVIF_RESULT_OK) {
        avifRGBImage rgb;
        avifRGBImageSetDefaults(&rgb, decoder->image);
        rgb.format = AVIF_RGB_FORMAT_BGRA;
        rgb.depth = 8;
        rgb.rowBytes = decoder->image->width * 4;
        rgb.pixels = pixels((size_t)rgb.rowBytes * decoder->image->height);
        if (avifImageYUVToRGB(decoder->image, &rgb) != AVIF_RESULT_OK) die("AVIF: colours");
        frames++;
    }
    if (frames != decoder->imageCount) die("AVIF: frames are missing");
    avifDecoderDestroy(decoder);
    return frames;
}

static int play_jxl(Blob file) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    size_t size;
    int frames = 0;
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, file.bytes, file.count);
    JxlDecoderCloseInput(decoder);
    for (JxlDecoderStatus status; (status = JxlDecoderProcessInput(decoder)) != JXL_DEC_SUCCESS;) {
        if (status == JXL_DEC_FULL_IMAGE) frames++;
        else if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER || JxlDecoderImageOutBufferSize(decoder, &format, &size) != JXL_DEC_SUCCESS
                 || JxlDecoderSetImageOutBuffer(decoder, &format, pixels(size), size) != JXL_DEC_SUCCESS)
            die("JPEG XL: damaged");
    }
    JxlDecoderDestroy(decoder);
    return frames;
}

typedef struct {
    Blob file;
    size_t offset;
} Stream;

static tmsize_t tiff_read(thandle_t handle, void *target, tmsize_t count) {
    Stream *stream = handle;
    size_t rest = stream->file.count - stream->offset, most = (size_t)count < rest ? (size_t)count : rest;
    memcpy(target, stream->file.bytes + stream->offset, most);
    stream->offset += most;
    return (tmsize_t)most;
}
static tmsize_t tiff_write(thandle_t handle, void *bytes, tmsize_t count) { return (void)handle, (void)bytes, (void)count, 0; }
static toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
    Stream *stream = handle;
    if (whence == SEEK_CUR) offset += stream->offset;
    if (whence == SEEK_END) offset += stream->file.count;
    if (offset > stream->file.count) return (toff_t)-1;
    return stream->offset = offset;
}
static int tiff_close(thandle_t handle) { return (void)handle, 0; }
static toff_t tiff_size(thandle_t handle) { return ((Stream *)handle)->file.count; }

static void decode_tiff(Blob file) {
    Stream stream = {file, 0};
    TIFF *tiff = TIFFClientOpen("file", "rm", &stream, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, NULL, NULL);
    uint32_t width, height;
    if (!tiff || !TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height)
        || !TIFFReadRGBAImageOriented(tiff, width, height, (uint32_t *)pixels((size_t)width * height * 4), ORIENTATION_TOPLEFT, 1))
        die("TIFF: damaged");
    TIFFClose(tiff);
}

static void draw_svg(Blob file) {
    RsvgHandle *handle = rsvg_handle_new_from_data(file.bytes, file.count, NULL);
    gdouble width, height;
    if (!handle || !rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) die("SVG: damaged");
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)width, (int)height);
    cairo_t *cairo = cairo_create(surface);
    RsvgRectangle viewport = {0, 0, width, height};
    if (!rsvg_handle_render_document(handle, cairo, &viewport, NULL)) die("SVG: cannot be drawn");
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    g_object_unref(handle);
}

static void decode_gif(Blob file) { play_gif(file); }

static const struct {
    const char *suffix;
    void (*decode)(Blob);
} formats[] = {
    {".png", decode_png}, {".webp", decode_webp}, {".gif", decode_gif}, {".avif", decode_avif}, {".heic", decode_heif},
    {".jxl", decode_jxl}, {".tiff", decode_tiff}, {".svg", draw_svg},
};

static const struct {
    const char *suffix;
    int (*play)(Blob);
} animations[] = {{".gif", play_gif}, {".webp", play_webp}, {".avif", play_avif}, {".jxl", play_jxl}};

int main(int count, char **arguments) {
    if (count != 4) die("usage: format-decode decode ITERATIONS FILE | frames LOOPS FILE");
    int turns = atoi(arguments[2]);
    const char *suffix = strrchr(arguments[3], '.');
    Blob file = read_file(arguments[3]);
    if (strcmp(arguments[1], "frames") == 0) {
        for (size_t i = 0; i < sizeof animations / sizeof *animations; i++) {
            if (strcmp(suffix, animations[i].suffix) != 0) continue;
            int frames = animations[i].play(file);
            double cpu = cpu_seconds();
            for (int turn = 0; turn < turns; turn++) animations[i].play(file);
            report("frames", turns * frames / (cpu_seconds() - cpu), "frames/s");
            return 0;
        }
        die("%s: no animation of this program", arguments[3]);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(suffix, formats[i].suffix) != 0) continue;
        formats[i].decode(file);
        double cpu = cpu_seconds();
        for (int turn = 0; turn < turns; turn++) formats[i].decode(file);
        report("cpu", (cpu_seconds() - cpu) * 1000 / turns, "ms");
        return 0;
    }
    die("%s: not a format of this program", arguments[3]);
}
