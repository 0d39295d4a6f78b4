// What libtiff has to say, kept with the file it says it of.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <tiffio.h>

typedef struct {
    char text[256];
    /// Pixels were missing or damaged where libtiff puts up with it.
    bool damaged;
    bool has_error;
} webimage_tiff_messages;

int webimage_tiff_on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments);
int webimage_tiff_on_warning(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments);

/// Options that bound each allocation and send messages to `messages`; NULL when there is no memory.
TIFFOpenOptions *webimage_tiff_options(webimage_tiff_messages *messages, size_t max_allocation);
