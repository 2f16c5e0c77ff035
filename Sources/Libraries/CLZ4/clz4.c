#include "clz4.h"
#include <limits.h>
#include <lz4.h>

int clz4_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size) {
    if (source_size > INT_MAX || target_size > INT_MAX) return 0;
    int written = LZ4_decompress_safe((const char *)source, (char *)target, (int)source_size, (int)target_size);
    return written >= 0 && (size_t)written == target_size;
}

size_t clz4_bound(size_t size) { return size > LZ4_MAX_INPUT_SIZE ? 0 : (size_t)LZ4_compressBound((int)size); }

size_t clz4_pack(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size) {
    if (source_size > LZ4_MAX_INPUT_SIZE || target_size > INT_MAX) return 0;
    int written = LZ4_compress_default((const char *)source, (char *)target, (int)source_size, (int)target_size);
    return written > 0 ? (size_t)written : 0;
}
