import MLImages

/// A place to draw pictures into: memory of the caller, or its own.
///
/// Coordinates have their origin at the bottom left.  What is drawn is limited to pictures and plain rectangles under
/// translations and scalings.
public final class CGContext {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int
    public let bitsPerComponent: Int
    public let bitmapInfo: CGBitmapInfo
    public let colorSpace: CGColorSpace?
    public var interpolationQuality: CGInterpolationQuality = .default
    public var bitsPerPixel: Int { layout.bytesPerPixel * 8 }
    public var alphaInfo: CGImageAlphaInfo { bitmapInfo.alphaInfo ?? .none }
    /// The first pixel of the top row.
    public var data: UnsafeMutableRawPointer? { memory }

    private let memory: UnsafeMutableRawPointer
    private let ownsMemory: Bool
    private let layout: PixelLayout
    private var scale = CGPoint(x: 1, y: 1)
    private var origin = CGPoint.zero
    private var saved: [(CGPoint, CGPoint)] = []
    private var fill: (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) = (0, 0, 0, 255)

    /// `nil` when the layout is not one of 8-bit grey, RGB with a fourth byte before or after it.
    /// - Parameter data: at least `height * bytesPerRow` bytes that outlive the context; `nil` to let it allocate.
    public init?(
        data: UnsafeMutableRawPointer?,
        width: Int,
        height: Int,
        bitsPerComponent: Int,
        bytesPerRow: Int,
        space: CGColorSpace,
        bitmapInfo: UInt32
    ) {
        let info = CGBitmapInfo(rawValue: bitmapInfo)
        guard width > 0, height > 0, width < 1 << 24, height < 1 << 24, bitsPerComponent == 8,
            let layout = PixelLayout(bitsPerComponent: 8, bitsPerPixel: nil, model: space.model, info: info),
            layout.bytesPerPixel == 4 || layout.bytesPerPixel == 1,
            layout.alpha == nil || layout.isPremultiplied
        else { return nil }
        let row = bytesPerRow == 0 ? width * layout.bytesPerPixel : bytesPerRow
        guard row >= width * layout.bytesPerPixel, row < 1 << 32 else { return nil }
        self.width = width
        self.height = height
        self.bitsPerComponent = 8
        self.bytesPerRow = row
        self.bitmapInfo = info
        self.layout = layout
        colorSpace = space
        ownsMemory = data == nil
        memory = data ?? .allocate(byteCount: row * height, alignment: 64)
        if ownsMemory { memory.initializeMemory(as: UInt8.self, repeating: 0, count: row * height) }
    }

    deinit { if ownsMemory { memory.deallocate() } }

    public func saveGState() { saved.append((scale, origin)) }
    public func restoreGState() {
        if let (oldScale, oldOrigin) = saved.popLast() { (scale, origin) = (oldScale, oldOrigin) }
    }

    public func translateBy(x: CGFloat, y: CGFloat) {
        origin.x += x * scale.x
        origin.y += y * scale.y
    }

    public func scaleBy(x: CGFloat, y: CGFloat) {
        scale.x *= x
        scale.y *= y
    }

    public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        func byte(_ value: CGFloat) -> UInt8 { UInt8(min(max(value, 0), 1) * 255 + 0.5) }
        let opacity = byte(alpha)
        fill = (
            Bitmap.premultiplied(byte(red), opacity), Bitmap.premultiplied(byte(green), opacity),
            Bitmap.premultiplied(byte(blue), opacity), opacity
        )
    }

    public func setFillColor(gray: CGFloat, alpha: CGFloat) {
        setFillColor(red: gray, green: gray, blue: gray, alpha: alpha)
    }

    public func fill(_ rect: CGRect) {
        let target = pixels(of: rect).rect
        guard let (columns, rows) = visible(target) else { return }
        for y in rows { for x in columns { blend(fill.red, fill.green, fill.blue, fill.alpha, x: x, y: y) } }
    }

    public func clear(_ rect: CGRect) {
        guard let (columns, rows) = visible(pixels(of: rect).rect) else { return }
        for y in rows {
            let start = memory + y * bytesPerRow + columns.lowerBound * layout.bytesPerPixel
            start.initializeMemory(as: UInt8.self, repeating: 0, count: columns.count * layout.bytesPerPixel)
        }
    }

    /// Draws `image` scaled to fill `rect`, blended over what is there.
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
        let (target, flipsX, flipsY) = pixels(of: rect)
        guard target.width >= 1, target.height >= 1, let (columns, rows) = visible(target) else { return }
        var picture = image.bitmap.converted(to: .rgba)
        if flipsX { picture = picture.upright(fromExifOrientation: 2) }
        if flipsY { picture = picture.upright(fromExifOrientation: 4) }
        // Only the part that is visible is scaled, so a huge rectangle costs no memory.
        let factorX = Double(picture.width) / Double(target.width)
        let factorY = Double(picture.height) / Double(target.height)
        let part = picture.resampled(
            from: Bitmap.Box(
                x: (Double(columns.lowerBound) - target.minX) * factorX,
                y: (Double(rows.lowerBound) - target.minY) * factorY,
                width: Double(columns.count) * factorX,
                height: Double(rows.count) * factorY
            ),
            width: columns.count,
            height: rows.count
        )
        part.pixels.withUnsafeBufferPointer { source in
            var from = 0
            for y in rows {
                for x in columns {
                    blend(source[from], source[from + 1], source[from + 2], source[from + 3], x: x, y: y)
                    from += 4
                }
            }
        }
    }

    public func makeImage() -> CGImage? {
        CGImage(
            width: width,
            height: height,
            bitsPerComponent: 8,
            bitsPerPixel: bitsPerPixel,
            bytesPerRow: bytesPerRow,
            space: colorSpace ?? CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: bitmapInfo,
            provider: CGDataProvider(bytes: Data(bytes: memory, count: bytesPerRow * height)),
            decode: nil,
            shouldInterpolate: true,
            intent: .defaultIntent
        )
    }

    /// `rect` in whole pixels from the top left, and whether the transform turns it over.
    private func pixels(of rect: CGRect) -> (rect: CGRect, flipsX: Bool, flipsY: Bool) {
        let rect = rect.standardized
        let x0 = origin.x + rect.minX * scale.x
        let x1 = origin.x + rect.maxX * scale.x
        let y0 = CGFloat(height) - (origin.y + rect.minY * scale.y)
        let y1 = CGFloat(height) - (origin.y + rect.maxY * scale.y)
        guard [x0, x1, y0, y1].allSatisfy({ $0.isFinite && abs($0) < 1e9 }) else { return (.zero, false, false) }
        let left = min(x0, x1).rounded()
        let top = min(y0, y1).rounded()
        let target = CGRect(
            x: left,
            y: top,
            width: max(x0, x1).rounded() - left,
            height: max(y0, y1).rounded() - top
        )
        return (target, scale.x < 0, scale.y < 0)
    }

    private func visible(_ rect: CGRect) -> (columns: Range<Int>, rows: Range<Int>)? {
        let left = max(Int(rect.minX), 0)
        let right = min(Int(rect.maxX), width)
        let top = max(Int(rect.minY), 0)
        let bottom = min(Int(rect.maxY), height)
        return left < right && top < bottom ? (left..<right, top..<bottom) : nil
    }

    /// Source-over of one premultiplied pixel.
    private func blend(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8, x: Int, y: Int) {
        let pixel = (memory + y * bytesPerRow + x * layout.bytesPerPixel).assumingMemoryBound(to: UInt8.self)
        func over(_ new: UInt8, _ offset: Int) {
            let below = Bitmap.premultiplied(pixel[offset], 255 - alpha)
            pixel[offset] = UInt8(min(UInt16(new) + UInt16(below), 255))
        }
        if layout.isGray {
            over(Bitmap.luminance(red, green, blue), 0)
        } else {
            over(red, layout.color.0)
            over(green, layout.color.1)
            over(blue, layout.color.2)
            if let place = layout.alpha { over(alpha, place) }
        }
    }
}
