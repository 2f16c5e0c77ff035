import MLImages

/// A bitmap that images and rectangles can be drawn into, in the caller's memory or its own.
///
/// Coordinates have their origin at the bottom left. Drawing is limited to images and plain rectangles, and transforms
/// to translations and scalings; there are no paths, fonts or clipping.
public final class CGContext {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The distance in bytes from the start of one row to the next.
    public let bytesPerRow: Int
    /// The bits per component: always 8.
    public let bitsPerComponent: Int
    /// The memory layout of a pixel.
    public let bitmapInfo: CGBitmapInfo
    /// The colour space that the context was created with.
    public let colorSpace: CGColorSpace?
    /// The interpolation of scaled images; part of the graphics state, `.default` at first.
    ///
    /// With `.none` each pixel takes the colour of the image's pixel at its centre. All other values scale bilinearly,
    /// with a wider filter when shrinking.
    public var interpolationQuality: CGInterpolationQuality {
        get { state.interpolationQuality }
        set { state.interpolationQuality = newValue }
    }
    /// The bits per pixel: 8 for grey, 32 for RGB.
    public var bitsPerPixel: Int { layout.bytesPerPixel * 8 }
    /// Whether a pixel holds alpha, and where.
    public var alphaInfo: CGImageAlphaInfo { bitmapInfo.alphaInfo ?? .none }
    /// The memory of the pixels, starting with the first pixel of the top row.
    public var data: UnsafeMutableRawPointer? { memory }

    private let memory: UnsafeMutableRawPointer
    private let ownsMemory: Bool
    private let layout: PixelLayout
    private var state = State()
    private var saved: [State] = []

    /// The part of a context that `saveGState()` saves.
    private struct State {
        var scale = CGPoint(x: 1, y: 1)
        var origin = CGPoint.zero
        /// The fill colour, premultiplied by alpha.
        var fill: (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) = (0, 0, 0, 255)
        var interpolationQuality = CGInterpolationQuality.default
    }

    /// Creates a context of 8-bit grey, or of 8-bit RGB with an alpha or unused byte before or after the colours.
    ///
    /// Returns `nil` when `bitsPerComponent` is not 8, alpha is not premultiplied, the layout is another one, a side is
    /// below 1 or above 16,777,215 pixels, or `bytesPerRow` is too small for a row.
    ///
    /// - Parameters:
    ///   - data: At least `height * bytesPerRow` bytes that outlive the context, or `nil` to let the context allocate
    ///     and zero its own memory.
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - bitsPerComponent: Must be 8.
    ///   - bytesPerRow: The distance in bytes from one row to the next, or 0 for rows without padding.
    ///   - space: The colour space; its model decides between grey and RGB.
    ///   - bitmapInfo: The raw value of a `CGBitmapInfo` or a `CGImageAlphaInfo`.
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

    /// Pushes the graphics state onto a stack: the transform, the fill colour and the interpolation quality.
    public func saveGState() { saved.append(state) }
    /// Restores the graphics state that was last saved; does nothing when there is none.
    public func restoreGState() {
        if let last = saved.popLast() { state = last }
    }

    /// Moves the origin by `x` and `y` units of the current coordinate system.
    public func translateBy(x: CGFloat, y: CGFloat) {
        state.origin.x += x * state.scale.x
        state.origin.y += y * state.scale.y
    }

    /// Scales the coordinate system about its origin; a negative factor mirrors it.
    public func scaleBy(x: CGFloat, y: CGFloat) {
        state.scale.x *= x
        state.scale.y *= y
    }

    /// Sets the colour that `fill(_:)` uses.
    ///
    /// - Parameters:
    ///   - red: The red component, clamped to 0…1, not multiplied by alpha.
    ///   - green: The green component, clamped to 0…1.
    ///   - blue: The blue component, clamped to 0…1.
    ///   - alpha: The opacity, clamped to 0…1.
    public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        func byte(_ value: CGFloat) -> UInt8 { UInt8(min(max(value, 0), 1) * 255 + 0.5) }
        let opacity = byte(alpha)
        state.fill = (
            Bitmap.premultiplied(byte(red), opacity), Bitmap.premultiplied(byte(green), opacity),
            Bitmap.premultiplied(byte(blue), opacity), opacity
        )
    }

    /// Sets the colour that `fill(_:)` uses to a grey; both values are clamped to 0…1.
    public func setFillColor(gray: CGFloat, alpha: CGFloat) {
        setFillColor(red: gray, green: gray, blue: gray, alpha: alpha)
    }

    /// Blends the fill colour over the pixels of `rect`, whose edges are rounded to whole pixels.
    public func fill(_ rect: CGRect) {
        let target = pixels(of: rect).rect
        guard let (columns, rows) = visible(target) else { return }
        let fill = state.fill
        for y in rows { for x in columns { blend(fill.red, fill.green, fill.blue, fill.alpha, x: x, y: y) } }
    }

    /// Sets the pixels of `rect` to zero: transparent where the context has alpha, black otherwise.
    public func clear(_ rect: CGRect) {
        guard let (columns, rows) = visible(pixels(of: rect).rect) else { return }
        for y in rows {
            let start = memory + y * bytesPerRow + columns.lowerBound * layout.bytesPerPixel
            start.initializeMemory(as: UInt8.self, repeating: 0, count: columns.count * layout.bytesPerPixel)
        }
    }

    /// Draws `image` scaled to fill `rect`, blended over the pixels below.
    ///
    /// - Parameters:
    ///   - image: The image to draw.
    ///   - rect: The target in the current coordinate system; its edges are rounded to whole pixels.
    ///   - byTiling: Without effect: the image is drawn once.
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
        let (target, flipsX, flipsY) = pixels(of: rect)
        guard target.width >= 1, target.height >= 1, let (columns, rows) = visible(target) else { return }
        var picture = image.bitmap.converted(to: .rgba)
        if flipsX { picture = picture.upright(fromExifOrientation: 2) }
        if flipsY { picture = picture.upright(fromExifOrientation: 4) }
        // Only the part that is visible is scaled, so a huge rectangle costs no memory.
        let factorX = Double(picture.width) / Double(target.width)
        let factorY = Double(picture.height) / Double(target.height)
        let box = Bitmap.Box(
            x: (Double(columns.lowerBound) - target.minX) * factorX,
            y: (Double(rows.lowerBound) - target.minY) * factorY,
            width: Double(columns.count) * factorX,
            height: Double(rows.count) * factorY
        )
        let part =
            state.interpolationQuality == .none
            ? picture.nearest(from: box, width: columns.count, height: rows.count)
            : picture.resampled(from: box, width: columns.count, height: rows.count)
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

    /// Makes an image from a copy of the current pixels.
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

    /// Converts `rect` to whole pixels from the top left, and tells whether the transform mirrors it.
    private func pixels(of rect: CGRect) -> (rect: CGRect, flipsX: Bool, flipsY: Bool) {
        let rect = rect.standardized
        let (scale, origin) = (state.scale, state.origin)
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

    /// The columns and rows of `rect` that lie inside the context; `nil` when there are none.
    private func visible(_ rect: CGRect) -> (columns: Range<Int>, rows: Range<Int>)? {
        let left = max(Int(rect.minX), 0)
        let right = min(Int(rect.maxX), width)
        let top = max(Int(rect.minY), 0)
        let bottom = min(Int(rect.maxY), height)
        return left < right && top < bottom ? (left..<right, top..<bottom) : nil
    }

    /// Blends one premultiplied pixel over the one at `x`, `y` (source over).
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
            if let position = layout.alpha { over(alpha, position) }
        }
    }
}
