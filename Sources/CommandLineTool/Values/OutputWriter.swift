import Foundation
import ImageIO
import MLEngine
import MLFiles
import MLImages
import MLNumerics

/// Writes every output of a prediction to a file, through a temporary name.
enum OutputWriter {
    /// `.npz` (arrays; numbers as arrays of one element; images as bytes) or `.json`.
    static func write(_ outputs: [String: FeatureData], to path: String) throws {
        if path.hasSuffix(".npz") {
            var arrays: [String: Tensor] = [:]
            for (name, data) in outputs { if let tensor = tensor(data) { arrays[name] = tensor } }
            try FileAccess.write(try NumpyArchive.write(arrays), to: path)
        } else if path.hasSuffix(".json") {
            try FileAccess.write(try JSONFeature.text(outputs.mapValues(JSONFeature.json)) + "\n", to: path)
        } else {
            throw Failure("'\(path)': outputs are written to a .npz or a .json file")
        }
    }

    /// Writes an image as `NAME.png` beside the working files; gives the path.
    static func writeImage(_ image: ImageBuffer, named name: String) throws -> String {
        let path = "\(name).png"
        var bitmap = Bitmap(width: image.width, height: image.height, layout: image.format == .bgra8 ? .rgba : .gray)
        for row in 0..<image.height {
            let line = image.address + row * image.bytesPerRow
            for column in 0..<image.width {
                let index = row * image.width + column
                switch image.format {
                case .bgra8:
                    for (component, source) in [2, 1, 0, 3].enumerated() {
                        bitmap.pixels[index * 4 + component] = line.load(
                            fromByteOffset: column * 4 + source,
                            as: UInt8.self
                        )
                    }
                case .gray16Float:
                    let value = line.load(fromByteOffset: column * 2, as: Float16.self)
                    bitmap.pixels[index] = value.isNaN ? 0 : UInt8(min(max(value.rounded(), 0), 255))
                default: bitmap.pixels[index] = line.load(fromByteOffset: column, as: UInt8.self)
                }
            }
        }
        try FileAccess.write([UInt8](try ImageEncoder.png(bitmap, isOpaque: true)), to: path)
        return path
    }

    private static func tensor(_ data: FeatureData) -> Tensor? {
        switch data {
        case .tensor(let tensor): return tensor
        case .double(let value): return Tensor(values: [value], scalarType: .float64, shape: [])
        case .int64(let value): return Tensor(elements: [value], scalarType: .int64, shape: [])
        case .image(let image):
            let width = image.width * image.format.bytesPerPixel
            var bytes: [UInt8] = []
            for row in 0..<image.height {
                bytes += UnsafeRawBufferPointer(start: image.address + row * image.bytesPerRow, count: width)
            }
            let shape = [image.height, image.width, image.format.bytesPerPixel]
            return Tensor(elements: bytes, scalarType: .uint8, shape: shape)
        case .string, .dictionary, .sequence: return nil
        }
    }
}
