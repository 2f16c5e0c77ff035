#pragma once
#include <stddef.h>
#include <stdint.h>

/// The most bytes that `size` bytes can become when packed; 0 when there are too many.
size_t czstandard_bound(size_t size);

/// Packs `source_size` bytes as one frame of Zstandard. Returns its size, 0 when it does not fit `target_size` bytes.
size_t czstandard_pack(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size, int level);

/// Expands frames of Zstandard into exactly `target_size` bytes. Returns 1 on success, 0 when they are damaged or have
/// another size.
int czstandard_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size);
