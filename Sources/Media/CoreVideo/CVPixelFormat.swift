/// The code of four characters.
private func code(_ text: StaticString) -> OSType {
    text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | OSType($1) } }
}

/// 8-bit red, green, blue.
public let kCVPixelFormatType_24RGB: OSType = 24
/// 8-bit alpha, red, green, blue.
public let kCVPixelFormatType_32ARGB: OSType = 32
/// 8-bit blue, green, red.
public let kCVPixelFormatType_24BGR: OSType = code("24BG")
/// 8-bit blue, green, red, alpha: the format of Core ML's colour images.
public let kCVPixelFormatType_32BGRA: OSType = code("BGRA")
/// 8-bit alpha, blue, green, red.
public let kCVPixelFormatType_32ABGR: OSType = code("ABGR")
/// 8-bit red, green, blue, alpha.
public let kCVPixelFormatType_32RGBA: OSType = code("RGBA")
/// 8-bit grey: the format of Core ML's grey images.
public let kCVPixelFormatType_OneComponent8: OSType = code("L008")
/// 16-bit unsigned grey, little-endian.
public let kCVPixelFormatType_OneComponent16: OSType = code("L016")
/// Half-precision grey with values from 0 to 255.
public let kCVPixelFormatType_OneComponent16Half: OSType = code("L00h")
/// Single-precision grey with values from 0 to 255.
public let kCVPixelFormatType_OneComponent32Float: OSType = code("L00f")
/// Two 8-bit components; not an image format.
public let kCVPixelFormatType_TwoComponent8: OSType = code("2C08")
/// Two half-precision components; not an image format.
public let kCVPixelFormatType_TwoComponent16Half: OSType = code("2C0h")
/// Two single-precision components; not an image format.
public let kCVPixelFormatType_TwoComponent32Float: OSType = code("2C0f")
/// Half-precision red, green, blue, alpha; buffers can hold it, but models neither accept nor return it here.
public let kCVPixelFormatType_64RGBAHalf: OSType = code("RGhA")
/// Single-precision red, green, blue, alpha; buffers can hold it, but models neither accept nor return it here.
public let kCVPixelFormatType_128RGBAFloat: OSType = code("RGfA")
/// Half-precision distance in metres; not an image format.
public let kCVPixelFormatType_DepthFloat16: OSType = code("hdep")
/// Single-precision distance in metres; not an image format.
public let kCVPixelFormatType_DepthFloat32: OSType = code("fdep")
/// Half-precision disparity in 1/metres; not an image format.
public let kCVPixelFormatType_DisparityFloat16: OSType = code("hdis")
/// Single-precision disparity in 1/metres; not an image format.
public let kCVPixelFormatType_DisparityFloat32: OSType = code("fdis")
/// 8-bit luma (16…235) in one plane and interleaved Cb, Cr (16…240) at half size in another; can be read, not written.
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: OSType = code("420v")
/// 8-bit luma (0…255) in one plane and interleaved Cb, Cr (0…255) at half size in another; can be read, not written.
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: OSType = code("420f")

/// The planes of a pixel format.
struct PixelFormat {
    /// The bytes per pixel of each plane, and the factor by which the plane is smaller than the image.
    let planes: [(bytesPerPixel: Int, subsampling: Int)]

    init?(_ type: OSType) {
        switch type {
        case kCVPixelFormatType_24RGB, kCVPixelFormatType_24BGR: planes = [(3, 1)]
        case kCVPixelFormatType_32ARGB, kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ABGR,
            kCVPixelFormatType_32RGBA, kCVPixelFormatType_OneComponent32Float, kCVPixelFormatType_DepthFloat32,
            kCVPixelFormatType_DisparityFloat32, kCVPixelFormatType_TwoComponent16Half:
            planes = [(4, 1)]
        case kCVPixelFormatType_OneComponent8: planes = [(1, 1)]
        case kCVPixelFormatType_OneComponent16, kCVPixelFormatType_OneComponent16Half,
            kCVPixelFormatType_DepthFloat16, kCVPixelFormatType_DisparityFloat16, kCVPixelFormatType_TwoComponent8:
            planes = [(2, 1)]
        case kCVPixelFormatType_TwoComponent32Float, kCVPixelFormatType_64RGBAHalf: planes = [(8, 1)]
        case kCVPixelFormatType_128RGBAFloat: planes = [(16, 1)]
        case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
            planes = [(1, 1), (2, 2)]
        default: return nil
        }
    }
}

/// The name of a pixel format: its four characters, or its number.
package func pixelFormatName(_ type: OSType) -> String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: type >> $0) }
    return bytes.allSatisfy { (0x20..<0x7F).contains($0) } ? String(decoding: bytes, as: UTF8.self) : String(type)
}
