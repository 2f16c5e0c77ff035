#include "common.h"

#include <setjmp.h>
#include <jpeglib.h>

// Real progressive files have about ten scans; a forged one can have thousands, each costing a pass over the image.
enum { MAXIMUM_SCANS = 200 };

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf target;
    char *message;
} error_manager;

static void on_error(j_common_ptr info) {
    error_manager *manager = (error_manager *)info->err;
    char text[JMSG_LENGTH_MAX];
    manager->base.format_message(info, text);
    snprintf(manager->message, 200, "%.199s", text);
    longjmp(manager->target, 1);
}

static void on_message(j_common_ptr info) { (void)info; }

static void on_progress(j_common_ptr info) {
    if (info->is_decompressor && ((j_decompress_ptr)info)->input_scan_number > MAXIMUM_SCANS) {
        error_manager *manager = (error_manager *)info->err;
        cic_fail(manager->message, "the file has more scans than any real image");
        longjmp(manager->target, 1);
    }
}

static void install(error_manager *manager, j_common_ptr info, char *message) {
    info->err = jpeg_std_error(&manager->base);
    manager->base.error_exit = on_error;
    manager->base.output_message = on_message;
    manager->message = message;
}

// Turns a row of CMYK into RGB in place; Adobe's files store the inks inverted.
static void cmyk_to_rgb(uint8_t *row, uint32_t width, int inverted) {
    for (uint32_t x = 0; x < width; x++) {
        uint8_t *from = row + 4 * (size_t)x, *to = row + 3 * (size_t)x;
        unsigned inks[4];
        for (int i = 0; i < 4; i++) inks[i] = inverted ? from[i] : 255u - from[i];
        for (int i = 0; i < 3; i++) to[i] = (uint8_t)((inks[i] * inks[3] + 127) / 255);
    }
}

int cic_decode_jpeg(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    struct jpeg_decompress_struct info;
    struct jpeg_progress_mgr progress = {0};
    error_manager manager;
    uint8_t *volatile row = NULL;
    memset(image, 0, sizeof *image);
    memset(&info, 0, sizeof info);
    install(&manager, (j_common_ptr)&info, image->message);
    if (setjmp(manager.target)) {
        jpeg_destroy_decompress(&info);
        free(row);
        free(image->pixels);
        image->pixels = NULL;
        return 1;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, (unsigned long)size);
    jpeg_read_header(&info, TRUE);
    progress.progress_monitor = on_progress;
    info.progress = &progress;
    info.mem->max_memory_to_use = 1L << 30;

    int cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    int gray = info.jpeg_color_space == JCS_GRAYSCALE;
    info.out_color_space = cmyk ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    image->width = info.image_width;
    image->height = info.image_height;
    image->channels = gray ? 1 : 3;
    if (cic_check_size(image->width, image->height, pixel_limit, image->message)) {
        jpeg_destroy_decompress(&info);
        return 1;
    }
    if (header_only) {
        jpeg_destroy_decompress(&info);
        return 0;
    }
    size_t stride = (size_t)image->width * image->channels;
    image->pixels = calloc(image->height, stride);
    row = malloc((size_t)image->width * 4);
    if (!image->pixels || !row) {
        cic_fail(image->message, "not enough memory for the image");
        longjmp(manager.target, 1);
    }
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        uint8_t *target = image->pixels + stride * info.output_scanline;
        JSAMPROW rows[1] = {row};
        if (jpeg_read_scanlines(&info, rows, 1) != 1) break;
        if (cmyk) cmyk_to_rgb(row, image->width, info.saw_Adobe_marker);
        memcpy(target, row, stride);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    free(row);
    return 0;
}

int cic_encode_jpeg(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, int quality,
                    cic_bytes *result) {
    struct jpeg_compress_struct info;
    error_manager manager;
    unsigned char *buffer = NULL;
    unsigned long size = 0;
    memset(result, 0, sizeof *result);
    memset(&info, 0, sizeof info);
    install(&manager, (j_common_ptr)&info, result->message);
    if (setjmp(manager.target)) {
        jpeg_destroy_compress(&info);
        return 1;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &buffer, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = (int)channels;
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < height) {
        JSAMPROW rows[1] = {(JSAMPROW)(pixels + (size_t)info.next_scanline * width * channels)};
        jpeg_write_scanlines(&info, rows, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    result->bytes = buffer;
    result->size = size;
    return 0;
}

void cic_free(void *memory) { free(memory); }
