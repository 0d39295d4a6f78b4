#include "CSVGShims.h"

#include <cairo/cairo.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

// The headers of librsvg and GLib are in directories that only pkg-config knows, and SwiftPM warns about its flags in every build. Only few functions
// are used, so they are declared here; they have not changed since librsvg 2.52.
extern "C" {
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

RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t length, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
void rsvg_handle_get_intrinsic_dimensions(
    RsvgHandle *handle, int *has_width, RsvgLength *width, int *has_height, RsvgLength *height, int *has_box,
    RsvgRectangle *box);
int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cairo, const RsvgRectangle *viewport, GError **error);
void g_object_unref(void *object);
void g_error_free(GError *error);
}

namespace {

enum { RSVG_UNIT_PERCENT = 0 };

/// A call into librsvg, on a separate thread.
struct Call {
    void (*body)(void *);
    void *context;
    bool panicked;
};

/// librsvg is written in Rust and panics for some documents, for example with huge fonts. An uncaught panic ends the process. It may be caught, but
/// destroying it also ends the process. So the handler is left by a jump within this function, which skips nothing that needs destruction. The state
/// that Rust and C++ keep for the panic is thread-local and is released with the thread. (Destructors of librsvg's frames have run by then.)
void *run(void *argument) {
    Call *call = static_cast<Call *>(argument);
    jmp_buf out;
    if (setjmp(out) != 0) {
        call->panicked = true;
        return nullptr;
    }
    try {
        call->body(call->context);
    } catch (...) {
        longjmp(out, 1);
    }
    return nullptr;
}

/// Returns false when the call panicked, or when no thread could be created.
bool guarded(void (*body)(void *), void *context) {
    Call call = {body, context, false};
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    // librsvg recurses for every nested element, with some kilobytes of stack each time; unused stack costs nothing.
    pthread_attr_setstacksize(&attributes, 64 << 20);
    pthread_t thread;
    bool is_started = pthread_create(&thread, &attributes, run, &call) == 0;
    pthread_attr_destroy(&attributes);
    if (!is_started) return false;
    pthread_join(thread, nullptr);
    return !call.panicked;
}

void tell(GError *error, const char *otherwise, char *message, size_t length) {
    if (length == 0) return;
    strncpy(message, error != nullptr && error->message != nullptr ? error->message : otherwise, length - 1);
    message[length - 1] = 0;
    if (error != nullptr) g_error_free(error);
}

/// Returns a length in CSS pixels, by the units of RsvgUnit; less than 0 for percentages.
double pixels_of(RsvgLength length) {
    // per cent, px, em, ex, in, cm, mm, pt, pc; the default font size is 12 pixels.
    static const double factors[] = {0, 1, 12, 6, 96, 96 / 2.54, 96 / 25.4, 96.0 / 72, 16};
    bool is_known = length.unit > RSVG_UNIT_PERCENT && length.unit < (int)(sizeof factors / sizeof *factors);
    return is_known ? length.length * factors[length.unit] : -1;
}

struct Opening {
    const void *bytes;
    size_t count;
    RsvgHandle *handle;
    webimage_svg_size size;
    GError *error;
};

void open(void *context) {
    Opening *opening = static_cast<Opening *>(context);
    RsvgHandle *handle =
        rsvg_handle_new_from_data(static_cast<const uint8_t *>(opening->bytes), opening->count, &opening->error);
    if (handle == nullptr) return;
    rsvg_handle_set_dpi(handle, 96);
    int has_width = 0, has_height = 0, has_box = 0;
    RsvgLength width = {}, height = {};
    RsvgRectangle box = {};
    webimage_svg_size *size = &opening->size;
    rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &width, &has_height, &height, &has_box, &box);
    // librsvg knows the document's font, but returns nothing when one of the two is a percentage.
    if (!rsvg_handle_get_intrinsic_size_in_pixels(handle, &size->width, &size->height)) {
        size->width = has_width ? pixels_of(width) : -1;
        size->height = has_height ? pixels_of(height) : -1;
    }
    size->box_width = has_box ? box.width : 0;
    size->box_height = has_box ? box.height : 0;
    opening->handle = handle;
}

struct Drawing {
    RsvgHandle *handle;
    cairo_t *cairo;
    RsvgRectangle viewport;
    GError *error;
    bool is_drawn;
};

void draw(void *context) {
    Drawing *drawing = static_cast<Drawing *>(context);
    drawing->is_drawn =
        rsvg_handle_render_document(drawing->handle, drawing->cairo, &drawing->viewport, &drawing->error);
}

}  // namespace

webimage_svg *webimage_svg_open(
    const void *bytes, size_t count, webimage_svg_size *size, char *message, size_t message_length) {
    Opening opening = {bytes, count, nullptr, {}, nullptr};
    if (!guarded(open, &opening)) {
        tell(nullptr, "librsvg failed", message, message_length);
        return nullptr;
    }
    if (opening.handle == nullptr) tell(opening.error, "it cannot be read", message, message_length);
    *size = opening.size;
    return reinterpret_cast<webimage_svg *>(opening.handle);
}

void webimage_svg_close(webimage_svg *document) { g_object_unref(document); }

bool webimage_svg_draw(
    webimage_svg *document, double drawn_width, double drawn_height, double width, double height, void *pixels,
    int pixel_width, int pixel_height, int bytes_per_row, char *message, size_t message_length) {
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        static_cast<unsigned char *>(pixels), CAIRO_FORMAT_ARGB32, pixel_width, pixel_height, bytes_per_row);
    cairo_t *cairo = cairo_create(surface);
    cairo_scale(cairo, pixel_width / drawn_width, pixel_height / drawn_height);
    Drawing drawing = {reinterpret_cast<RsvgHandle *>(document), cairo, {0, 0, width, height}, nullptr, false};
    bool is_drawn = guarded(draw, &drawing);
    if (!is_drawn) {
        tell(nullptr, "librsvg failed", message, message_length);
    } else if (!drawing.is_drawn) {
        is_drawn = false;
        tell(drawing.error, "it cannot be drawn", message, message_length);
    } else if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        is_drawn = false;
        tell(nullptr, cairo_status_to_string(cairo_status(cairo)), message, message_length);
    }
    cairo_surface_flush(surface);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return is_drawn;
}
