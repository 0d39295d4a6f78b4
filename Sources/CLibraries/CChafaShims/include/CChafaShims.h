// libchafa: images as text and escape sequences for terminals.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A renderer for one terminal. For one thread at a time.
typedef struct webimage_chafa webimage_chafa;

typedef enum {
    WEBIMAGE_CHAFA_CELLS,
    WEBIMAGE_CHAFA_SIXEL,
    WEBIMAGE_CHAFA_KITTY,
    WEBIMAGE_CHAFA_ITERM2,
} webimage_chafa_mode;

/// Opens a renderer for the terminal that an environment ("NAME=VALUE", ended by NULL) describes, with its best mode, or with character cells when
/// `cells` is set. Without an environment: only cells, without any escape sequence. With `ascii` the cells contain only ASCII.
webimage_chafa *webimage_chafa_open(char *const *environment, bool cells, bool ascii);
void webimage_chafa_close(webimage_chafa *chafa);
webimage_chafa_mode webimage_chafa_get_mode(const webimage_chafa *chafa);

/// Draws pixels, premultiplied BGRA or else packed RGB, stretched to `columns` by `rows` cells of the given pixels each. Returns `*count` bytes to be
/// freed with `webimage_chafa_free`, NULL when there are none. A line feed separates rows of cells.
char *webimage_chafa_draw(
    webimage_chafa *chafa, int columns, int rows, int cell_width, int cell_height, const void *pixels, bool has_alpha,
    int width, int height, int bytes_per_row, size_t *count);
void webimage_chafa_free(char *bytes);
