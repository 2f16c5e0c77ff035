#include "common.h"

#include <CSharedLibrary.h>
#include <libheif/heif.h>

#define FUNCTIONS(X) \
    X(context_alloc) X(context_free) X(context_get_primary_image_handle) \
    X(context_read_from_memory_without_copy) X(decode_image) X(decoding_options_alloc) \
    X(decoding_options_free) X(image_get_height) X(image_get_plane_readonly) X(image_get_width) \
    X(image_handle_get_height) X(image_handle_get_width) X(image_handle_has_alpha_channel) \
    X(image_handle_is_premultiplied_alpha) X(image_handle_release) X(image_release) X(init)

#define CSL_FIELD(name) __typeof__(&heif_##name) name;
#define CSL_NAME(name) "heif_" #name,
CSL_LIBRARY(libheif, "libheif.so.1", "libheif1", FUNCTIONS, libheif.init(NULL))

static int fail(struct heif_context *context, struct heif_image_handle *handle, const char *text, char *message) {
    cic_fail(message, text && text[0] ? text : "the file is damaged or cut short");
    if (handle) libheif.image_handle_release(handle);
    libheif.context_free(context);
    return 1;
}

int cic_decode_heif(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    memset(image, 0, sizeof *image);
    const char *problem = libheif_problem();
    if (problem) return cic_fail(image->message, problem);
    struct heif_context *context = libheif.context_alloc();
    if (!context) return cic_fail(image->message, "libheif cannot be started");
    struct heif_image_handle *handle = NULL;
    struct heif_error error = libheif.context_read_from_memory_without_copy(context, data, size, NULL);
    if (error.code == heif_error_Ok) error = libheif.context_get_primary_image_handle(context, &handle);
    if (error.code != heif_error_Ok) return fail(context, handle, error.message, image->message);
    // Sizes as they are after the file's own cropping and turning.
    int width = libheif.image_handle_get_width(handle), height = libheif.image_handle_get_height(handle);
    if (cic_check_size(width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0, pixel_limit, image->message)) {
        libheif.image_handle_release(handle);
        libheif.context_free(context);
        return 1;
    }
    int has_alpha = libheif.image_handle_has_alpha_channel(handle);
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = has_alpha ? 4 : 3;
    image->is_premultiplied = has_alpha && libheif.image_handle_is_premultiplied_alpha(handle);
    if (header_only) {
        libheif.image_handle_release(handle);
        libheif.context_free(context);
        return 0;
    }
    struct heif_decoding_options *options = libheif.decoding_options_alloc();
    if (!options) return fail(context, handle, "not enough memory for the image", image->message);
    options->convert_hdr_to_8bit = 1;
    options->strict_decoding = 1;
    struct heif_image *decoded = NULL;
    error = libheif.decode_image(handle, &decoded, heif_colorspace_RGB,
                              has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, options);
    libheif.decoding_options_free(options);
    if (error.code != heif_error_Ok) return fail(context, handle, error.message, image->message);
    int stride = 0;
    const uint8_t *rows = libheif.image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
    int known = libheif.image_get_width(decoded, heif_channel_interleaved) == width &&
                libheif.image_get_height(decoded, heif_channel_interleaved) == height;
    size_t line = (size_t)width * image->channels;
    if (!rows || !known || stride < 0 || (size_t)stride < line) {
        libheif.image_release(decoded);
        return fail(context, handle, "the picture has other extents than the file says", image->message);
    }
    image->pixels = malloc(line * (size_t)height);
    if (image->pixels)
        for (int y = 0; y < height; y++) memcpy(image->pixels + line * (size_t)y, rows + (size_t)stride * (size_t)y, line);
    libheif.image_release(decoded);
    if (!image->pixels) return fail(context, handle, "not enough memory for the image", image->message);
    libheif.image_handle_release(handle);
    libheif.context_free(context);
    return 0;
}
