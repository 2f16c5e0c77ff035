// The part of Pango that the pages need: its headers lie where only pkg-config finds them, whose flags would also link it.
// Declared after https://docs.gtk.org/Pango/ and https://docs.gtk.org/PangoCairo/, whose binary interface is stable since 1.44.
#pragma once

#include <cairo/cairo.h>

typedef struct PangoContext PangoContext;
typedef struct PangoFontDescription PangoFontDescription;
typedef struct PangoLanguage PangoLanguage;
typedef struct PangoLayout PangoLayout;
typedef struct PangoLayoutLine PangoLayoutLine;

// In units of 1/PANGO_SCALE.
typedef struct {
    int x, y, width, height;
} PangoRectangle;

enum { PANGO_SCALE = 1024 };
enum { PANGO_WEIGHT_NORMAL = 400, PANGO_WEIGHT_BOLD = 700 };
enum { PANGO_ELLIPSIZE_MIDDLE = 2, PANGO_ELLIPSIZE_END = 3 };

// Each function as X(result, name, parameters).
#define PANGO_FUNCTIONS(X) \
    X(void, g_object_unref, (void *)) \
    X(void, pango_cairo_context_set_font_options, (PangoContext *, const cairo_font_options_t *)) \
    X(PangoContext *, pango_cairo_create_context, (cairo_t *)) \
    X(void, pango_cairo_show_layout_line, (cairo_t *, PangoLayoutLine *)) \
    X(void, pango_context_set_language, (PangoContext *, PangoLanguage *)) \
    X(void, pango_context_set_round_glyph_positions, (PangoContext *, int)) \
    X(void, pango_font_description_free, (PangoFontDescription *)) \
    X(PangoFontDescription *, pango_font_description_from_string, (const char *)) \
    X(void, pango_font_description_set_absolute_size, (PangoFontDescription *, double)) \
    X(void, pango_font_description_set_weight, (PangoFontDescription *, int)) \
    X(PangoLanguage *, pango_language_from_string, (const char *)) \
    X(PangoLayoutLine *, pango_layout_get_line_readonly, (PangoLayout *, int)) \
    X(int, pango_layout_get_unknown_glyphs_count, (PangoLayout *)) \
    X(void, pango_layout_line_get_extents, (PangoLayoutLine *, PangoRectangle *ink, PangoRectangle *logical)) \
    X(PangoLayout *, pango_layout_new, (PangoContext *)) \
    X(void, pango_layout_set_ellipsize, (PangoLayout *, int)) \
    X(void, pango_layout_set_font_description, (PangoLayout *, const PangoFontDescription *)) \
    X(void, pango_layout_set_single_paragraph_mode, (PangoLayout *, int)) \
    X(void, pango_layout_set_text, (PangoLayout *, const char *, int length)) \
    X(void, pango_layout_set_width, (PangoLayout *, int))
