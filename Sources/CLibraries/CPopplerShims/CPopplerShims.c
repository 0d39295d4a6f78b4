#include "CPopplerShims.h"

#include <cairo/cairo.h>
#include <string.h>

// The headers of poppler and GLib are in directories that only pkg-config knows, and SwiftPM warns about its flags in every build. Only a few
// functions are used, so they are declared here; they have not changed since poppler 0.82.
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;
typedef struct GBytes GBytes;
typedef struct PopplerDocument PopplerDocument;
typedef struct PopplerPage PopplerPage;

GBytes *g_bytes_new_static(const void *bytes, size_t count);
void g_bytes_unref(GBytes *bytes);
void g_error_free(GError *error);
void g_object_unref(void *object);
uint32_t poppler_error_quark(void);
PopplerDocument *poppler_document_new_from_bytes(GBytes *bytes, const char *password, GError **error);
int poppler_document_get_n_pages(PopplerDocument *document);
PopplerPage *poppler_document_get_page(PopplerDocument *document, int index);
void poppler_page_get_size(PopplerPage *page, double *width, double *height);
void poppler_page_render(PopplerPage *page, cairo_t *cairo);

enum { POPPLER_ERROR_ENCRYPTED = 1 };

static void copy_message(const char *text, char *message, size_t length) {
    if (length == 0) return;
    strncpy(message, text, length - 1);
    message[length - 1] = 0;
}

// poppler makes its tables of characters and fonts with the first document, and frees them with the last. One that is never closed keeps them.
static void keep_tables(void) {
    static const char text[] = "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj 2 0 obj <</Type /Pages /Kids [] /Count 0>> endobj\n"
                               "trailer <</Root 1 0 R>>\n";
    static bool is_done;
    if (is_done) return;
    is_done = true;
    GBytes *data = g_bytes_new_static(text, sizeof text - 1);
    GError *error = NULL;
    poppler_document_new_from_bytes(data, NULL, &error);
    g_bytes_unref(data);
    if (error != NULL) g_error_free(error);
}

webimage_pdf *webimage_pdf_open(
    const void *bytes, size_t count, enum webimage_pdf_problem *problem, char *message, size_t message_length) {
    keep_tables();
    GBytes *data = g_bytes_new_static(bytes, count);
    GError *error = NULL;
    PopplerDocument *document = poppler_document_new_from_bytes(data, NULL, &error);
    g_bytes_unref(data);
    *problem = webimage_pdf_none;
    if (document != NULL) return (webimage_pdf *)document;
    bool is_encrypted = error != NULL && error->domain == poppler_error_quark() && error->code == POPPLER_ERROR_ENCRYPTED;
    *problem = is_encrypted ? webimage_pdf_encrypted : webimage_pdf_damaged;
    copy_message(error != NULL && error->message != NULL ? error->message : "it cannot be read", message, message_length);
    if (error != NULL) g_error_free(error);
    return NULL;
}

void webimage_pdf_close(webimage_pdf *document) { g_object_unref(document); }

int webimage_pdf_page_count(webimage_pdf *document) { return poppler_document_get_n_pages((PopplerDocument *)document); }

bool webimage_pdf_page_size(webimage_pdf *document, int index, double *width, double *height) {
    PopplerPage *page = poppler_document_get_page((PopplerDocument *)document, index);
    if (page == NULL) return false;
    poppler_page_get_size(page, width, height);
    g_object_unref(page);
    return true;
}

static enum webimage_pdf_problem problem_of(cairo_status_t status, char *message, size_t message_length) {
    if (status == CAIRO_STATUS_SUCCESS) return webimage_pdf_none;
    copy_message(cairo_status_to_string(status), message, message_length);
    return status == CAIRO_STATUS_NO_MEMORY ? webimage_pdf_no_memory : webimage_pdf_damaged;
}

enum webimage_pdf_problem webimage_pdf_draw(
    webimage_pdf *document, int index, double drawn_width, double drawn_height, void *pixels, int pixel_width, int pixel_height,
    int bytes_per_row, char *message, size_t message_length) {
    PopplerPage *page = poppler_document_get_page((PopplerDocument *)document, index);
    if (page == NULL) {
        copy_message("the page is damaged", message, message_length);
        return webimage_pdf_damaged;
    }
    // Without alpha: a page that clears a part of the paper is still opaque.
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_RGB24, pixel_width, pixel_height, bytes_per_row);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_scale(cairo, pixel_width / drawn_width, pixel_height / drawn_height);
    poppler_page_render(page, cairo);
    g_object_unref(page);
    enum webimage_pdf_problem problem = problem_of(cairo_status(cairo), message, message_length);
    cairo_destroy(cairo);
    cairo_surface_finish(surface);
    if (problem == webimage_pdf_none) problem = problem_of(cairo_surface_status(surface), message, message_length);
    cairo_surface_destroy(surface);
    // cairo does not define the fourth byte.
    for (int y = 0; y < pixel_height; y++) {
        uint8_t *row = (uint8_t *)pixels + (size_t)y * (size_t)bytes_per_row;
        for (int x = 0; x < pixel_width; x++) row[4 * x + 3] = 255;
    }
    return problem;
}
