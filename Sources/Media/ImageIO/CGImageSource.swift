import MLImages

public enum CGImageSourceStatus: Int32, Sendable {
    case statusUnexpectedEOF = -5
    case statusInvalidData = -4
    case statusUnknownType = -3
    case statusReadingHeader = -2
    case statusIncomplete = -1
    case statusComplete = 0
}

/// Reads the picture of a file.
public final class CGImageSource: Sendable {
    let file: ImageFile

    init?(_ data: Data) {
        guard let file = try? ImageFile(data) else { return nil }
        self.file = file
    }
}

/// `nil` when the file cannot be read, or is not a PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC image.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
    (try? Data(contentsOf: url as URL)).flatMap(CGImageSource.init)
}

/// `nil` when the bytes are not a PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC image.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
    CGImageSource(Data(referencing: data))
}

/// 1: of files with several pictures the first is read, of HEIF files the primary one.
public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { 1 }
public func CGImageSourceGetPrimaryImageIndex(_ source: CGImageSource) -> Int { 0 }
/// The uniform type identifier.
public func CGImageSourceGetType(_ source: CGImageSource) -> CFString? { NSString(string: source.file.kind.rawValue) }

public func CGImageSourceGetStatus(_ source: CGImageSource) -> CGImageSourceStatus {
    (try? source.file.header()) == nil ? .statusInvalidData : .statusComplete
}

/// The pixels as they are stored, not turned by the orientation; `nil` when they are damaged or `index` is not 0.
public func CGImageSourceCreateImageAtIndex(
    _ source: CGImageSource,
    _ index: Int,
    _ options: CFDictionary?
) -> CGImage? {
    guard index == 0, let header = try? source.file.header(), let bitmap = try? source.file.bitmap() else { return nil }
    return CGImage(bitmap, isOpaque: !header.hasAlpha)
}

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

/// The picture scaled down so that no side is longer than `kCGImageSourceThumbnailMaxPixelSize`, turned upright when
/// `kCGImageSourceCreateThumbnailWithTransform` is true.  `nil` unless one of the options asks to make a thumbnail
/// (embedded ones are not read).
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
