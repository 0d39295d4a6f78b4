#include "CSVGShims.h"

#include <cairo/cairo.h>
#include <string.h>

// librsvg's headers and GLib's lie in directories that only pkg-config knows, whose flags SwiftPM warns of in every build.
// What is used of them is little, and has not changed since librsvg 2.52.
typedef struct _RsvgHandle RsvgHandle;
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct {
    double length;
    int unit;
} RsvgLength;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;
enum { RSVG_UNIT_PERCENT = 0 };

RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t length, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
void rsvg_handle_get_intrinsic_dimensions(
    RsvgHandle *handle, int *has_width, RsvgLength *width, int *has_height, RsvgLength *height, int *has_box,
    RsvgRectangle *box);
int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cairo, const RsvgRectangle *viewport, GError **error);
void g_object_unref(void *object);
void g_error_free(GError *error);

static void tell(GError *error, const char *otherwise, char *message, size_t length) {
    if (length == 0) return;
    strncpy(message, error != NULL && error->message != NULL ? error->message : otherwise, length - 1);
    message[length - 1] = 0;
    if (error != NULL) g_error_free(error);
}

webimage_svg *webimage_svg_open(const void *bytes, size_t count, char *message, size_t message_length) {
    GError *error = NULL;
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, count, &error);
    if (handle == NULL) {
        tell(error, "it cannot be read", message, message_length);
        return NULL;
    }
    rsvg_handle_set_dpi(handle, 96);
    return (webimage_svg *)handle;
}

void webimage_svg_close(webimage_svg *document) { g_object_unref(document); }

/// A length in CSS pixels, by the units that RsvgUnit numbers; less than 0 for percentages.
static double pixels_of(RsvgLength length) {
    // per cent, px, em, ex, in, cm, mm, pt, pc; a font is 12 pixels high where nothing else is known.
    static const double factors[] = {0, 1, 12, 6, 96, 96 / 2.54, 96 / 25.4, 96.0 / 72, 16};
    bool is_known = length.unit > RSVG_UNIT_PERCENT && length.unit < (int)(sizeof factors / sizeof *factors);
    return is_known ? length.length * factors[length.unit] : -1;
}

void webimage_svg_get_size(webimage_svg *document, webimage_svg_size *size) {
    int has_width = 0, has_height = 0, has_box = 0;
    RsvgLength width = {0}, height = {0};
    RsvgRectangle box = {0};
    rsvg_handle_get_intrinsic_dimensions(
        (RsvgHandle *)document, &has_width, &width, &has_height, &height, &has_box, &box);
    // librsvg knows the document's font, but tells nothing when one of the two is a percentage.
    if (!rsvg_handle_get_intrinsic_size_in_pixels((RsvgHandle *)document, &size->width, &size->height)) {
        size->width = has_width ? pixels_of(width) : -1;
        size->height = has_height ? pixels_of(height) : -1;
    }
    size->box_width = has_box ? box.width : 0;
    size->box_height = has_box ? box.height : 0;
}

bool webimage_svg_draw(
    webimage_svg *document, double drawn_width, double drawn_height, double width, double height, void *pixels,
    int pixel_width, int pixel_height, int bytes_per_row, char *message, size_t message_length) {
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        pixels, CAIRO_FORMAT_ARGB32, pixel_width, pixel_height, bytes_per_row);
    cairo_t *cairo = cairo_create(surface);
    cairo_scale(cairo, pixel_width / drawn_width, pixel_height / drawn_height);
    RsvgRectangle viewport = {0, 0, width, height};
    GError *error = NULL;
    bool is_drawn = rsvg_handle_render_document((RsvgHandle *)document, cairo, &viewport, &error);
    if (!is_drawn) {
        tell(error, "it cannot be drawn", message, message_length);
    } else if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        is_drawn = false;
        tell(NULL, cairo_status_to_string(cairo_status(cairo)), message, message_length);
    }
    cairo_surface_flush(surface);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return is_drawn;
}
