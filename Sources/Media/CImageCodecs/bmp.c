#include "common.h"

/// Device-independent bitmaps as Microsoft documents them (BITMAPCOREHEADER, BITMAPINFOHEADER and its successors, and
/// OS/2's): 1, 4, 8, 16, 24 and 32 bits, palettes, bit fields and run-length encoding.
typedef struct {
    const uint8_t *data;
    size_t size;
    /// The offset of the pixels.
    size_t offset;
    uint32_t width, height, bits, compression;
    int is_top_down;
    /// Red, green, blue, alpha; 0 for a part that is not there.
    uint32_t masks[4];
    uint8_t palette[256][3];
    uint32_t color_count;
} bitmap;

enum { plain = 0, rle8 = 1, rle4 = 2, bit_fields = 3, alpha_bit_fields = 6 };

static uint32_t number(const bitmap *from, size_t place, unsigned bytes) {
    uint32_t result = 0;
    for (unsigned index = bytes; index-- > 0;) result = result << 8 | from->data[place + index];
    return result;
}

static int read_palette(bitmap *from, size_t place, uint32_t count, unsigned entry, char *message) {
    if (from->bits > 8) return 0;
    uint32_t most = 1u << from->bits;
    from->color_count = count == 0 || count > most ? most : count;
    // Writers of small palettes may begin the pixels where a whole one would still go on.
    if (place < from->offset && (from->offset - place) / entry < from->color_count)
        from->color_count = (uint32_t)((from->offset - place) / entry);
    if (place > from->size || (from->size - place) / entry < from->color_count)
        return cic_fail(message, "the file ends in the palette");
    for (uint32_t index = 0; index < from->color_count; index++)
        for (unsigned part = 0; part < 3; part++)
            from->palette[index][part] = from->data[place + (size_t)index * entry + 2 - part];
    return 0;
}

static int read_masks(bitmap *from, uint32_t header, char *message) {
    static const uint32_t usual16[] = {0x7C00, 0x03E0, 0x001F}, usual32[] = {0xFF0000, 0xFF00, 0xFF};
    if (from->bits != 16 && from->bits != 32) return 0;
    if (from->compression == plain) {
        memcpy(from->masks, from->bits == 16 ? usual16 : usual32, sizeof usual16);
        return 0;
    }
    // In the old header's files the masks follow it; newer headers hold them at the same place.
    unsigned count = header >= 56 || from->compression == alpha_bit_fields ? 4 : 3;
    if (from->size < 54 + 4 * (size_t)count) return cic_fail(message, "the file ends in the colour masks");
    for (unsigned part = 0; part < count; part++) from->masks[part] = number(from, 54 + 4 * part, 4);
    for (unsigned part = 0; part < 4; part++) {
        uint32_t mask = from->masks[part];
        uint32_t low = mask & (~mask + 1);
        if ((mask == 0 && part < 3) || (mask && ((mask / low) & (mask / low + 1))) ||
            (from->bits == 16 && mask > 0xFFFF))
            return cic_fail(message, "the colour masks are no runs of bits");
    }
    return 0;
}

static int read_header(bitmap *from, char *message) {
    if (from->size < 26) return cic_fail(message, "the file ends in its header");
    uint32_t header = number(from, 14, 4);
    from->offset = number(from, 10, 4);
    if (header == 12) {
        from->width = number(from, 18, 2);
        from->height = number(from, 20, 2);
        from->bits = number(from, 24, 2);
        if (from->bits != 1 && from->bits != 4 && from->bits != 8 && from->bits != 24)
            return cic_fail(message, "the number of bits of a pixel is none that this header has");
        return read_palette(from, 26, 0, 3, message);
    }
    if (header < 40 || header > 1024 || from->size < 14 + (size_t)header)
        return cic_fail(message, "the header is of no known kind or cut short");
    int32_t width = (int32_t)number(from, 18, 4), height = (int32_t)number(from, 22, 4);
    if (width < 0 || height == INT32_MIN) return cic_fail(message, "the extents are negative");
    from->width = (uint32_t)width;
    from->is_top_down = height < 0;
    from->height = (uint32_t)(height < 0 ? -height : height);
    from->bits = number(from, 28, 2);
    from->compression = number(from, 30, 4);
    int known;
    switch (from->compression) {
        case plain:
            known = from->bits == 1 || from->bits == 4 || from->bits == 8 || from->bits == 16 || from->bits == 24 ||
                    from->bits == 32;
            break;
        case rle8: known = from->bits == 8 && !from->is_top_down; break;
        case rle4: known = from->bits == 4 && !from->is_top_down; break;
        // OS/2 means another thing by 3.
        case bit_fields: known = (from->bits == 16 || from->bits == 32) && header != 64; break;
        case alpha_bit_fields: known = from->bits == 16 || from->bits == 32; break;
        default: known = 0;
    }
    if (!known) {
        snprintf(message, 200, "%u bits with compression %u are not read; save it without compression", from->bits,
                 from->compression);
        return 1;
    }
    size_t masks = header == 40 ? (from->compression == bit_fields ? 12 : from->compression == alpha_bit_fields ? 16 : 0)
                                : 0;
    if (read_masks(from, header, message)) return 1;
    return read_palette(from, 14 + (size_t)header + masks, number(from, 46, 4), 4, message);
}

/// One component of a pixel, spread over 0 … 255.
static uint8_t component(uint32_t pixel, uint32_t mask) {
    if (!mask) return 255;
    uint32_t low = mask & (~mask + 1);
    uint64_t most = mask / low, value = (pixel & mask) / low;
    return (uint8_t)((value * 255 + most / 2) / most);
}

static void put_color(const bitmap *from, uint32_t index, uint8_t *target, uint32_t channels) {
    static const uint8_t black[3] = {0, 0, 0};
    const uint8_t *color = index < from->color_count ? from->palette[index] : black;
    for (uint32_t part = 0; part < channels; part++) target[part] = color[part];
}

static int read_plain(const bitmap *from, cic_image *image) {
    uint64_t stride = ((uint64_t)from->width * from->bits + 31) / 32 * 4;
    if (from->offset > from->size || (from->size - from->offset) / stride < from->height)
        return cic_fail(image->message, "the image data is cut short");
    for (uint32_t y = 0; y < from->height; y++) {
        const uint8_t *row = from->data + from->offset + stride * (from->is_top_down ? y : from->height - 1 - y);
        uint8_t *target = image->pixels + (size_t)y * from->width * image->channels;
        for (uint32_t x = 0; x < from->width; x++, target += image->channels) {
            if (from->bits <= 8) {
                unsigned shift = 8 - from->bits - (x * from->bits) % 8;
                uint32_t index = row[(uint64_t)x * from->bits / 8] >> shift & ((1u << from->bits) - 1);
                put_color(from, index, target, image->channels);
            } else if (from->bits == 24) {
                for (unsigned part = 0; part < 3; part++) target[part] = row[3 * (size_t)x + 2 - part];
            } else {
                uint32_t pixel = 0;
                for (unsigned byte = from->bits / 8; byte-- > 0;)
                    pixel = pixel << 8 | row[(size_t)x * (from->bits / 8) + byte];
                for (uint32_t part = 0; part < image->channels; part++)
                    target[part] = component(pixel, from->masks[part]);
            }
        }
    }
    return 0;
}

/// Runs of equal pixels; those that are skipped have the palette's first colour.
static int read_runs(const bitmap *from, cic_image *image) {
    size_t place = from->offset;
    uint32_t x = 0, y = 0;
    unsigned in_byte = from->bits == 4 ? 2 : 1;
    for (size_t pixel = 0; pixel < (size_t)from->width * from->height; pixel++)
        put_color(from, 0, image->pixels + pixel * image->channels, image->channels);
    while (y < from->height) {
        if (place > from->size || from->size - place < 2) return cic_fail(image->message, "the image data is cut short");
        uint32_t count = from->data[place], value = from->data[place + 1];
        place += 2;
        size_t bytes = 0;
        if (count == 0 && value == 0) {
            x = 0;
            y += 1;
            continue;
        }
        if (count == 0 && value == 1) return 0;
        if (count == 0 && value == 2) {
            if (from->size - place < 2) return cic_fail(image->message, "the image data is cut short");
            x += from->data[place];
            y += from->data[place + 1];
            place += 2;
            continue;
        }
        int is_literal = count == 0;
        if (is_literal) {
            count = value;
            bytes = (count + in_byte - 1) / in_byte;
            if (from->size - place < bytes) return cic_fail(image->message, "the image data is cut short");
        }
        for (uint32_t index = 0; index < count; index++, x++) {
            uint32_t byte = is_literal ? from->data[place + index / in_byte] : value;
            uint32_t color = in_byte == 1 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15;
            if (x >= from->width) continue;
            size_t pixel = (size_t)(from->height - 1 - y) * from->width + x;
            put_color(from, color, image->pixels + pixel * image->channels, image->channels);
        }
        // Literal runs are padded to whole pairs of bytes.
        place += bytes + bytes % 2;
    }
    return 0;
}

int cic_decode_bmp(const uint8_t *data, size_t size, uint64_t pixel_limit, int header_only, cic_image *image) {
    bitmap from;
    memset(image, 0, sizeof *image);
    memset(&from, 0, sizeof from);
    from.data = data;
    from.size = size;
    if (read_header(&from, image->message)) return 1;
    if (cic_check_size(from.width, from.height, pixel_limit, image->message)) return 1;
    int is_gray = from.bits <= 8;
    for (uint32_t index = 0; is_gray && index < from.color_count; index++) {
        const uint8_t *color = from.palette[index];
        is_gray = color[0] == color[1] && color[1] == color[2];
    }
    image->width = from.width;
    image->height = from.height;
    image->channels = is_gray ? 1 : from.masks[3] ? 4 : 3;
    if (header_only) return 0;
    image->pixels = calloc(image->height, (size_t)image->width * image->channels);
    if (!image->pixels) return cic_fail(image->message, "not enough memory for the image");
    int failed = from.compression == rle8 || from.compression == rle4 ? read_runs(&from, image) : read_plain(&from, image);
    if (failed) {
        free(image->pixels);
        image->pixels = NULL;
    }
    return failed;
}
