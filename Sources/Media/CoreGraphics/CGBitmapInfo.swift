/// Whether a pixel holds alpha (opacity), where, and whether the colour components are multiplied by it.
public enum CGImageAlphaInfo: UInt32, Sendable {
    /// No alpha component; the pixel holds colour components only.
    case none = 0
    /// Alpha after the colour components, which are multiplied by it.
    case premultipliedLast = 1
    /// Alpha before the colour components, which are multiplied by it.
    case premultipliedFirst = 2
    /// Alpha after the colour components, which are not multiplied by it.
    case last = 3
    /// Alpha before the colour components, which are not multiplied by it.
    case first = 4
    /// An unused component after the colour components; the pixel is opaque.
    case noneSkipLast = 5
    /// An unused component before the colour components; the pixel is opaque.
    case noneSkipFirst = 6
    /// Alpha without colour; no image or context with such pixels can be created here.
    case alphaOnly = 7
}

/// The bits per component of packed pixel formats whose components differ from `bitsPerComponent`.
///
/// Only `packed` pixels can be used in images and contexts here.
public enum CGImagePixelFormatInfo: UInt32, Sendable {
    /// Components are as wide as `bitsPerComponent` and `bitsPerPixel` say.
    case packed = 0
    /// 16 bits per pixel: one unused or alpha bit, then 5 bits for each colour.
    case RGB555 = 0x10000
    /// 16 bits per pixel: 5 bits for red and blue, 6 for green.
    case RGB565 = 0x20000
    /// 32 bits per pixel: two unused or alpha bits, then 10 bits for each colour.
    case RGB101010 = 0x30000
    /// 32 bits per pixel: two alpha bits, then 10 bits for each colour in extended range.
    case RGBCIF10 = 0x40000
    /// The bits of `CGBitmapInfo` that hold the other cases; not itself a format.
    case mask = 0xF0000
}

/// The memory layout of a pixel's components: alpha, number type, byte order and packed format.
///
/// The alpha part is the raw value of a `CGImageAlphaInfo`.
public struct CGBitmapInfo: OptionSet, Hashable, Sendable {
    /// The layout as a bit field.
    public let rawValue: UInt32
    /// Creates a layout from a bit field, for instance from the raw value of a `CGImageAlphaInfo`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The bits that hold the `CGImageAlphaInfo`.
    public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
    /// The bits that say whether components are floating-point numbers.
    public static let floatInfoMask = CGBitmapInfo(rawValue: 0xF00)
    /// Components are floating-point numbers; no image or context with such pixels can be created here.
    public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
    /// The bits that hold the byte order.
    public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
    /// Components lie in memory in the order in which they are named, the most significant byte first.
    public static let byteOrderDefault: CGBitmapInfo = []
    /// Units of 16 bits, the least significant byte first.
    public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
    /// Units of 32 bits, the least significant byte first: BGRA in memory when alpha comes first.
    public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
    /// Units of 16 bits, the most significant byte first.
    public static let byteOrder16Big = CGBitmapInfo(rawValue: 3 << 12)
    /// Units of 32 bits, the most significant byte first.
    public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)

    /// The packed pixel format; `packed` when the bits name no known format.
    public var pixelFormat: CGImagePixelFormatInfo {
        get { CGImagePixelFormatInfo(rawValue: rawValue & CGImagePixelFormatInfo.mask.rawValue) ?? .packed }
        set {
            self = CGBitmapInfo(rawValue: rawValue & ~CGImagePixelFormatInfo.mask.rawValue | newValue.rawValue)
        }
    }

    var alphaInfo: CGImageAlphaInfo? { CGImageAlphaInfo(rawValue: rawValue & CGBitmapInfo.alphaInfoMask.rawValue) }
    var byteOrder: CGBitmapInfo { intersection(.byteOrderMask) }
}

/// The byte order of 32-bit units on this machine: little-endian.
public let kCGBitmapByteOrder32Host = CGBitmapInfo.byteOrder32Little
/// The byte order of 16-bit units on this machine: little-endian.
public let kCGBitmapByteOrder16Host = CGBitmapInfo.byteOrder16Little

/// The rendering of colours outside a device's gamut; kept with an image, without effect here.
public enum CGColorRenderingIntent: Int32, Sendable {
    /// The intent that suits the drawing context.
    case defaultIntent = 0
    /// The ICC profile format's other rendering intents.
    case absoluteColorimetric, relativeColorimetric, perceptual, saturation
}

/// The quality with which a context interpolates scaled images; kept with the context, without effect here.
public enum CGInterpolationQuality: Int32, Sendable {
    /// The context decides.
    case `default` = 0
    /// No interpolation.
    case none = 1
    /// Low quality, fast.
    case low = 2
    /// The best quality, slow.
    case high = 3
    /// Between `low` and `high`.
    case medium = 4
}
