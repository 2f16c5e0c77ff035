/// Whether and where a pixel holds alpha.
public enum CGImageAlphaInfo: UInt32, Sendable {
    case none = 0
    case premultipliedLast = 1
    case premultipliedFirst = 2
    case last = 3
    case first = 4
    case noneSkipLast = 5
    case noneSkipFirst = 6
    case alphaOnly = 7
}

/// How many bits the components of a pixel have, when not all have as many as `bitsPerComponent` says.
public enum CGImagePixelFormatInfo: UInt32, Sendable {
    /// As `bitsPerComponent` and `bitsPerPixel` say.
    case packed = 0
    /// 16 bits: one unused or for alpha, 5 for each colour.
    case RGB555 = 0x10000
    /// 16 bits: 5 for red and blue, 6 for green.
    case RGB565 = 0x20000
    /// 32 bits: two unused or for alpha, 10 for each colour.
    case RGB101010 = 0x30000
    /// 32 bits: two for alpha, 10 for each colour of the extended range.
    case RGBCIF10 = 0x40000
    /// The bits of `CGBitmapInfo` that hold the other cases; no format.
    case mask = 0xF0000
}

/// How the components of a pixel lie in memory.
public struct CGBitmapInfo: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
    public static let floatInfoMask = CGBitmapInfo(rawValue: 0xF00)
    public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
    public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
    public static let byteOrderDefault: CGBitmapInfo = []
    public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
    public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
    public static let byteOrder16Big = CGBitmapInfo(rawValue: 3 << 12)
    public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)

    /// How many bits the components have; `packed` for bits that name no format.
    public var pixelFormat: CGImagePixelFormatInfo {
        get { CGImagePixelFormatInfo(rawValue: rawValue & CGImagePixelFormatInfo.mask.rawValue) ?? .packed }
        set {
            self = CGBitmapInfo(rawValue: rawValue & ~CGImagePixelFormatInfo.mask.rawValue | newValue.rawValue)
        }
    }

    var alphaInfo: CGImageAlphaInfo? { CGImageAlphaInfo(rawValue: rawValue & CGBitmapInfo.alphaInfoMask.rawValue) }
    var byteOrder: CGBitmapInfo { intersection(.byteOrderMask) }
}

public let kCGBitmapByteOrder32Host = CGBitmapInfo.byteOrder32Little
public let kCGBitmapByteOrder16Host = CGBitmapInfo.byteOrder16Little

public enum CGColorRenderingIntent: Int32, Sendable {
    case defaultIntent = 0
    case absoluteColorimetric, relativeColorimetric, perceptual, saturation
}

public enum CGInterpolationQuality: Int32, Sendable {
    case `default` = 0
    case none = 1
    case low = 2
    case high = 3
    case medium = 4
}
