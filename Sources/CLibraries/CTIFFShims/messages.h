// The messages of libtiff, stored with their file.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <tiffio.h>

typedef struct {
    char text[256];
    /// Pixels are missing or damaged, without an error of libtiff.
    bool damaged;
    bool has_error;
} webimage_tiff_messages;

int webimage_tiff_on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments);
int webimage_tiff_on_warning(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments);

/// Creates options that limit each allocation and send messages to `messages`; NULL without memory.
TIFFOpenOptions *webimage_tiff_options(webimage_tiff_messages *messages, size_t max_allocation);
