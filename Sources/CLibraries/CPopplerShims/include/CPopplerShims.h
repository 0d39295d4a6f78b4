// PDF documents in memory, drawn by poppler and cairo. poppler is GPL: only the worker program for PDF may link this.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An open document. For one thread at a time.
typedef struct webimage_pdf webimage_pdf;

enum webimage_pdf_problem { webimage_pdf_none = 0, webimage_pdf_damaged, webimage_pdf_encrypted, webimage_pdf_no_memory };

/// Opens a document, without a password. The bytes must outlive it. A document in memory has no directory, so poppler resolves no paths of other
/// files. On failure it returns NULL, sets the problem, and copies a message, truncated to `message_length`.
webimage_pdf *webimage_pdf_open(
    const void *bytes, size_t count, enum webimage_pdf_problem *problem, char *message, size_t message_length);
void webimage_pdf_close(webimage_pdf *document);

/// Returns the number of pages that the document states.
int webimage_pdf_page_count(webimage_pdf *document);

/// Returns the size of a page's crop box in points, rotated as the page says; false if the page cannot be read.
bool webimage_pdf_page_size(webimage_pdf *document, int page, double *width, double *height);

/// Draws a page on white, scaled so that `drawn_width` by `drawn_height` points cover `pixel_width` by `pixel_height` pixels. The four bytes of a pixel
/// are blue, green, red and 255.
enum webimage_pdf_problem webimage_pdf_draw(
    webimage_pdf *document, int page, double drawn_width, double drawn_height, void *pixels, int pixel_width, int pixel_height,
    int bytes_per_row, char *message, size_t message_length);
