#include "CChafaShims.h"

#include <stdlib.h>

// The headers of libchafa and GLib are in directories that only pkg-config knows, and SwiftPM warns about its flags in every build. Only few
// functions are used, so they are declared here. The numbers are part of libchafa's binary interface, unchanged since 1.6.
typedef struct ChafaTermDb ChafaTermDb;
typedef struct ChafaTermInfo ChafaTermInfo;
typedef struct ChafaSymbolMap ChafaSymbolMap;
typedef struct ChafaCanvasConfig ChafaCanvasConfig;
typedef struct ChafaCanvas ChafaCanvas;
typedef struct {
    char *str;
    size_t len;
    size_t allocated_len;
} GString;

enum {
    SEQ_RESET_ATTRIBUTES = 2,
    SEQ_INVERT_COLORS = 4,
    SEQ_SET_COLOR_FGBG_DIRECT = 33,
    SEQ_SET_COLOR_FGBG_256 = 36,
    SEQ_SET_COLOR_FGBG_16 = 39,
    SEQ_BEGIN_SIXELS = 40,
    SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1 = 43,
    SEQ_BEGIN_ITERM2_IMAGE = 47,
    SEQ_SET_COLOR_FGBG_8 = 54,
};
enum {
    CANVAS_TRUECOLOR = 0,
    CANVAS_INDEXED_240 = 2,
    CANVAS_INDEXED_16 = 3,
    CANVAS_FGBG_BGFG = 4,
    CANVAS_FGBG = 5,
    CANVAS_INDEXED_8 = 6,
};
enum { DITHER_ORDERED = 1 };
enum { PIXEL_BGRA8_PREMULTIPLIED = 1, PIXEL_RGB8 = 8 };
enum {
    SYMBOLS_SPACE = 1 << 0,
    SYMBOLS_BLOCK = 1 << 3,
    SYMBOLS_BORDER = 1 << 4,
    SYMBOLS_ASCII = 1 << 14,
    SYMBOLS_WIDE = 1 << 18,
};
// Skipped cells would keep their former contents.
enum { OPTIMIZATION_REUSE_ATTRIBUTES = 1 << 0, OPTIMIZATION_REPEAT_CELLS = 1 << 2 };

ChafaTermDb *chafa_term_db_get_default(void);
ChafaTermInfo *chafa_term_db_detect(ChafaTermDb *db, char **environment);
ChafaTermInfo *chafa_term_info_new(void);
void chafa_term_info_unref(ChafaTermInfo *info);
int chafa_term_info_have_seq(const ChafaTermInfo *info, int sequence);
ChafaSymbolMap *chafa_symbol_map_new(void);
void chafa_symbol_map_unref(ChafaSymbolMap *map);
void chafa_symbol_map_add_by_tags(ChafaSymbolMap *map, int tags);
void chafa_symbol_map_remove_by_tags(ChafaSymbolMap *map, int tags);
ChafaCanvasConfig *chafa_canvas_config_new(void);
void chafa_canvas_config_unref(ChafaCanvasConfig *config);
void chafa_canvas_config_set_geometry(ChafaCanvasConfig *config, int width, int height);
void chafa_canvas_config_set_cell_geometry(ChafaCanvasConfig *config, int width, int height);
void chafa_canvas_config_set_canvas_mode(ChafaCanvasConfig *config, int mode);
void chafa_canvas_config_set_pixel_mode(ChafaCanvasConfig *config, int mode);
void chafa_canvas_config_set_symbol_map(ChafaCanvasConfig *config, const ChafaSymbolMap *map);
void chafa_canvas_config_set_dither_mode(ChafaCanvasConfig *config, int mode);
void chafa_canvas_config_set_dither_intensity(ChafaCanvasConfig *config, float intensity);
void chafa_canvas_config_set_optimizations(ChafaCanvasConfig *config, int optimizations);
ChafaCanvas *chafa_canvas_new(const ChafaCanvasConfig *config);
void chafa_canvas_unref(ChafaCanvas *canvas);
void chafa_canvas_draw_all_pixels(
    ChafaCanvas *canvas, int type, const uint8_t *pixels, int width, int height, int bytes_per_row);
GString *chafa_canvas_print(ChafaCanvas *canvas, ChafaTermInfo *info);
char *g_string_free(GString *string, int frees_bytes);
void g_free(void *block);

struct webimage_chafa {
    ChafaTermInfo *info;
    ChafaSymbolMap *symbols;
    webimage_chafa_mode mode;
    int canvas_mode;
};

/// Returns the canvas mode with the most colours that the terminal supports.
static int canvas_mode_of(const ChafaTermInfo *info) {
    if (chafa_term_info_have_seq(info, SEQ_SET_COLOR_FGBG_DIRECT)) return CANVAS_TRUECOLOR;
    // The first 16 of 256 colours are defined by the user.
    if (chafa_term_info_have_seq(info, SEQ_SET_COLOR_FGBG_256)) return CANVAS_INDEXED_240;
    if (chafa_term_info_have_seq(info, SEQ_SET_COLOR_FGBG_16)) return CANVAS_INDEXED_16;
    if (chafa_term_info_have_seq(info, SEQ_SET_COLOR_FGBG_8)) return CANVAS_INDEXED_8;
    bool inverts = chafa_term_info_have_seq(info, SEQ_INVERT_COLORS);
    return inverts && chafa_term_info_have_seq(info, SEQ_RESET_ATTRIBUTES) ? CANVAS_FGBG_BGFG : CANVAS_FGBG;
}

static webimage_chafa_mode mode_of(const ChafaTermInfo *info) {
    if (chafa_term_info_have_seq(info, SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1)) return WEBIMAGE_CHAFA_KITTY;
    if (chafa_term_info_have_seq(info, SEQ_BEGIN_SIXELS)) return WEBIMAGE_CHAFA_SIXEL;
    if (chafa_term_info_have_seq(info, SEQ_BEGIN_ITERM2_IMAGE)) return WEBIMAGE_CHAFA_ITERM2;
    return WEBIMAGE_CHAFA_CELLS;
}

webimage_chafa *webimage_chafa_open(char *const *environment, bool cells, bool ascii) {
    webimage_chafa *chafa = calloc(1, sizeof *chafa);
    if (chafa == NULL) return NULL;
    chafa->info = environment == NULL ? chafa_term_info_new()
                                      : chafa_term_db_detect(chafa_term_db_get_default(), (char **)environment);
    chafa->mode = cells ? WEBIMAGE_CHAFA_CELLS : mode_of(chafa->info);
    chafa->canvas_mode = chafa->mode == WEBIMAGE_CHAFA_CELLS ? canvas_mode_of(chafa->info) : CANVAS_TRUECOLOR;
    chafa->symbols = chafa_symbol_map_new();
    chafa_symbol_map_add_by_tags(
        chafa->symbols, ascii ? SYMBOLS_ASCII | SYMBOLS_SPACE : SYMBOLS_BLOCK | SYMBOLS_BORDER | SYMBOLS_SPACE);
    chafa_symbol_map_remove_by_tags(chafa->symbols, SYMBOLS_WIDE);
    return chafa;
}

void webimage_chafa_close(webimage_chafa *chafa) {
    chafa_symbol_map_unref(chafa->symbols);
    chafa_term_info_unref(chafa->info);
    free(chafa);
}

webimage_chafa_mode webimage_chafa_get_mode(const webimage_chafa *chafa) { return chafa->mode; }

char *webimage_chafa_draw(
    webimage_chafa *chafa, int columns, int rows, int cell_width, int cell_height, const void *pixels, bool has_alpha,
    int width, int height, int bytes_per_row, size_t *count) {
    // libchafa's pixel modes have the values of webimage_chafa_mode.
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    chafa_canvas_config_set_geometry(config, columns, rows);
    chafa_canvas_config_set_cell_geometry(config, cell_width, cell_height);
    chafa_canvas_config_set_canvas_mode(config, chafa->canvas_mode);
    chafa_canvas_config_set_pixel_mode(config, (int)chafa->mode);
    chafa_canvas_config_set_symbol_map(config, chafa->symbols);
    chafa_canvas_config_set_optimizations(config, OPTIMIZATION_REUSE_ATTRIBUTES | OPTIMIZATION_REPEAT_CELLS);
    // Without colours, dots form shades; otherwise only outlines would remain.
    bool has_colors = chafa->canvas_mode != CANVAS_FGBG && chafa->canvas_mode != CANVAS_FGBG_BGFG;
    if (!has_colors) {
        chafa_canvas_config_set_dither_mode(config, DITHER_ORDERED);
        // With 0.75 and more, libchafa 1.14 draws dots in black areas.
        chafa_canvas_config_set_dither_intensity(config, 0.5f);
    }
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_config_unref(config);
    chafa_canvas_draw_all_pixels(
        canvas, has_alpha ? PIXEL_BGRA8_PREMULTIPLIED : PIXEL_RGB8, pixels, width, height, bytes_per_row);
    GString *text = chafa_canvas_print(canvas, chafa->info);
    chafa_canvas_unref(canvas);
    *count = text != NULL ? text->len : 0;
    return text != NULL ? g_string_free(text, false) : NULL;
}

void webimage_chafa_free(char *bytes) { g_free(bytes); }
