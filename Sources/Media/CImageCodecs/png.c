#include "common.h"

#include <png.h>

typedef struct {
    const uint8_t *data;
    size_t size, position;
} source;

typedef struct {
    cic_bytes *result;
    size_t capacity;
} sink;

static void on_error(png_structp png, png_const_charp text) {
    cic_fail((char *)png_get_error_ptr(png), text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void read_bytes(png_structp png, png_bytep target, size_t count) {
    source *from = png_get_io_ptr(png);
    if (count > from->size - from->position) png_error(png, "the file ends too early");
    memcpy(target, from->data + from->position, count);
    from->position += count;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t count) {
    sink *to = png_get_io_ptr(png);
    if (to->result->size + count > to->capacity) {
        size_t capacity = (to->result->size + count) * 2;
        uint8_t *grown = realloc(to->result->bytes, capacity);
        if (!grown) png_error(png, "not enough memory for the file");
        to->result->bytes = grown;
        to->capacity = capacity;
    }
    memcpy(to->result->bytes + to->result->size, bytes, count);
    to->result->size += count;
}

static void flush_bytes(png_structp png) { (void)png; }

int cic_decode_png(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    source from = {data, size, 0};
    memset(image, 0, sizeof *image);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, image->message, on_error, on_warning);
    if (!png) return cic_fail(image->message, "libpng cannot be started");
    png_infop info = png_create_info_struct(png);
    png_bytep *volatile rows = NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        free(rows);
        free(image->pixels);
        image->pixels = NULL;
        return 1;
    }
    png_set_read_fn(png, &from, read_bytes);
    png_set_user_limits(png, 1u << 24, 1u << 24);
    png_set_chunk_cache_max(png, 64);
    png_set_chunk_malloc_max(png, 8u << 20);
    png_read_info(png, info);

    int has_transparency = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    if (cic_check_size(png_get_image_width(png, info), png_get_image_height(png, info), pixel_limit, image->message))
        png_longjmp(png, 1);
    png_set_expand(png);
    if (has_transparency) png_set_tRNS_to_alpha(png);
    png_set_scale_16(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    image->width = png_get_image_width(png, info);
    image->height = png_get_image_height(png, info);
    image->channels = png_get_channels(png, info);
    if (!header_only) {
        size_t stride = png_get_rowbytes(png, info);
        if (stride != (size_t)image->width * image->channels) png_error(png, "unexpected pixel layout");
        image->pixels = calloc(image->height, stride);
        rows = malloc(sizeof(png_bytep) * image->height);
        if (!image->pixels || !rows) png_error(png, "not enough memory for the image");
        for (uint32_t y = 0; y < image->height; y++) rows[y] = image->pixels + stride * y;
        png_read_image(png, rows);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    return 0;
}

int cic_encode_png(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, cic_bytes *result) {
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    sink to = {result, 0};
    memset(result, 0, sizeof *result);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, result->message, on_error, on_warning);
    if (!png) return cic_fail(result->message, "libpng cannot be started");
    png_infop info = png_create_info_struct(png);
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        free(result->bytes);
        result->bytes = NULL;
        return 1;
    }
    png_set_write_fn(png, &to, write_bytes, flush_bytes);
    png_set_user_limits(png, 1u << 24, 1u << 24);
    png_set_IHDR(png, info, width, height, 8, types[channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++) png_write_row(png, pixels + (size_t)y * width * channels);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return 0;
}
