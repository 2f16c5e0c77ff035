#include "common.h"

#include <gif_lib.h>

typedef struct {
    const uint8_t *data;
    size_t size, position;
} source;

static int read_bytes(GifFileType *file, GifByteType *target, int count) {
    source *from = file->UserData;
    size_t left = from->size - from->position;
    size_t taken = count < 0 ? 0 : (size_t)count < left ? (size_t)count : left;
    memcpy(target, from->data + from->position, taken);
    from->position += taken;
    return (int)taken;
}

static int fail(GifFileType *file, int error, char *message) {
    const char *text = GifErrorString(file ? file->Error : error);
    cic_fail(message, text ? text : "the file is damaged or cut short");
    if (file) DGifCloseFile(file, NULL);
    return 1;
}

/// Goes on to the first picture; `transparent` becomes the index of the colour that is not painted, or -1.
/// 0 when there is a picture.
static int find_picture(GifFileType *file, int *transparent) {
    GifRecordType type;
    *transparent = -1;
    for (;;) {
        if (DGifGetRecordType(file, &type) != GIF_OK) return 1;
        if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(file) != GIF_OK;
        if (type == TERMINATE_RECORD_TYPE) {
            file->Error = D_GIF_ERR_NO_IMAG_DSCR;
            return 1;
        }
        if (type != EXTENSION_RECORD_TYPE) continue;
        int code;
        GifByteType *block;
        if (DGifGetExtension(file, &code, &block) != GIF_OK) return 1;
        while (block) {
            // Bytes of a block stand behind their number.
            if (code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4) *transparent = block[1] & 1 ? block[4] : -1;
            if (DGifGetExtensionNext(file, &block) != GIF_OK) return 1;
        }
    }
}

/// Reads the lines of the picture onto the canvas, which holds `channels` bytes for each pixel.
static int read_lines(GifFileType *file, const ColorMapObject *colors, int transparent, cic_image *image) {
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    GifImageDesc place = file->Image;
    uint8_t *line = malloc((size_t)place.Width);
    if (!line) return 1;
    for (int pass = place.Interlace ? 0 : 3; pass < 4; pass++) {
        for (int y = place.Interlace ? starts[pass] : 0; y < place.Height; y += place.Interlace ? steps[pass] : 1) {
            if (DGifGetLine(file, line, place.Width) != GIF_OK) {
                free(line);
                return 1;
            }
            if ((uint32_t)(place.Top + y) >= image->height) continue;
            for (int x = 0; x < place.Width && (uint32_t)(place.Left + x) < image->width; x++) {
                if (line[x] == transparent) continue;
                size_t pixel = (size_t)(place.Top + y) * image->width + (size_t)(place.Left + x);
                uint8_t *target = image->pixels + pixel * image->channels;
                GifColorType color = {0, 0, 0};
                if (line[x] < colors->ColorCount) color = colors->Colors[line[x]];
                *target++ = color.Red;
                if (image->channels > 2) {
                    *target++ = color.Green;
                    *target++ = color.Blue;
                }
                if (image->channels % 2 == 0) *target = 255;
            }
        }
    }
    free(line);
    return 0;
}

int cic_decode_gif(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    source from = {data, size, 0};
    int error = 0, transparent;
    memset(image, 0, sizeof *image);
    GifFileType *file = DGifOpen(&from, read_bytes, &error);
    if (!file || find_picture(file, &transparent)) return fail(file, error, image->message);
    GifImageDesc place = file->Image;
    ColorMapObject *colors = place.ColorMap ? place.ColorMap : file->SColorMap;
    // Some writers leave the canvas empty.
    image->width = (uint32_t)(file->SWidth > 0 ? file->SWidth : place.Left + place.Width);
    image->height = (uint32_t)(file->SHeight > 0 ? file->SHeight : place.Top + place.Height);
    int problem = cic_check_size(image->width, image->height, pixel_limit, image->message);
    if (!problem && (place.Left < 0 || place.Top < 0 || place.Width <= 0 || place.Height <= 0))
        problem = cic_fail(image->message, "the first picture has no pixels");
    if (!problem && (!colors || !colors->Colors)) problem = cic_fail(image->message, "the picture has no colours");
    if (problem) {
        DGifCloseFile(file, NULL);
        return 1;
    }
    int is_gray = 1;
    for (int index = 0; index < colors->ColorCount; index++) {
        GifColorType color = colors->Colors[index];
        is_gray = is_gray && color.Red == color.Green && color.Green == color.Blue;
    }
    int covers = place.Left == 0 && place.Top == 0 && (uint32_t)place.Width >= image->width &&
                 (uint32_t)place.Height >= image->height;
    image->channels = (is_gray ? 1 : 3) + (transparent >= 0 || !covers ? 1 : 0);
    if (!header_only) {
        image->pixels = calloc(image->height, (size_t)image->width * image->channels);
        if (!image->pixels) {
            DGifCloseFile(file, NULL);
            return cic_fail(image->message, "not enough memory for the image");
        }
        if (read_lines(file, colors, transparent, image)) {
            free(image->pixels);
            image->pixels = NULL;
            return fail(file, error, image->message);
        }
    }
    DGifCloseFile(file, NULL);
    return 0;
}
