#include "messages.h"

#include <stdio.h>
#include <string.h>

int webimage_tiff_on_error(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    (void)module;
    webimage_tiff_messages *messages = data;
    // The first error is the most specific.
    if (!messages->has_error) vsnprintf(messages->text, sizeof messages->text, format, arguments);
    messages->has_error = true;
    return 1;
}

int webimage_tiff_on_warning(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) {
    (void)tiff;
    webimage_tiff_messages *messages = data;
    // libtiff ignores errors of libjpeg, which leave grey areas, and the early end of a fax, which leaves white.
    bool is_jpeg = module != NULL && strncmp(module, "JPEGLib", 7) == 0;
    if (!is_jpeg && strstr(format, "Premature EOF") == NULL && strstr(format, "Discarding") == NULL) return 1;
    if (!messages->damaged && !messages->has_error) vsnprintf(messages->text, sizeof messages->text, format, arguments);
    messages->damaged = true;
    return 1;
}

TIFFOpenOptions *webimage_tiff_options(webimage_tiff_messages *messages, size_t max_allocation) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL) return NULL;
    if (max_allocation > 0) {
        tmsize_t largest = max_allocation > (size_t)TIFF_TMSIZE_T_MAX ? TIFF_TMSIZE_T_MAX : (tmsize_t)max_allocation;
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest);
    }
    TIFFOpenOptionsSetErrorHandlerExtR(options, webimage_tiff_on_error, messages);
    TIFFOpenOptionsSetWarningHandlerExtR(options, webimage_tiff_on_warning, messages);
    return options;
}
