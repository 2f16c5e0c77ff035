#ifndef PREVIEW_PAGE_H
#define PREVIEW_PAGE_H

/// A file of the page that `coreml preview` serves.
struct preview_asset {
    /// Under which path it is served.
    const char *path;
    /// Its media type.
    const char *type;
    const unsigned char *bytes;
    unsigned long count;
};

/// The file with the given number, counted from 0; NULL beyond the last.
const struct preview_asset *preview_asset(unsigned long index);

#endif
