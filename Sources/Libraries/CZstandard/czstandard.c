#include "czstandard.h"
#include <zstd.h>

size_t czstandard_bound(size_t size) {
    size_t bound = ZSTD_compressBound(size);
    return ZSTD_isError(bound) ? 0 : bound;
}

size_t czstandard_pack(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size, int level) {
    size_t written = ZSTD_compress(target, target_size, source, source_size, level);
    return ZSTD_isError(written) ? 0 : written;
}

int czstandard_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size) {
    size_t written = ZSTD_decompress(target, target_size, source, source_size);
    return !ZSTD_isError(written) && written == target_size;
}
