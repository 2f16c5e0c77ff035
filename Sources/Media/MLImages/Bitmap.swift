/// A picture in memory: rows without gaps, 8 bits a component, origin at the top left.
package struct Bitmap: Sendable, Equatable {
    /// The components of one pixel.
    package enum Layout: Int, Sendable {
        /// One byte of luminance.
        case gray = 1
        /// Red, green, blue, alpha; the colours are premultiplied by alpha.
        case rgba = 4

        package var bytesPerPixel: Int { rawValue }
    }

    package let width: Int
    package let height: Int
    package let layout: Layout
    /// `width * height * layout.bytesPerPixel` bytes.
    package var pixels: [UInt8]

    package init(width: Int, height: Int, layout: Layout, pixels: [UInt8]) {
        precondition(pixels.count == width * height * layout.bytesPerPixel)
        self.width = width
        self.height = height
        self.layout = layout
        self.pixels = pixels
    }

    /// All components zero: black, and transparent when there is alpha.
    package init(width: Int, height: Int, layout: Layout) {
        self.init(
            width: width,
            height: height,
            layout: layout,
            pixels: [UInt8](repeating: 0, count: width * height * layout.bytesPerPixel)
        )
    }

    package var bytesPerRow: Int { width * layout.bytesPerPixel }

    /// The luminance of a colour by ITU-R BT.601, rounded: 0.299 R + 0.587 G + 0.114 B.
    @inline(__always)
    package static func luminance(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
        var sum: UInt32 = 0x8000
        sum &+= UInt32(red) &* 19595
        sum &+= UInt32(green) &* 38470
        sum &+= UInt32(blue) &* 7471
        return UInt8(truncatingIfNeeded: sum >> 16)
    }

    /// `component` scaled by `alpha`, both in 0…255, rounded.
    @inline(__always)
    package static func premultiplied(_ component: UInt8, _ alpha: UInt8) -> UInt8 {
        let product = UInt32(component) &* UInt32(alpha) &+ 128
        return UInt8(truncatingIfNeeded: (product &+ (product >> 8)) >> 8)
    }

    /// The same picture with other components: grey by `luminance`, colour by repetition and full alpha.
    package func converted(to target: Layout) -> Bitmap {
        if target == layout { return self }
        let count = width * height
        let converted = [UInt8](unsafeUninitializedCapacity: count * target.bytesPerPixel) { result, initialized in
            pixels.withUnsafeBufferPointer { source in
                switch target {
                case .gray:
                    for index in 0..<count {
                        result[index] = Bitmap.luminance(
                            source[4 * index],
                            source[4 * index + 1],
                            source[4 * index + 2]
                        )
                    }
                case .rgba:
                    for index in 0..<count {
                        let value = source[index]
                        result[4 * index] = value
                        result[4 * index + 1] = value
                        result[4 * index + 2] = value
                        result[4 * index + 3] = 255
                    }
                }
            }
            initialized = count * target.bytesPerPixel
        }
        return Bitmap(width: width, height: height, layout: target, pixels: converted)
    }

    /// The part of the picture inside the given rectangle, which is cut to the picture's bounds.
    package func cropped(x: Int, y: Int, width cropWidth: Int, height cropHeight: Int) -> Bitmap {
        let left = min(max(x, 0), width)
        let top = min(max(y, 0), height)
        let right = min(max(x + cropWidth, left), width)
        let bottom = min(max(y + cropHeight, top), height)
        if left == 0, top == 0, right == width, bottom == height { return self }
        let pixel = layout.bytesPerPixel
        var result: [UInt8] = []
        result.reserveCapacity((right - left) * (bottom - top) * pixel)
        for row in top..<bottom {
            result.append(contentsOf: pixels[(row * width + left) * pixel..<(row * width + right) * pixel])
        }
        return Bitmap(width: right - left, height: bottom - top, layout: layout, pixels: result)
    }

    /// This picture with `other`, of the same layout, written over it at (`x`, `y`); what lies outside is left out.
    package func overwritten(by other: Bitmap, x: Int, y: Int) -> Bitmap {
        precondition(other.layout == layout)
        var copy = self
        let pixel = layout.bytesPerPixel
        let left = max(x, 0)
        let right = min(x + other.width, width)
        guard left < right else { return self }
        for row in max(y, 0)..<max(min(y + other.height, height), max(y, 0)) {
            let source = ((row - y) * other.width + left - x) * pixel
            let target = (row * width + left) * pixel
            let count = (right - left) * pixel
            copy.pixels.replaceSubrange(target..<target + count, with: other.pixels[source..<source + count])
        }
        return copy
    }
}
