package import MLImages

/// An immutable image: pixels and their memory layout.
public final class CGImage: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The bits per component: 8 or 16.
    public let bitsPerComponent: Int
    /// The bits per pixel, including alpha or an unused component.
    public let bitsPerPixel: Int
    /// The distance in bytes from the start of one row to the next.
    public let bytesPerRow: Int
    /// The colour space that the image was created with.
    public let colorSpace: CGColorSpace?
    /// The memory layout of a pixel.
    public let bitmapInfo: CGBitmapInfo
    /// The raw pixels, starting with the top row.
    public let dataProvider: CGDataProvider?
    /// Kept for the caller, without effect: drawing always interpolates.
    public let shouldInterpolate: Bool
    /// Kept for the caller, without effect: colours are not managed.
    public let renderingIntent: CGColorRenderingIntent

    private let layout: PixelLayout

    /// Whether a pixel holds alpha, and where.
    public var alphaInfo: CGImageAlphaInfo { bitmapInfo.alphaInfo ?? .none }
    /// The packed pixel format: always `packed`, as images of other formats cannot be created here.
    public var pixelFormatInfo: CGImagePixelFormatInfo { bitmapInfo.pixelFormat }

    /// Creates an image of grey or RGB pixels, with or without alpha, from raw bytes.
    ///
    /// Returns `nil` when the sizes contradict each other or exceed the provider's bytes, when a side is below 1 or
    /// above 16,777,215 pixels, when `decode` is not `nil`, or when the pixels have another layout: floats, packed
    /// formats, indexed or CMYK colours, or alpha alone.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - bitsPerComponent: 8 or 16; of 16 bits only the more significant 8 are used.
    ///   - bitsPerPixel: The bits of all components of a pixel, including alpha or an unused component.
    ///   - bytesPerRow: The distance in bytes from one row to the next.
    ///   - space: The colour space; its model decides between grey and RGB.
    ///   - bitmapInfo: The memory layout of a pixel.
    ///   - provider: The pixels, the top row first.
    ///   - decode: Must be `nil`: components cannot be remapped.
    ///   - shouldInterpolate: Kept for the caller.
    ///   - intent: Kept for the caller.
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

    /// Creates an image of 8-bit grey or premultiplied RGBA pixels (without alpha when `isOpaque`).
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

    /// The part of the image inside `rect`, with 8 bits per component; `nil` when `rect` lies outside the image.
    ///
    /// - Parameter rect: The part in pixels with the origin at the top left; extended to whole pixels and cut to the
    ///   image.
    /// - Returns: The part as grey, RGB or premultiplied RGBA pixels in a device colour space.
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

    /// The image itself, which is immutable; never `nil`.
    public func copy() -> CGImage? { self }
}
