#include "CDrawing.h"

#include <CSharedLibrary.h>
#include <cairo/cairo-pdf.h>
#include <cairo/cairo-svg.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pango.h"

// Pango's library for cairo brings both, and the objects of GLib.
#define LIBRARY "libpangocairo-1.0.so.0"
#define PACKAGE "libpangocairo-1.0-0"

#define CAIRO_FUNCTIONS(X) \
    X(clip) X(create) X(destroy) X(fill) X(font_options_create) X(font_options_destroy) \
    X(font_options_set_antialias) X(font_options_set_hint_metrics) X(font_options_set_hint_style) \
    X(image_surface_create) X(line_to) X(move_to) X(paint) X(pdf_surface_create_for_stream) X(rectangle) \
    X(restore) X(rotate) X(save) X(scale) X(set_line_cap) X(set_line_join) X(set_line_width) \
    X(set_source_rgb) X(set_source_rgba) X(status) X(status_to_string) X(stroke) X(surface_destroy) \
    X(surface_finish) X(surface_flush) X(surface_status) X(surface_write_to_png_stream) \
    X(svg_surface_create_for_stream) X(translate)

#define CSL_FIELD(name) __typeof__(&cairo_##name) name;
#define CSL_NAME(name) "cairo_" #name,
CSL_LIBRARY(libcairo, LIBRARY, PACKAGE, CAIRO_FUNCTIONS, 0)
#undef CSL_FIELD
#undef CSL_NAME

#define CSL_FIELD(result, name, parameters) result(*name) parameters;
#define CSL_NAME(result, name, parameters) #name,
CSL_LIBRARY(libpango, LIBRARY, PACKAGE, PANGO_FUNCTIONS, 0)

const char *cdr_problem(void) {
    const char *problem = libcairo_problem();
    return problem ? problem : libpango_problem();
}

// Fonts that are looked in first; fontconfig finds others for what they lack.
static const char families[] = "Noto Sans, DejaVu Sans, sans-serif";

struct cdr_page {
    cdr_form form;
    cairo_surface_t *surface;
    cairo_t *cairo;
    PangoContext *context;
    uint8_t *bytes;
    size_t count, capacity;
};

static cairo_status_t append(void *closure, const unsigned char *data, unsigned int length) {
    cdr_page *page = closure;
    if (page->capacity - page->count < length) {
        size_t capacity = page->capacity * 2 + length + 4096;
        uint8_t *bytes = realloc(page->bytes, capacity);
        if (!bytes) return CAIRO_STATUS_NO_MEMORY;
        page->bytes = bytes;
        page->capacity = capacity;
    }
    memcpy(page->bytes + page->count, data, length);
    page->count += length;
    return CAIRO_STATUS_SUCCESS;
}

static int pixels(double extent) { return extent >= 1 && extent < INT_MAX ? (int)ceil(extent) : 1; }

cdr_page *cdr_open(cdr_form form, double width, double height, double scale) {
    cdr_page *page = calloc(1, sizeof *page);
    if (!page) return NULL;
    page->form = form;
    switch (form) {
    case CDR_PNG:
        page->surface = libcairo.image_surface_create(CAIRO_FORMAT_RGB24, pixels(width * scale), pixels(height * scale));
        break;
    case CDR_SVG:
        page->surface = libcairo.svg_surface_create_for_stream(append, page, width, height);
        break;
    case CDR_PDF:
        page->surface = libcairo.pdf_surface_create_for_stream(append, page, width, height);
        break;
    }
    page->cairo = libcairo.create(page->surface);
    if (form == CDR_PNG) libcairo.scale(page->cairo, scale, scale);
    libcairo.set_source_rgb(page->cairo, 1, 1, 1);
    libcairo.paint(page->cairo);
    libcairo.set_line_cap(page->cairo, CAIRO_LINE_CAP_ROUND);
    libcairo.set_line_join(page->cairo, CAIRO_LINE_JOIN_ROUND);

    // Letters stand where they would on paper, whatever the form: nothing is brought to whole pixels.
    page->context = libpango.pango_cairo_create_context(page->cairo);
    cairo_font_options_t *options = libcairo.font_options_create();
    libcairo.font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    libcairo.font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    libcairo.font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    libpango.pango_cairo_context_set_font_options(page->context, options);
    libcairo.font_options_destroy(options);
    libpango.pango_context_set_language(page->context, libpango.pango_language_from_string("en"));
    libpango.pango_context_set_round_glyph_positions(page->context, 0);
    return page;
}

void cdr_close(cdr_page *page) {
    libpango.g_object_unref(page->context);
    libcairo.destroy(page->cairo);
    libcairo.surface_finish(page->surface);
    libcairo.surface_destroy(page->surface);
    free(page->bytes);
    free(page);
}

const char *cdr_finish(cdr_page *page, const uint8_t **bytes, size_t *count) {
    cairo_status_t status = libcairo.status(page->cairo);
    if (!status) status = libcairo.surface_status(page->surface);
    if (!status && page->form == CDR_PNG) {
        libcairo.surface_flush(page->surface);
        status = libcairo.surface_write_to_png_stream(page->surface, append, page);
    }
    libcairo.surface_finish(page->surface);
    if (!status) status = libcairo.surface_status(page->surface);
    *bytes = page->bytes;
    *count = page->count;
    return status ? libcairo.status_to_string(status) : NULL;
}

static void set_colour(cdr_page *page, cdr_colour colour) {
    libcairo.set_source_rgba(page->cairo, colour.red, colour.green, colour.blue, colour.alpha);
}

void cdr_fill_rectangle(cdr_page *page, double x, double y, double width, double height, cdr_colour colour) {
    set_colour(page, colour);
    libcairo.rectangle(page->cairo, x, y, width, height);
    libcairo.fill(page->cairo);
}

void cdr_stroke(
    cdr_page *page, const double *points, const size_t *lengths, size_t lines, double width, cdr_colour colour) {
    set_colour(page, colour);
    libcairo.set_line_width(page->cairo, width);
    for (size_t line = 0; line < lines; line++) {
        for (size_t point = 0; point < lengths[line]; point++, points += 2) {
            if (point == 0) libcairo.move_to(page->cairo, points[0], points[1]);
            if (point > 0 || lengths[line] == 1) libcairo.line_to(page->cairo, points[0], points[1]);
        }
    }
    libcairo.stroke(page->cairo);
}

// MARK: Text

static PangoLayout *layout(cdr_page *page, const cdr_text *text) {
    PangoLayout *layout = libpango.pango_layout_new(page->context);
    PangoFontDescription *font = libpango.pango_font_description_from_string(families);
    libpango.pango_font_description_set_absolute_size(font, text->size * PANGO_SCALE);
    libpango.pango_font_description_set_weight(font, text->is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    libpango.pango_layout_set_font_description(layout, font);
    libpango.pango_font_description_free(font);
    libpango.pango_layout_set_single_paragraph_mode(layout, 1);
    libpango.pango_layout_set_text(layout, text->text, text->length < INT_MAX ? (int)text->length : INT_MAX);
    // Wide lines need no limit, and Pango's numbers have none for them.
    if (text->ellipsis != CDR_NEVER && text->limit < 1e6) {
        double limit = text->limit > 0 ? text->limit : 0;
        libpango.pango_layout_set_width(layout, (int)(limit * PANGO_SCALE));
        libpango.pango_layout_set_ellipsize(
            layout, text->ellipsis == CDR_IN_MIDDLE ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_END);
    } else {
        libpango.pango_layout_set_width(layout, -1);
    }
    return layout;
}

static double line_width(PangoLayoutLine *line) {
    PangoRectangle logical;
    libpango.pango_layout_line_get_extents(line, NULL, &logical);
    return (double)logical.width / PANGO_SCALE;
}

cdr_extent cdr_measure(cdr_page *page, const cdr_text *text) {
    PangoLayout *lines = layout(page, text);
    PangoLayoutLine *line = libpango.pango_layout_get_line_readonly(lines, 0);
    cdr_extent extent = {line ? line_width(line) : 0, (size_t)libpango.pango_layout_get_unknown_glyphs_count(lines)};
    libpango.g_object_unref(lines);
    return extent;
}

void cdr_write(
    cdr_page *page, const cdr_text *text, double x, double y, double alignment, int is_upright, cdr_colour colour) {
    PangoLayout *lines = layout(page, text);
    PangoLayoutLine *line = libpango.pango_layout_get_line_readonly(lines, 0);
    if (line) {
        cairo_t *cairo = page->cairo;
        libcairo.save(cairo);
        libcairo.translate(cairo, x, y);
        if (is_upright) libcairo.rotate(cairo, -M_PI / 2);
        double width = line_width(line);
        // Marks piled upon a letter stay within their line's room.
        libcairo.rectangle(cairo, -alignment * width - text->size, -1.5 * text->size, width + 2 * text->size, 2.2 * text->size);
        libcairo.clip(cairo);
        set_colour(page, colour);
        libcairo.move_to(cairo, -alignment * width, 0);
        libpango.pango_cairo_show_layout_line(cairo, line);
        libcairo.restore(cairo);
    }
    libpango.g_object_unref(lines);
}
