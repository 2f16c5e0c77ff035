#include "common.h"

#include <webp/decode.h>

int cic_decode_webp(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    WebPBitstreamFeatures features;
    memset(image, 0, sizeof *image);
    if (WebPGetFeatures(data, size, &features) != VP8_STATUS_OK)
        return cic_fail(image->message, "the header is not a valid WebP header");
    if (features.width <= 0 || features.height <= 0) return cic_fail(image->message, "the image has no pixels");
    if (cic_check_size((uint64_t)features.width, (uint64_t)features.height, pixel_limit, image->message)) return 1;
    if (features.has_animation) return cic_fail(image->message, "animated WebP is not read; export a single frame");
    image->width = (uint32_t)features.width;
    image->height = (uint32_t)features.height;
    image->channels = features.has_alpha ? 4 : 3;
    if (header_only) return 0;
    size_t stride = (size_t)image->width * image->channels;
    image->pixels = calloc(image->height, stride);
    if (!image->pixels) return cic_fail(image->message, "not enough memory for the image");
    size_t total = stride * image->height;
    uint8_t *decoded = features.has_alpha ? WebPDecodeRGBAInto(data, size, image->pixels, total, (int)stride)
                                          : WebPDecodeRGBInto(data, size, image->pixels, total, (int)stride);
    if (decoded) return 0;
    free(image->pixels);
    image->pixels = NULL;
    return cic_fail(image->message, "the image data is damaged or cut short");
}
