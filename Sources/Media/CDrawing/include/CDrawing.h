// Pages with lines, areas and text of every script: cairo draws, Pango sets the text.
//
// Coordinates are those of a page whose origin is at the top left. One thread at a time may use a page.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum { CDR_PNG = 0, CDR_SVG = 1, CDR_PDF = 2 } cdr_form;

// Components from 0 to 1, not premultiplied.
typedef struct {
    double red, green, blue, alpha;
} cdr_colour;

typedef struct cdr_page cdr_page;

// Why nothing can be drawn, or NULL: cairo and Pango are opened by the first call, which comes before all others.
const char *cdr_problem(void);

// A white page. `scale` is what a unit is in pixels of a PNG; the other forms have points, and ignore it. NULL without
// memory; whatever else is wrong is said by cdr_finish.
cdr_page *cdr_open(cdr_form form, double width, double height, double scale);
void cdr_close(cdr_page *page);

// Ends the page and gives the file's bytes, which live until it is closed. NULL, or why there is no file.
const char *cdr_finish(cdr_page *page, const uint8_t **bytes, size_t *count);

void cdr_fill_rectangle(cdr_page *page, double x, double y, double width, double height, cdr_colour colour);

// Lines that are one figure: where they cross, the colour is not laid on twice. `points` are x and y of each point,
// line after line; `lengths` how many points each of the `lines` has. A line of one point is a disc.
void cdr_stroke(
    cdr_page *page, const double *points, const size_t *lengths, size_t lines, double width, cdr_colour colour);

typedef enum { CDR_NEVER = 0, CDR_AT_END = 1, CDR_IN_MIDDLE = 2 } cdr_ellipsis;

// One line of UTF-8 text, without control characters.
typedef struct {
    const char *text;
    size_t length;    // in bytes
    double size;      // of the font, in units of the page
    double limit;     // what the line may take; what is longer is cut by an ellipsis
    cdr_ellipsis ellipsis;
    int is_bold;
} cdr_text;

typedef struct {
    double width;
    size_t missing;  // characters that no font has, and which are drawn as boxes
} cdr_extent;

cdr_extent cdr_measure(cdr_page *page, const cdr_text *text);

// Writes with the letters' line at `y`, or with `is_upright` from the bottom to the top with that line at `x`.
// `alignment` is the part of the text's width that lies before the point: 0 left, 0.5 centred, 1 right.
void cdr_write(
    cdr_page *page, const cdr_text *text, double x, double y, double alignment, int is_upright, cdr_colour colour);
