import CImageCodecs
package import MLImages
package import MLNumerics

/// An image file in memory: JPEG (baseline and progressive), PNG, WebP, TIFF, GIF, BMP or HEIC.
package struct ImageFile: Sendable {
    /// The file formats that can be read, with their uniform type identifiers.
    package enum Kind: String, Sendable, CaseIterable {
        case png = "public.png"
        case jpeg = "public.jpeg"
        case webp = "org.webmproject.webp"
        case tiff = "public.tiff"
        case gif = "com.compuserve.gif"
        case bmp = "com.microsoft.bmp"
        case heic = "public.heic"

        /// Recognises a format by a file's first bytes.
        fileprivate init?(_ start: [UInt8]) {
            func text(_ range: Range<Int>) -> String? {
                start.count < range.upperBound ? nil : String(decoding: start[range], as: UTF8.self)
            }
            if start.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if text(0..<4) == "RIFF", text(8..<12) == "WEBP" {
                self = .webp
            } else if ["II*\0", "MM\0*", "II+\0", "MM\0+"].contains(text(0..<4)) {
                self = .tiff
            } else if ["GIF87a", "GIF89a"].contains(text(0..<6)) {
                self = .gif
            } else if text(0..<2) == "BM", start.count >= 18, Self.bmpHeaders.contains(start[14]),
                start[15..<18] == [0, 0, 0]
            {
                self = .bmp
            } else if text(4..<8) == "ftyp", Self.heifBrands.contains(text(8..<12) ?? "") {
                self = .heic
            } else {
                return nil
            }
        }

        /// The header sizes of the BMP format's versions.
        private static let bmpHeaders: Set<UInt8> = [12, 40, 52, 56, 64, 108, 124]
        /// The brands of single images and sequences coded with HEVC, and those that leave the codec open.
        private static let heifBrands: Set<String> = [
            "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1",
        ]
    }

    /// The formats' file name extensions, without the dot, in lower case.
    package static let fileExtensions = [
        "png", "jpg", "jpeg", "webp", "tif", "tiff", "gif", "bmp", "heic", "heif",
    ]

    /// The formats' names, for messages.
    package static let kinds = "PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC"

    /// The properties in a file's header.
    package struct Header: Sendable, Equatable {
        package let width: Int
        package let height: Int
        package let isGray: Bool
        package let hasAlpha: Bool
    }

    /// Images with more pixels than this are refused.
    package static let pixelLimit: UInt64 = 1 << 28

    package let kind: Kind
    private let data: Data

    /// Recognises the format by the first bytes, not by a name; throws `unsupported` when it is none of them.
    package init(_ data: Data) throws(ModelError) {
        guard let kind = Kind([UInt8](data.prefix(18))) else {
            throw ModelError(
                .unsupported,
                "These bytes are not a \(ImageFile.kinds) image; convert the image to one of them."
            )
        }
        self.kind = kind
        self.data = data
    }

    /// Reads the size and the components, without decoding the pixels; throws `malformed` for a damaged file.
    package func header() throws(ModelError) -> Header {
        let image = try decode(headerOnly: true)
        return Header(
            width: Int(image.width),
            height: Int(image.height),
            isGray: image.channels < 3,
            hasAlpha: image.channels == 2 || image.channels == 4
        )
    }

    /// Decodes the pixels as stored, not turned by the orientation; throws `malformed` for a damaged file.
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
        /// A component premultiplied by alpha, never above it.
        func inside(_ value: UInt8, _ alpha: UInt8) -> UInt8 {
            image.is_premultiplied != 0 ? min(value, alpha) : Bitmap.premultiplied(value, alpha)
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: count * layout.bytesPerPixel) { result, initialized in
            switch image.channels {
            case 1: _ = result.update(fromContentsOf: UnsafeBufferPointer(start: pixels, count: count))
            case 2:
                for index in 0..<count {
                    let alpha = pixels[2 * index + 1]
                    let value = inside(pixels[2 * index], alpha)
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
                        result[4 * index + component] = inside(pixels[4 * index + component], alpha)
                    }
                    result[4 * index + 3] = alpha
                }
            }
            initialized = count * layout.bytesPerPixel
        }
        return Bitmap(width: width, height: height, layout: layout, pixels: bytes)
    }

    /// The orientation that the file states in its Exif data, or in its TIFF fields; 1 when it states none or a damaged
    /// one.
    ///
    /// HEIF files state how to turn their pixels themselves, which is done when they are decoded, so that the
    /// orientation in their Exif data no longer applies.
    package var exifOrientation: UInt32 {
        switch kind {
        case .jpeg: return ExifOrientation(inJPEG: data).value
        case .png: return ExifOrientation(inPNG: data).value
        case .webp: return ExifOrientation(inWebP: data).value
        case .tiff:
            let stated = (try? decode(headerOnly: true))?.orientation ?? 1
            return stated == 0 ? 1 : stated
        case .gif, .bmp, .heic: return 1
        }
    }

    private func decode(headerOnly: Bool) throws(ModelError) -> cic_image {
        var image = cic_image()
        let failed = data.withUnsafeBytes { raw -> Bool in
            let bytes = raw.bindMemory(to: UInt8.self)
            let function =
                switch kind {
                case .jpeg: cic_decode_jpeg
                case .png: cic_decode_png
                case .webp: cic_decode_webp
                case .tiff: cic_decode_tiff
                case .gif: cic_decode_gif
                case .bmp: cic_decode_bmp
                case .heic: cic_decode_heif
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
