@_exported public import CoreGraphics

/// The rotation or reflection of stored pixels relative to the upright image; the numbers are Exif's.
public enum CGImagePropertyOrientation: UInt32, Sendable {
    /// Stored upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turned by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored at the diagonal from the top left to the bottom right.
    case leftMirrored = 5
    /// Shown upright after a quarter turn clockwise.
    case right = 6
    /// Mirrored at the diagonal from the top right to the bottom left.
    case rightMirrored = 7
    /// Shown upright after a quarter turn counter-clockwise.
    case left = 8
}

/// The width of the stored pixels, an integer.
public var kCGImagePropertyPixelWidth: CFString { "PixelWidth" }
/// The height of the stored pixels, an integer.
public var kCGImagePropertyPixelHeight: CFString { "PixelHeight" }
/// The orientation, the raw value of a `CGImagePropertyOrientation`.
public var kCGImagePropertyOrientation: CFString { "Orientation" }
/// The bits per component after decoding: always 8.
public var kCGImagePropertyDepth: CFString { "Depth" }
/// Whether the file stores alpha, a truth value.
public var kCGImagePropertyHasAlpha: CFString { "HasAlpha" }
/// The colour model: `kCGImagePropertyColorModelRGB` or `kCGImagePropertyColorModelGray`.
public var kCGImagePropertyColorModel: CFString { "ColorModel" }
/// The colour model of red, green and blue.
public var kCGImagePropertyColorModelRGB: CFString { "RGB" }
/// The colour model of grey.
public var kCGImagePropertyColorModelGray: CFString { "Gray" }

/// Whether decoded pixels are cached; accepted, without effect.
public var kCGImageSourceShouldCache: CFString { "kCGImageSourceShouldCache" }
/// Whether to make a thumbnail from the full image; one of the two `CreateThumbnail` options must be true.
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString { "kCGImageSourceCreateThumbnailFromImageAlways" }
/// Whether to make a thumbnail from the full image where none is embedded; embedded ones are never read.
public var kCGImageSourceCreateThumbnailFromImageIfAbsent: CFString {
    "kCGImageSourceCreateThumbnailFromImageIfAbsent"
}
/// Whether to turn the thumbnail upright by the file's orientation; false by default.
public var kCGImageSourceCreateThumbnailWithTransform: CFString { "kCGImageSourceCreateThumbnailWithTransform" }
/// The longest side of a thumbnail in pixels; without it, or at 0, the thumbnail has the image's size.
public var kCGImageSourceThumbnailMaxPixelSize: CFString { "kCGImageSourceThumbnailMaxPixelSize" }

/// The quality of a JPEG file, from 0 (smallest file) to 1 (best); 0.85 by default.
public var kCGImageDestinationLossyCompressionQuality: CFString { "kCGImageDestinationLossyCompressionQuality" }
