package import MLImages

/// A picture: immutable pixels and what they mean.
public final class CGImage: Sendable {
    public let width: Int
    public let height: Int
    public let bitsPerComponent: Int
    public let bitsPerPixel: Int
    public let bytesPerRow: Int
    public let colorSpace: CGColorSpace?
    public let bitmapInfo: CGBitmapInfo
    public let dataProvider: CGDataProvider?
    public let shouldInterpolate: Bool
    public let renderingIntent: CGColorRenderingIntent

    private let layout: PixelLayout

    public var alphaInfo: CGImageAlphaInfo { bitmapInfo.alphaInfo ?? .none }
    /// Always `packed`: pictures of other formats are not made.
    public var pixelFormatInfo: CGImagePixelFormatInfo { bitmapInfo.pixelFormat }

    /// `nil` when the sizes contradict each other or the provider's length, or when the pixel layout is not one of:
    /// grey, grey with alpha, RGB, RGB with alpha before or after it, of 8 or 16 bits a component, in any byte order.
    public init?(
        width: Int,
        height: Int,
        bitsPerComponent: Int,
        bitsPerPixel: Int,
        bytesPerRow: Int,
        space: CGColorSpace,
        bitmapInfo: CGBitmapInfo,
        provider: CGDataProvider,
        decode: UnsafePointer<CGFloat>?,
        shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) {
        guard decode == nil, width > 0, height > 0, width < 1 << 24, height < 1 << 24, bytesPerRow >= 0,
            let layout = PixelLayout(
                bitsPerComponent: bitsPerComponent,
                bitsPerPixel: bitsPerPixel,
                model: space.model,
                info: bitmapInfo
            ),
            bytesPerRow >= width * layout.bytesPerPixel, bytesPerRow < 1 << 32,
            provider.bytes.count >= (height - 1) * bytesPerRow + width * layout.bytesPerPixel
        else { return nil }
        self.width = width
        self.height = height
        self.bitsPerComponent = bitsPerComponent
        self.bitsPerPixel = bitsPerPixel
        self.bytesPerRow = bytesPerRow
        self.layout = layout
        colorSpace = space
        self.bitmapInfo = bitmapInfo
        dataProvider = provider
        self.shouldInterpolate = shouldInterpolate
        renderingIntent = intent
    }

    /// A picture of `bitmap`: 8-bit grey, or premultiplied RGBA (without alpha when `isOpaque`).
    package convenience init(_ bitmap: Bitmap, isOpaque: Bool = false) {
        let gray = bitmap.layout == .gray
        let alpha: CGImageAlphaInfo = gray ? .none : isOpaque ? .noneSkipLast : .premultipliedLast
        // Every condition of the failable initialiser holds for a bitmap that has pixels.
        self.init(
            width: bitmap.width,
            height: bitmap.height,
            bitsPerComponent: 8,
            bitsPerPixel: bitmap.layout.bytesPerPixel * 8,
            bytesPerRow: bitmap.bytesPerRow,
            space: gray ? CGColorSpaceCreateDeviceGray() : CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue),
            provider: CGDataProvider(bytes: Data(bitmap.pixels)),
            decode: nil,
            shouldInterpolate: true,
            intent: .defaultIntent
        )!
    }

    /// The pixels as 8-bit grey (a grey picture without alpha) or premultiplied RGBA.
    package var bitmap: Bitmap {
        let bytes = dataProvider?.bytes ?? Data()
        return bytes.withUnsafeBytes { layout.read($0, width: width, height: height, bytesPerRow: bytesPerRow) }
    }

    /// The part inside `rect` (origin at the top left), cut to the picture; `nil` when nothing is inside.
    public func cropping(to rect: CGRect) -> CGImage? {
        let bounds = CGRect(x: 0, y: 0, width: width, height: height)
        let part = rect.standardized.integral.intersection(bounds)
        guard !part.isNull, part.width >= 1, part.height >= 1 else { return nil }
        let hasAlpha = bitmap.layout == .rgba && layout.alpha != nil
        return CGImage(
            bitmap.cropped(x: Int(part.minX), y: Int(part.minY), width: Int(part.width), height: Int(part.height)),
            isOpaque: !hasAlpha
        )
    }

    public func copy() -> CGImage? { self }
}
