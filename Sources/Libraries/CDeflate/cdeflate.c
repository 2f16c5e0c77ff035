#include "cdeflate.h"
#include <limits.h>
#include <string.h>
#include <zlib.h>

int cdeflate_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size) {
    if (source_size > UINT_MAX || target_size > UINT_MAX) return 0;
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return 0;
    stream.next_in = (Bytef *)source;
    stream.avail_in = (uInt)source_size;
    stream.next_out = target;
    stream.avail_out = (uInt)target_size;
    int status = inflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    inflateEnd(&stream);
    return status == Z_STREAM_END && written == target_size;
}

uint32_t cdeflate_crc32(const uint8_t *bytes, size_t size) {
    uLong sum = crc32(0L, Z_NULL, 0);
    while (size > 0) {
        uInt part = size > INT_MAX ? INT_MAX : (uInt)size;
        sum = crc32(sum, bytes, part);
        bytes += part;
        size -= part;
    }
    return (uint32_t)sum;
}
