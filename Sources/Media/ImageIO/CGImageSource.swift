import MLImages

/// The status of reading an image file.
///
/// Files are read at once, so only `statusComplete` and `statusInvalidData` are returned here.
public enum CGImageSourceStatus: Int32, Sendable {
    /// The file ends too early.
    case statusUnexpectedEOF = -5
    /// The file is damaged.
    case statusInvalidData = -4
    /// The file format is unknown.
    case statusUnknownType = -3
    /// The header is being read.
    case statusReadingHeader = -2
    /// Some of the data has not arrived yet.
    case statusIncomplete = -1
    /// The header is readable.
    case statusComplete = 0
}

/// Reads the image of a file.
public final class CGImageSource: Sendable {
    let file: ImageFile

    init?(_ data: Data) {
        guard let file = try? ImageFile(data) else { return nil }
        self.file = file
    }
}

/// Opens an image file, recognised by its content, not its name; decoding happens later.
///
/// - Parameters:
///   - url: The file.
///   - options: Without effect.
/// - Returns: The source, or `nil` when the file cannot be read or is not a PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC
///   image.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
    (try? Data(contentsOf: url as URL)).flatMap(CGImageSource.init)
}

/// Opens an image file in memory, recognised by its first bytes; decoding happens later.
///
/// - Parameters:
///   - data: The encoded file.
///   - options: Without effect.
/// - Returns: The source, or `nil` when the bytes are not a PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC image.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
    CGImageSource(Data(referencing: data))
}

/// The number of images: always 1.
///
/// Of a file with several images the first is read, of HEIF files the primary one.
public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { 1 }
/// The index of the primary image: always 0.
public func CGImageSourceGetPrimaryImageIndex(_ source: CGImageSource) -> Int { 0 }
/// The file format's uniform type identifier, for instance `public.jpeg`.
public func CGImageSourceGetType(_ source: CGImageSource) -> CFString? { NSString(string: source.file.kind.rawValue) }

/// Reads the header: `statusComplete`, or `statusInvalidData` when it is damaged.
public func CGImageSourceGetStatus(_ source: CGImageSource) -> CGImageSourceStatus {
    (try? source.file.header()) == nil ? .statusInvalidData : .statusComplete
}

/// Decodes the image.
///
/// - Parameters:
///   - source: The source.
///   - index: Must be 0.
///   - options: Without effect.
/// - Returns: 8-bit grey or premultiplied RGBA pixels as stored, not turned by the orientation (HEIC pixels are
///   upright); `nil` when the file is damaged or `index` is not 0.
public func CGImageSourceCreateImageAtIndex(
    _ source: CGImageSource,
    _ index: Int,
    _ options: CFDictionary?
) -> CGImage? {
    guard index == 0, let header = try? source.file.header(), let bitmap = try? source.file.bitmap() else { return nil }
    return CGImage(bitmap, isOpaque: !header.hasAlpha)
}

/// Reads the size, depth, alpha, orientation and colour model, without decoding the pixels.
///
/// - Parameters:
///   - source: The source.
///   - index: Must be 0.
///   - options: Without effect.
/// - Returns: The properties by `kCGImageProperty…` keys; `nil` when the header is damaged or `index` is not 0.
public func CGImageSourceCopyPropertiesAtIndex(
    _ source: CGImageSource,
    _ index: Int,
    _ options: CFDictionary?
) -> CFDictionary? {
    guard index == 0, let header = try? source.file.header() else { return nil }
    let properties: [CFString: Any] = [
        kCGImagePropertyPixelWidth: header.width,
        kCGImagePropertyPixelHeight: header.height,
        kCGImagePropertyDepth: 8,
        kCGImagePropertyHasAlpha: header.hasAlpha,
        kCGImagePropertyOrientation: Int(source.file.exifOrientation),
        kCGImagePropertyColorModel: header.isGray ? kCGImagePropertyColorModelGray : kCGImagePropertyColorModelRGB,
    ]
    return properties as CFDictionary
}

/// Decodes the image and scales it down.
///
/// - Parameters:
///   - source: The source.
///   - index: Must be 0.
///   - options: `kCGImageSourceThumbnailMaxPixelSize` limits the longer side,
///     `kCGImageSourceCreateThumbnailWithTransform` turns the image upright, and
///     `kCGImageSourceCreateThumbnailFromImageAlways` or `kCGImageSourceCreateThumbnailFromImageIfAbsent` must be true.
/// - Returns: The thumbnail, never larger than the image; `nil` when neither of the last two options is true (embedded
///   thumbnails are not read), the file is damaged or `index` is not 0.
public func CGImageSourceCreateThumbnailAtIndex(
    _ source: CGImageSource,
    _ index: Int,
    _ options: CFDictionary?
) -> CGImage? {
    func flag(_ key: CFString) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? false }
    guard flag(kCGImageSourceCreateThumbnailFromImageAlways) || flag(kCGImageSourceCreateThumbnailFromImageIfAbsent),
        index == 0, let header = try? source.file.header(), var bitmap = try? source.file.bitmap()
    else { return nil }
    if flag(kCGImageSourceCreateThumbnailWithTransform) {
        bitmap = bitmap.upright(fromExifOrientation: source.file.exifOrientation)
    }
    let longest = max(bitmap.width, bitmap.height)
    if let limit = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.intValue, limit > 0, limit < longest {
        let factor = Double(limit) / Double(longest)
        bitmap = bitmap.resampled(
            width: max(Int((Double(bitmap.width) * factor).rounded()), 1),
            height: max(Int((Double(bitmap.height) * factor).rounded()), 1)
        )
    }
    return CGImage(bitmap, isOpaque: !header.hasAlpha)
}
