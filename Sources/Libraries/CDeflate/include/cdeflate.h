#pragma once
#include <stddef.h>
#include <stdint.h>

/// Expands a raw DEFLATE stream into exactly `target_size` bytes. Returns 1 on success, 0 when the stream is damaged or
/// has another size.
int cdeflate_expand(const uint8_t *source, size_t source_size, uint8_t *target, size_t target_size);

/// The CRC-32 of `size` bytes.
uint32_t cdeflate_crc32(const uint8_t *bytes, size_t size);
