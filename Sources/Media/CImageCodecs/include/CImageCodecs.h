// A C face of libjpeg, libpng, libwebp, libtiff, giflib and libheif, and a reader of BMP. Errors are returned, never jumped or aborted: setjmp stays inside.
#ifndef CIMAGECODECS_H
#define CIMAGECODECS_H

#include <stddef.h>
#include <stdint.h>

/// A decoded picture. `channels`: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA, 8 bits each, rows without gaps; alpha is
/// straight unless `is_premultiplied`. `orientation` is Exif's number where the format has a place of its own for it, 0
/// elsewhere. `pixels` is owned by the receiver (cic_free). `message` says what went wrong.
typedef struct {
    uint8_t *pixels;
    uint32_t width, height, channels;
    uint32_t is_premultiplied, orientation;
    char message[200];
} cic_image;

/// An encoded file, owned by the receiver (cic_free).
typedef struct {
    uint8_t *bytes;
    size_t size;
    char message[200];
} cic_bytes;

/// The functions return 0 on success. With `header_only`, only sizes and channels are filled in.
/// Pictures of more than `pixel_limit` pixels are refused. Of several pictures in a file the first is read: a TIFF's first
/// page, a GIF's first frame on its canvas, a HEIF file's primary picture, which is cropped and turned as the file says.
int cic_decode_jpeg(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_png(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_webp(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_tiff(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_gif(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_bmp(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);
int cic_decode_heif(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image);

/// `channels` as in `cic_image`; JPEG takes 1 and 3. `quality` is 1…100.
int cic_encode_jpeg(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, int quality,
                    cic_bytes *result);
int cic_encode_png(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, cic_bytes *result);

void cic_free(void *memory);

#endif
