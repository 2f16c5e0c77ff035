import CoreML

/// A grey drawing of 28 × 28, white ink on black.
public struct Drawing: Sendable {
    public static let side = 28

    /// Row by row, 0…255.
    public var pixels: [UInt8]

    public init(pixels: [UInt8]) { self.pixels = pixels }

    /// The drawings of a sheet: rows of drawings side by side.
    public static func sheet(at url: URL) throws -> [[Drawing]] {
        guard let source = CGImageSourceCreateWithURL(url as CFURL, nil),
            let image = CGImageSourceCreateImageAtIndex(source, 0, nil)
        else { throw Unexpected("\(url.path) is not an image") }
        let (width, height) = (image.width, image.height)
        var gray = [UInt8](repeating: 0, count: width * height)
        gray.withUnsafeMutableBytes { bytes in
            let context = CGContext(
                data: bytes.baseAddress,
                width: width,
                height: height,
                bitsPerComponent: 8,
                bytesPerRow: width,
                space: CGColorSpaceCreateDeviceGray(),
                bitmapInfo: CGImageAlphaInfo.none.rawValue
            )
            context?.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
        }
        return (0..<height / side).map { row in
            (0..<width / side).map { column in
                Drawing(
                    pixels: (0..<side * side).map { place in
                        gray[(row * side + place / side) * width + column * side + place % side]
                    }
                )
            }
        }
    }

    /// The drawing as a model takes it.
    public func featureValue() throws -> MLFeatureValue {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, Self.side, Self.side, kCVPixelFormatType_OneComponent8, nil, &buffer)
        guard let buffer else { throw Unexpected("there is no memory for an image") }
        CVPixelBufferLockBaseAddress(buffer, [])
        defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
        if let base = CVPixelBufferGetBaseAddress(buffer) {
            let stride = CVPixelBufferGetBytesPerRow(buffer)
            for row in 0..<Self.side {
                let line = pixels[row * Self.side..<(row + 1) * Self.side]
                line.withUnsafeBytes {
                    base.advanced(by: row * stride).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
                }
            }
        }
        return MLFeatureValue(pixelBuffer: buffer)
    }

    /// Turned around its middle, counter-clockwise.
    public func rotated(by degrees: Double) -> Drawing {
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let middle = Double(Self.side - 1) / 2
        func pixel(_ row: Int, _ column: Int) -> Double {
            guard (0..<Self.side).contains(row), (0..<Self.side).contains(column) else { return 0 }
            return Double(pixels[row * Self.side + column])
        }
        return Drawing(
            pixels: (0..<Self.side * Self.side).map { place in
                let (x, y) = (Double(place % Self.side) - middle, Double(place / Self.side) - middle)
                let (column, row) = (cosine * x - sine * y + middle, sine * x + cosine * y + middle)
                let (left, top) = (Int(column.rounded(.down)), Int(row.rounded(.down)))
                let (right, down) = (column - Double(left), row - Double(top))
                let upper = pixel(top, left) * (1 - right) + pixel(top, left + 1) * right
                let lower = pixel(top + 1, left) * (1 - right) + pixel(top + 1, left + 1) * right
                return UInt8((upper * (1 - down) + lower * down).rounded())
            }
        )
    }
}

/// The folder of the examples' data.
public let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Data")

/// The folder of the digits that the tests use.
public let digits = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tests/Fixtures/digits")

/// A new folder for what an example writes; removed when the example ends.
public func scratchFolder() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
}

/// An unexpected result of an example.
public struct Unexpected: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// A share as text: "91.2 %".
public func percent(_ part: Int, of whole: Int) -> String {
    String(format: "%.1f %%", 100 * Double(part) / Double(max(whole, 1)))
}
