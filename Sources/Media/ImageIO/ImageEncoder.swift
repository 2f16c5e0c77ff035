import CImageCodecs
package import MLImages
package import MLNumerics

/// Encodes bitmaps as PNG or JPEG.
package enum ImageEncoder {
    /// Encodes a PNG file: grey, RGB (when `isOpaque`), or RGBA with alpha that is not premultiplied.
    package static func png(_ bitmap: Bitmap, isOpaque: Bool) throws(ModelError) -> Data {
        switch bitmap.layout {
        case .gray:
            return try encode(bitmap.pixels, bitmap, channels: 1) { cic_encode_png($0, $1, $2, $3, $4) }
        case .rgba where isOpaque:
            return try encode(withoutAlpha(bitmap), bitmap, channels: 3) { cic_encode_png($0, $1, $2, $3, $4) }
        case .rgba:
            var pixels = bitmap.pixels
            for index in stride(from: 0, to: pixels.count, by: 4) where pixels[index + 3] != 255 {
                let alpha = UInt32(pixels[index + 3])
                for component in index..<index + 3 {
                    pixels[component] =
                        alpha == 0 ? 0 : UInt8(min((UInt32(pixels[component]) * 255 + alpha / 2) / alpha, 255))
                }
            }
            return try encode(pixels, bitmap, channels: 4) { cic_encode_png($0, $1, $2, $3, $4) }
        }
    }

    /// Encodes a JPEG file; alpha is dropped, so transparent pixels are blended over black.
    ///
    /// - Parameters:
    ///   - bitmap: The pixels.
    ///   - quality: From 0 (smallest file) to 1 (best), clamped; 0.85 when it is not a number.
    /// - Returns: The file's bytes.
    /// - Throws: `unsupported` for a side above 65,500 pixels, `io` when the encoder fails.
    package static func jpeg(_ bitmap: Bitmap, quality: Double) throws(ModelError) -> Data {
        let level = Int32(1 + (quality.isNaN ? 0.85 : min(max(quality, 0), 1)) * 99)
        guard bitmap.width <= 65500, bitmap.height <= 65500 else {
            throw ModelError(.unsupported, "JPEG holds at most 65500 pixels a side; write PNG instead.")
        }
        let pixels = bitmap.layout == .gray ? bitmap.pixels : withoutAlpha(bitmap)
        return try encode(pixels, bitmap, channels: bitmap.layout == .gray ? 1 : 3) {
            cic_encode_jpeg($0, $1, $2, $3, level, $4)
        }
    }

    private static func withoutAlpha(_ bitmap: Bitmap) -> [UInt8] {
        let count = bitmap.width * bitmap.height
        return [UInt8](unsafeUninitializedCapacity: count * 3) { result, initialized in
            for index in 0..<count {
                for component in 0..<3 { result[3 * index + component] = bitmap.pixels[4 * index + component] }
            }
            initialized = count * 3
        }
    }

    private static func encode(
        _ pixels: [UInt8],
        _ bitmap: Bitmap,
        channels: UInt32,
        _ function: (UnsafePointer<UInt8>, UInt32, UInt32, UInt32, UnsafeMutablePointer<cic_bytes>) -> Int32
    ) throws(ModelError) -> Data {
        var result = cic_bytes()
        let failed = pixels.withUnsafeBufferPointer {
            guard let first = $0.baseAddress else { return true }
            return function(first, UInt32(bitmap.width), UInt32(bitmap.height), channels, &result) != 0
        }
        defer { cic_free(result.bytes) }
        guard !failed, let bytes = result.bytes else {
            let reason = withUnsafeBytes(of: result.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw ModelError(
                .io,
                "The image of \(bitmap.width) × \(bitmap.height) pixels cannot be encoded: \(reason)."
            )
        }
        return Data(bytes: bytes, count: result.size)
    }
}
