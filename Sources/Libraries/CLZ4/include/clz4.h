#pragma once
#include <stddef.h>
#include <stdint.h>

/// Expands a block of LZ4 into exactly `target_size` bytes. Returns 1 on success, 0 when the block is damaged or has
/// another size.
int clz4_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size);

/// The most bytes that a block of `size` bytes can become; 0 when `size` is more than a block holds.
size_t clz4_bound(size_t size);

/// Packs `source_size` bytes as a block of LZ4. Returns its size, 0 when it does not fit `target_size` bytes.
size_t clz4_pack(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size);
