// A C face of libjpeg, libpng and libwebp. Errors are returned, never jumped or aborted: setjmp stays inside.
#ifndef CIMAGECODECS_H
#define CIMAGECODECS_H

#include <stddef.h>
#include <stdint.h>

/// A decoded picture. `channels`: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA, straight alpha, 8 bits each, rows without
/// gaps. `pixels` is owned by the receiver (cic_free). `message` says what went wrong.
typedef struct {
    uint8_t *pixels;
    uint32_t width, height, channels;
    char message[200];
} cic_image;

/// An encoded file, owned by the receiver (cic_free).
typedef struct {
    uint8_t *bytes;
    size_t size;
    char message[200];
} cic_bytes;

/// The functions return 0 on success. With `header_only`, only sizes and channels are filled in.
/// Pictures of more than `pixel_limit` pixels are refused.
int cic_decode_jpeg(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_png(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_webp(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);

/// `channels` as in `cic_image`; JPEG takes 1 and 3. `quality` is 1…100.
int cic_encode_jpeg(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, int quality,
                    cic_bytes *result);
int cic_encode_png(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, cic_bytes *result);

void cic_free(void *memory);

#endif
