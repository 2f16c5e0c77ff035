package import MLImages

extension CVBuffer {
    /// The pixels as 8-bit grey or RGBA; `nil` for formats that are not images (two components, depth).
    ///
    /// Colours are taken unchanged, whatever alpha says. Floating-point grey values range from 0 to 255 and are rounded
    /// and clamped. YpCbCr is decoded by ITU-R BT.601.
    package var bitmap: Bitmap? {
        switch pixelFormatType {
        case kCVPixelFormatType_32BGRA: color(2, 1, 0, 3, pixel: 4)
        case kCVPixelFormatType_32RGBA: color(0, 1, 2, 3, pixel: 4)
        case kCVPixelFormatType_32ARGB: color(1, 2, 3, 0, pixel: 4)
        case kCVPixelFormatType_32ABGR: color(3, 2, 1, 0, pixel: 4)
        case kCVPixelFormatType_24RGB: color(0, 1, 2, nil, pixel: 3)
        case kCVPixelFormatType_24BGR: color(2, 1, 0, nil, pixel: 3)
        case kCVPixelFormatType_OneComponent8: gray(UInt8.self) { $0 }
        case kCVPixelFormatType_OneComponent16: gray(UInt16.self) { UInt8(($0.littleEndian) >> 8) }
        case kCVPixelFormatType_OneComponent16Half: gray(Float16.self) { CVBuffer.byte(Float($0)) }
        case kCVPixelFormatType_OneComponent32Float: gray(Float.self) { CVBuffer.byte($0) }
        case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: video(offset: 16, scale: 255 / 219, chroma: 255 / 224)
        case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: video(offset: 0, scale: 1, chroma: 1)
        default: nil
        }
    }

    /// Overwrites the pixels with `bitmap`, which must have the buffer's size; `false` when the format takes no image.
    package func write(_ bitmap: Bitmap) -> Bool {
        precondition(bitmap.width == width && bitmap.height == height)
        switch pixelFormatType {
        case kCVPixelFormatType_32BGRA: writeColor(bitmap, 2, 1, 0, 3, pixel: 4)
        case kCVPixelFormatType_32RGBA: writeColor(bitmap, 0, 1, 2, 3, pixel: 4)
        case kCVPixelFormatType_32ARGB: writeColor(bitmap, 1, 2, 3, 0, pixel: 4)
        case kCVPixelFormatType_32ABGR: writeColor(bitmap, 3, 2, 1, 0, pixel: 4)
        case kCVPixelFormatType_24RGB: writeColor(bitmap, 0, 1, 2, nil, pixel: 3)
        case kCVPixelFormatType_24BGR: writeColor(bitmap, 2, 1, 0, nil, pixel: 3)
        case kCVPixelFormatType_OneComponent8: writeGray(bitmap) { $0 }
        case kCVPixelFormatType_OneComponent16: writeGray(bitmap) { UInt16($0) * 257 }
        case kCVPixelFormatType_OneComponent16Half: writeGray(bitmap) { Float16($0) }
        case kCVPixelFormatType_OneComponent32Float: writeGray(bitmap) { Float($0) }
        default: return false
        }
        return true
    }

    /// Creates a buffer of the given format that holds `bitmap`; `nil` when the format takes no image.
    package convenience init?(_ bitmap: Bitmap, pixelFormatType: OSType) {
        self.init(width: bitmap.width, height: bitmap.height, pixelFormatType: pixelFormatType)
        guard write(bitmap) else { return nil }
    }

    private static func byte(_ value: Float) -> UInt8 {
        value.isNaN ? 0 : UInt8(min(max(value, 0), 255).rounded())
    }

    private func color(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int?, pixel: Int) -> Bitmap {
        let plane = planes[0]
        let count = width * height * 4
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
            var to = 0
            for y in 0..<height {
                var source = UnsafePointer((plane.address + y * plane.bytesPerRow).assumingMemoryBound(to: UInt8.self))
                for _ in 0..<width {
                    result[to] = source[red]
                    result[to + 1] = source[green]
                    result[to + 2] = source[blue]
                    result[to + 3] = alpha.map { source[$0] } ?? 255
                    source += pixel
                    to += 4
                }
            }
            initialized = count
        }
        return Bitmap(width: width, height: height, layout: .rgba, pixels: pixels)
    }

    private func gray<T: BitwiseCopyable>(_: T.Type, _ convert: (T) -> UInt8) -> Bitmap {
        let plane = planes[0]
        let pixels = [UInt8](unsafeUninitializedCapacity: width * height) { result, initialized in
            for y in 0..<height {
                let source = (plane.address + y * plane.bytesPerRow).assumingMemoryBound(to: T.self)
                for x in 0..<width { result[y * width + x] = convert(source[x]) }
            }
            initialized = width * height
        }
        return Bitmap(width: width, height: height, layout: .gray, pixels: pixels)
    }

    private func video(offset: Float, scale: Float, chroma: Float) -> Bitmap {
        let count = width * height * 4
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { result, initialized in
            var to = 0
            for y in 0..<height {
                let luma = (planes[0].address + y * planes[0].bytesPerRow).assumingMemoryBound(to: UInt8.self)
                let colors = (planes[1].address + y / 2 * planes[1].bytesPerRow).assumingMemoryBound(to: UInt8.self)
                for x in 0..<width {
                    let light = (Float(luma[x]) - offset) * scale
                    let blueness = (Float(colors[x / 2 * 2]) - 128) * chroma
                    let redness = (Float(colors[x / 2 * 2 + 1]) - 128) * chroma
                    result[to] = CVBuffer.byte(light + 1.402 * redness)
                    result[to + 1] = CVBuffer.byte(light - 0.344136 * blueness - 0.714136 * redness)
                    result[to + 2] = CVBuffer.byte(light + 1.772 * blueness)
                    result[to + 3] = 255
                    to += 4
                }
            }
            initialized = count
        }
        return Bitmap(width: width, height: height, layout: .rgba, pixels: pixels)
    }

    private func writeColor(_ bitmap: Bitmap, _ red: Int, _ green: Int, _ blue: Int, _ alpha: Int?, pixel: Int) {
        let plane = planes[0]
        bitmap.converted(to: .rgba).pixels.withUnsafeBufferPointer { source in
            var from = 0
            for y in 0..<height {
                var target = (plane.address + y * plane.bytesPerRow).assumingMemoryBound(to: UInt8.self)
                for _ in 0..<width {
                    target[red] = source[from]
                    target[green] = source[from + 1]
                    target[blue] = source[from + 2]
                    if let alpha { target[alpha] = source[from + 3] }
                    target += pixel
                    from += 4
                }
            }
        }
    }

    private func writeGray<T: BitwiseCopyable>(_ bitmap: Bitmap, _ convert: (UInt8) -> T) {
        let plane = planes[0]
        bitmap.converted(to: .gray).pixels.withUnsafeBufferPointer { source in
            for y in 0..<height {
                let target = (plane.address + y * plane.bytesPerRow).assumingMemoryBound(to: T.self)
                for x in 0..<width { target[x] = convert(source[y * width + x]) }
            }
        }
    }
}
