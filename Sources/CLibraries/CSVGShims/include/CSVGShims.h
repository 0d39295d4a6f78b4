// librsvg and cairo for documents in memory. A fault of librsvg that is a Rust panic does not end the process.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed document. For one thread at a time.
typedef struct webimage_svg webimage_svg;

typedef struct {
    /// Width and height in CSS pixels; less than 0 if missing or a percentage.
    double width;
    double height;
    /// Width and height of the view box; 0 without one.
    double box_width;
    double box_height;
} webimage_svg_size;

/// Parses a document, and reads its size. It has no base URL, so nothing outside is ever read. On failure it returns NULL and a message, truncated to
/// `message_length`.
webimage_svg *webimage_svg_open(
    const void *bytes, size_t count, webimage_svg_size *size, char *message, size_t message_length);
void webimage_svg_close(webimage_svg *document);

/// Draws the document, whose own size is `width` by `height`, so that `drawn_width` by `drawn_height` of it cover `pixel_width` by `pixel_height`
/// pixels, which are premultiplied BGRA and cleared before. On failure it returns false and a message.
bool webimage_svg_draw(
    webimage_svg *document, double drawn_width, double drawn_height, double width, double height, void *pixels,
    int pixel_width, int pixel_height, int bytes_per_row, char *message, size_t message_length);

#ifdef __cplusplus
}
#endif
