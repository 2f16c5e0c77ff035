#include "common.h"

#include <CSharedLibrary.h>
#include <stdarg.h>
#include <tiffio.h>

#define FUNCTIONS(X) \
    X(ClientOpenExt) X(Close) X(GetField) X(GetFieldDefaulted) X(OpenOptionsAlloc) X(OpenOptionsFree) \
    X(OpenOptionsSetErrorHandlerExtR) X(OpenOptionsSetMaxSingleMemAlloc) X(OpenOptionsSetWarningHandlerExtR) \
    X(RGBAImageBegin) X(RGBAImageEnd) X(RGBAImageGet) X(RGBAImageOK) X(SetField)

#define CSL_FIELD(name) __typeof__(&TIFF##name) name;
#define CSL_NAME(name) "TIFF" #name,
CSL_LIBRARY(libtiff, "libtiff.so.6", "libtiff6", FUNCTIONS, 0)

typedef struct {
    const uint8_t *data;
    uint64_t size, position;
    char *message;
} source;

static tmsize_t read_bytes(thandle_t handle, void *target, tmsize_t count) {
    source *from = handle;
    if (count <= 0 || from->position >= from->size) return 0;
    uint64_t left = from->size - from->position;
    uint64_t taken = (uint64_t)count < left ? (uint64_t)count : left;
    memcpy(target, from->data + from->position, taken);
    from->position += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t count) {
    (void)handle, (void)bytes, (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    source *from = handle;
    if (whence == SEEK_CUR) offset += from->position;
    if (whence == SEEK_END) offset += from->size;
    return from->position = offset;
}

static toff_t size_of(thandle_t handle) { return ((source *)handle)->size; }

static int close_source(thandle_t handle) {
    (void)handle;
    return 0;
}

/// The file is in memory: libtiff need not copy it.  (Its version 4.5 refuses tiles that are not compressed, unless
/// their size is a multiple of 1024 bytes, when it has to.)
static int map(thandle_t handle, void **base, toff_t *size) {
    source *from = handle;
    *base = (void *)(uintptr_t)from->data;
    *size = from->size;
    return 1;
}

static void unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

/// Keeps the first error, which is the cause of those that follow.
static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    char *message = user;
    (void)tiff, (void)module;
    if (!message[0]) vsnprintf(message, 200, format, arguments);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
    return 1;
}

/// Opens the first page of a file.
static TIFF *open_source(source *from) {
    TIFFOpenOptions *options = libtiff.OpenOptionsAlloc();
    if (!options) return NULL;
    libtiff.OpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)1 << 30);
    libtiff.OpenOptionsSetErrorHandlerExtR(options, on_error, from->message);
    libtiff.OpenOptionsSetWarningHandlerExtR(options, on_warning, NULL);
    TIFF *tiff = libtiff.ClientOpenExt("image", "r", from, read_bytes, write_bytes, seek, close_source, size_of, map,
                                   unmap, options);
    libtiff.OpenOptionsFree(options);
    return tiff;
}

/// Fills in sizes, channels and orientation; 0 when the picture can be read.
static int read_header(TIFF *tiff, uint64_t pixel_limit, cic_image *image) {
    uint32_t width = 0, height = 0;
    uint16_t photometric = 0, bits = 1, orientation = ORIENTATION_TOPLEFT, extra_count = 0, *extra = NULL;
    char reason[1024] = "";
    libtiff.GetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    libtiff.GetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    if (cic_check_size(width, height, pixel_limit, image->message)) return 1;
    if (!libtiff.RGBAImageOK(tiff, reason)) return cic_fail(image->message, reason);
    libtiff.GetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    libtiff.GetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    libtiff.GetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra_count, &extra);
    libtiff.GetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    int is_gray = photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
    int is_rgb = photometric == PHOTOMETRIC_RGB;
    int has_alpha = extra_count > 0 && (extra[0] == EXTRASAMPLE_ASSOCALPHA || extra[0] == EXTRASAMPLE_UNASSALPHA) &&
                    (is_gray || is_rgb);
    if (is_gray && has_alpha && bits != 8)
        return cic_fail(image->message, "grey with transparency is read with 8 bits only");
    image->width = width;
    image->height = height;
    image->channels = (is_gray ? 1 : 3) + (has_alpha ? 1 : 0);
    image->is_premultiplied = has_alpha && extra[0] == EXTRASAMPLE_ASSOCALPHA;
    image->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    if (has_alpha && !image->is_premultiplied) {
        // libtiff would multiply straight colours by alpha and round; what is called premultiplied it leaves alone.
        uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
        libtiff.SetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
    }
    return 0;
}

int cic_decode_tiff(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    memset(image, 0, sizeof *image);
    const char *problem = libtiff_problem();
    if (problem) return cic_fail(image->message, problem);
    source from = {data, size, 0, image->message};
    TIFF *tiff = open_source(&from);
    if (!tiff) return image->message[0] ? 1 : cic_fail(image->message, "the file has no readable directory");
    if (read_header(tiff, pixel_limit, image)) {
        libtiff.Close(tiff);
        return 1;
    }
    if (header_only) {
        libtiff.Close(tiff);
        image->message[0] = 0;
        return 0;
    }
    size_t count = (size_t)image->width * image->height;
    uint32_t *raster = calloc(count, sizeof *raster);
    TIFFRGBAImage reader;
    char reason[1024] = "";
    int done = 0;
    image->message[0] = 0;
    if (!raster) {
        cic_fail(image->message, "not enough memory for the image");
    } else if (!libtiff.RGBAImageBegin(&reader, tiff, 1, reason)) {
        cic_fail(image->message, reason);
    } else {
        // The pixels as they are stored: callers turn them.
        reader.orientation = ORIENTATION_TOPLEFT;
        reader.req_orientation = ORIENTATION_TOPLEFT;
        done = libtiff.RGBAImageGet(&reader, raster, image->width, image->height) && !image->message[0];
        libtiff.RGBAImageEnd(&reader);
    }
    libtiff.Close(tiff);
    if (!done) {
        free(raster);
        return image->message[0] ? 1 : cic_fail(image->message, "the image data is damaged or cut short");
    }
    // The raster's words become bytes in place: no pixel has more channels than bytes in a word.
    uint8_t *pixels = (uint8_t *)raster, *target = pixels;
    for (size_t index = 0; index < count; index++) {
        uint32_t word = raster[index];
        uint8_t parts[4] = {TIFFGetR(word), TIFFGetG(word), TIFFGetB(word), TIFFGetA(word)};
        if (image->channels < 3) {
            *target++ = parts[0];
            if (image->channels == 2) *target++ = parts[3];
        } else {
            for (uint32_t part = 0; part < image->channels; part++) *target++ = parts[part];
        }
    }
    image->pixels = pixels;
    return 0;
}
