import CImageCodecs
package import MLImages
package import MLNumerics

/// A picture file in memory: JPEG (baseline and progressive), PNG, or WebP.
package struct ImageFile: Sendable {
    /// The kinds that are read.
    package enum Kind: String, Sendable {
        case jpeg = "public.jpeg"
        case png = "public.png"
        case webp = "org.webmproject.webp"
    }

    /// What the header says.
    package struct Header: Sendable, Equatable {
        package let width: Int
        package let height: Int
        package let isGray: Bool
        package let hasAlpha: Bool
    }

    /// Pictures with more pixels than this are refused.
    package static let pixelLimit: UInt64 = 1 << 28

    package let kind: Kind
    private let data: Data

    /// Recognises the kind by the first bytes, not by a name.
    package init(_ data: Data) throws(ModelError) {
        let start = [UInt8](data.prefix(12))
        if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            kind = .jpeg
        } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            kind = .png
        } else if start.count == 12, start.starts(with: Array("RIFF".utf8)), start[8...].elementsEqual("WEBP".utf8) {
            kind = .webp
        } else {
            throw ModelError(
                .unsupported,
                "These bytes are not a JPEG, PNG or WebP image; convert the image to one of them."
            )
        }
        self.data = data
    }

    /// The size and the components, without decoding the pixels.
    package func header() throws(ModelError) -> Header {
        let image = try decode(headerOnly: true)
        return Header(
            width: Int(image.width),
            height: Int(image.height),
            isGray: image.channels < 3,
            hasAlpha: image.channels == 2 || image.channels == 4
        )
    }

    /// The decoded pixels as they are stored: not turned by the orientation.
    package func bitmap() throws(ModelError) -> Bitmap {
        let image = try decode(headerOnly: false)
        defer { cic_free(image.pixels) }
        guard let pixels = image.pixels else {
            throw ModelError(.malformed, "The \(kind) image has no pixels; save it again.")
        }
        let width = Int(image.width)
        let height = Int(image.height)
        let count = width * height
        let layout: Bitmap.Layout = image.channels == 1 ? .gray : .rgba
        let bytes = [UInt8](unsafeUninitializedCapacity: count * layout.bytesPerPixel) { result, initialized in
            switch image.channels {
            case 1: _ = result.update(fromContentsOf: UnsafeBufferPointer(start: pixels, count: count))
            case 2:
                for index in 0..<count {
                    let alpha = pixels[2 * index + 1]
                    let value = Bitmap.premultiplied(pixels[2 * index], alpha)
                    for component in 0..<3 { result[4 * index + component] = value }
                    result[4 * index + 3] = alpha
                }
            case 3:
                for index in 0..<count {
                    for component in 0..<3 { result[4 * index + component] = pixels[3 * index + component] }
                    result[4 * index + 3] = 255
                }
            default:
                for index in 0..<count {
                    let alpha = pixels[4 * index + 3]
                    for component in 0..<3 {
                        result[4 * index + component] = Bitmap.premultiplied(pixels[4 * index + component], alpha)
                    }
                    result[4 * index + 3] = alpha
                }
            }
            initialized = count * layout.bytesPerPixel
        }
        return Bitmap(width: width, height: height, layout: layout, pixels: bytes)
    }

    /// The orientation that the file's Exif part states, 1…8; 1 when it has none or a damaged one.
    package var exifOrientation: UInt32 { ExifOrientation(in: data, kind: kind).value }

    private func decode(headerOnly: Bool) throws(ModelError) -> cic_image {
        var image = cic_image()
        let failed = data.withUnsafeBytes { raw -> Bool in
            let bytes = raw.bindMemory(to: UInt8.self)
            let function =
                switch kind {
                case .jpeg: cic_decode_jpeg
                case .png: cic_decode_png
                case .webp: cic_decode_webp
                }
            return function(bytes.baseAddress, bytes.count, ImageFile.pixelLimit, headerOnly ? 1 : 0, &image) != 0
        }
        if failed {
            let reason = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw ModelError(.malformed, "The \(kind) image cannot be decoded: \(reason). Save it again.")
        }
        return image
    }
}
