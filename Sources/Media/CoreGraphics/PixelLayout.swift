import MLImages

/// The layout of a pixel's components, derived from the five numbers that `CGImage` and `CGContext` are given.
struct PixelLayout: Equatable, Sendable {
    /// Bytes from one pixel to the next.
    let bytesPerPixel: Int
    /// Bytes of one component: 1, or 2 with only the more significant one used.
    let bytesPerComponent: Int
    /// Byte offset of the more significant byte of red, green, blue; all equal for grey.
    let color: (Int, Int, Int)
    /// Byte offset of alpha, if there is alpha.
    let alpha: Int?
    let isPremultiplied: Bool
    let isGray: Bool

    /// Derives the layout; `nil` for unsupported combinations: floats, packed formats, CMYK, alpha alone.
    init?(bitsPerComponent: Int, bitsPerPixel: Int?, model: CGColorSpaceModel, info: CGBitmapInfo) {
        guard bitsPerComponent == 8 || bitsPerComponent == 16, !info.contains(.floatComponents),
            info.pixelFormat == .packed,
            let alphaInfo = info.alphaInfo, alphaInfo != .alphaOnly
        else { return nil }
        let components: Int
        switch model {
        case .monochrome: components = 1
        case .rgb: components = 3
        default: return nil
        }
        let extra = alphaInfo == .none ? 0 : 1
        bytesPerComponent = bitsPerComponent / 8
        bytesPerPixel = (components + extra) * bytesPerComponent
        if let bitsPerPixel, bitsPerPixel != bytesPerPixel * 8 { return nil }
        let leads = [.premultipliedFirst, .first, .noneSkipFirst].contains(alphaInfo)
        var offsets = (0..<components + extra).map { $0 * (bitsPerComponent / 8) }
        let order = info.byteOrder
        switch bitsPerComponent {
        case 8:
            guard order == .byteOrderDefault || order == .byteOrder32Big || order == .byteOrder32Little else {
                return nil
            }
            if order == .byteOrder32Little {
                guard bytesPerPixel == 4 else { return nil }
                offsets.reverse()
            }
        default:
            guard order == .byteOrderDefault || order == .byteOrder16Big || order == .byteOrder16Little else {
                return nil
            }
            if order == .byteOrder16Little { offsets = offsets.map { $0 + 1 } }
        }
        let first = leads ? 1 : 0
        color =
            components == 1
            ? (offsets[first], offsets[first], offsets[first])
            : (offsets[first], offsets[first + 1], offsets[first + 2])
        switch alphaInfo {
        case .premultipliedFirst, .first: alpha = offsets[0]
        case .premultipliedLast, .last: alpha = offsets[components]
        default: alpha = nil
        }
        isPremultiplied = alphaInfo == .premultipliedFirst || alphaInfo == .premultipliedLast
        isGray = components == 1
    }

    static func == (a: PixelLayout, b: PixelLayout) -> Bool {
        a.bytesPerPixel == b.bytesPerPixel && a.bytesPerComponent == b.bytesPerComponent && a.color == b.color
            && a.alpha == b.alpha && a.isPremultiplied == b.isPremultiplied && a.isGray == b.isGray
    }

    /// Converts pixels in this layout to a bitmap.
    ///
    /// Grey without alpha stays grey; everything else becomes premultiplied RGBA.
    func read(_ source: UnsafeRawBufferPointer, width: Int, height: Int, bytesPerRow: Int) -> Bitmap {
        let target: Bitmap.Layout = isGray && alpha == nil ? .gray : .rgba
        let count = width * height * target.bytesPerPixel
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
            var to = 0
            for row in 0..<height {
                var from = row * bytesPerRow
                for _ in 0..<width {
                    if target == .gray {
                        result[to] = source[from + color.0]
                    } else {
                        let opacity = alpha.map { source[from + $0] } ?? 255
                        var red = source[from + color.0]
                        var green = source[from + color.1]
                        var blue = source[from + color.2]
                        if !isPremultiplied, opacity != 255 {
                            red = Bitmap.premultiplied(red, opacity)
                            green = Bitmap.premultiplied(green, opacity)
                            blue = Bitmap.premultiplied(blue, opacity)
                        }
                        result[to] = red
                        result[to + 1] = green
                        result[to + 2] = blue
                        result[to + 3] = opacity
                    }
                    to += target.bytesPerPixel
                    from += bytesPerPixel
                }
            }
            initialized = count
        }
        return Bitmap(width: width, height: height, layout: target, pixels: pixels)
    }
}
