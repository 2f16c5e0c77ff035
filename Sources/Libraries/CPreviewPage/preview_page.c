#include "preview_page.h"

/* #embed is C23, and the oldest compiler that builds this package has it. */
#pragma clang diagnostic ignored "-Wc23-extensions"

#define TEXT "; charset=utf-8"

static const unsigned char page_html[] = {
#embed "page/page.html"
};
static const unsigned char page_css[] = {
#embed "page/page.css"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};

/* A module of the page's program. */
#define MODULE(name) {"/" #name ".js", "text/javascript" TEXT, name##_js, sizeof name##_js}

static const unsigned char page_js[] = {
#embed "page/page.js"
};
static const unsigned char exchange_js[] = {
#embed "page/exchange.js"
};
static const unsigned char elements_js[] = {
#embed "page/elements.js"
};
static const unsigned char editors_js[] = {
#embed "page/editors.js"
};
static const unsigned char picture_js[] = {
#embed "page/picture.js"
};
static const unsigned char sound_js[] = {
#embed "page/sound.js"
};
static const unsigned char recorder_js[] = {
#embed "page/recorder.js"
};
static const unsigned char arrays_js[] = {
#embed "page/arrays.js"
};
static const unsigned char views_js[] = {
#embed "page/views.js"
};
static const unsigned char overlays_js[] = {
#embed "page/overlays.js"
};
static const unsigned char plots_js[] = {
#embed "page/plots.js"
};
static const unsigned char teaching_js[] = {
#embed "page/teaching.js"
};
static const unsigned char beside_js[] = {
#embed "page/beside.js"
};

static const struct preview_asset assets[] = {
    {"/", "text/html" TEXT, page_html, sizeof page_html},
    {"/page.css", "text/css" TEXT, page_css, sizeof page_css},
    {"/icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
    MODULE(page),
    MODULE(exchange),
    MODULE(elements),
    MODULE(editors),
    MODULE(picture),
    MODULE(sound),
    MODULE(recorder),
    MODULE(arrays),
    MODULE(views),
    MODULE(overlays),
    MODULE(plots),
    MODULE(teaching),
    MODULE(beside),
};

const struct preview_asset *preview_asset(unsigned long index) {
    return index < sizeof assets / sizeof assets[0] ? &assets[index] : 0;
}
