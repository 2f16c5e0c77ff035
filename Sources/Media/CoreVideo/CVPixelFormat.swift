private func code(_ text: StaticString) -> OSType {
    text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | OSType($1) } }
}

public let kCVPixelFormatType_24RGB: OSType = 24
public let kCVPixelFormatType_32ARGB: OSType = 32
public let kCVPixelFormatType_24BGR: OSType = code("24BG")
public let kCVPixelFormatType_32BGRA: OSType = code("BGRA")
public let kCVPixelFormatType_32ABGR: OSType = code("ABGR")
public let kCVPixelFormatType_32RGBA: OSType = code("RGBA")
public let kCVPixelFormatType_OneComponent8: OSType = code("L008")
public let kCVPixelFormatType_OneComponent16: OSType = code("L016")
public let kCVPixelFormatType_OneComponent16Half: OSType = code("L00h")
public let kCVPixelFormatType_OneComponent32Float: OSType = code("L00f")
public let kCVPixelFormatType_TwoComponent8: OSType = code("2C08")
public let kCVPixelFormatType_TwoComponent16Half: OSType = code("2C0h")
public let kCVPixelFormatType_TwoComponent32Float: OSType = code("2C0f")
public let kCVPixelFormatType_64RGBAHalf: OSType = code("RGhA")
public let kCVPixelFormatType_128RGBAFloat: OSType = code("RGfA")
public let kCVPixelFormatType_DepthFloat16: OSType = code("hdep")
public let kCVPixelFormatType_DepthFloat32: OSType = code("fdep")
public let kCVPixelFormatType_DisparityFloat16: OSType = code("hdis")
public let kCVPixelFormatType_DisparityFloat32: OSType = code("fdis")
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: OSType = code("420v")
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: OSType = code("420f")

/// How a pixel format lays out its planes.
struct PixelFormat {
    /// Bytes of one pixel of each plane, and by how much the plane is smaller than the picture.
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
