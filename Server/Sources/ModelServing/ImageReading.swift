import CoreML
import Foundation
import ImageIO
import NIOCore

/// The form in which an image feature's pixels are sent.
struct PixelFormat {
    let type: TensorType
    /// The numbers of a pixel: 3, or 1 for grey.
    let channels: Int

    /// The form for a feature of a pixel format.
    init(_ format: OSType) {
        switch format {
        case kCVPixelFormatType_OneComponent8: (type, channels) = (.uint8, 1)
        case kCVPixelFormatType_OneComponent16Half: (type, channels) = (.fp16, 1)
        default: (type, channels) = (.uint8, 3)
        }
    }
}

extension FeatureReading {
    /// The most pixels of a picture that a client sends: decoded, it takes four bytes for each.
    private static let maximumPixelCount = 1 << 25

    /// An image feature: a picture file, scaled to the model's size, or the pixels themselves.
    static func image(_ feature: MLFeatureDescription, _ tensor: Tensor) throws -> Any {
        guard let constraint = feature.imageConstraint else {
            throw ServingError.invalid("The input \"\(tensor.name)\" has no image type.")
        }
        let format = PixelFormat(constraint.pixelFormatType)
        switch tensor.elements {
        case .strings(let files):
            guard files.count == 1 else {
                throw ServingError.invalid(
                    "The input \"\(tensor.name)\" has \(files.count) image files, but the model takes one: [1]."
                )
            }
            return try picture(files[0], constraint, tensor.name)
        case .raw(let bytes):
            guard tensor.type == format.type, tensor.shape.count == 3, tensor.shape[2] == format.channels,
                tensor.shape[0] > 0, tensor.shape[1] > 0
            else {
                throw ServingError.invalid(
                    "The input \"\(tensor.name)\" is \(tensor.type.rawValue) \(shapeText(tensor.shape)), but an image "
                        + "is \(format.type.rawValue) [height, width, \(format.channels)], or an image file as BYTES "
                        + "[1]."
                )
            }
            return MLFeatureValue(pixelBuffer: try pixels(bytes, tensor, constraint.pixelFormatType))
        }
    }

    private static func picture(
        _ file: ByteBuffer,
        _ constraint: MLImageConstraint,
        _ name: String
    ) throws -> MLFeatureValue {
        let data = NSData(data: Data(file.readableBytesView))
        guard let source = CGImageSourceCreateWithData(data, nil), CGImageSourceGetCount(source) > 0,
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil)
        else {
            throw ServingError.invalid("The input \"\(name)\" is not an image file that can be read.")
        }
        let width = (properties[kCGImagePropertyPixelWidth] as? NSNumber)?.intValue ?? 0
        let height = (properties[kCGImagePropertyPixelHeight] as? NSNumber)?.intValue ?? 0
        guard width > 0, height > 0, width <= maximumPixelCount / height else {
            throw ServingError.invalid(
                "The image of the input \"\(name)\" is \(width) × \(height) pixels: \(maximumPixelCount) are allowed."
            )
        }
        guard let image = CGImageSourceCreateImageAtIndex(source, 0, nil) else {
            throw ServingError.invalid("The image of the input \"\(name)\" is damaged.")
        }
        let number = (properties[kCGImagePropertyOrientation] as? NSNumber)?.uint32Value ?? 1
        let orientation = CGImagePropertyOrientation(rawValue: number) ?? .up
        return try MLFeatureValue(cgImage: image, orientation: orientation, constraint: constraint)
    }

    /// A pixel buffer of the model's format: red, green and blue become BGRA.
    private static func pixels(_ bytes: ByteBuffer, _ tensor: Tensor, _ format: OSType) throws -> CVPixelBuffer {
        let (height, width) = (tensor.shape[0], tensor.shape[1])
        let isGrey = tensor.shape[2] == 1
        var made: CVPixelBuffer?
        let target = isGrey ? format : kCVPixelFormatType_32BGRA
        guard CVPixelBufferCreate(nil, width, height, target, nil, &made) == kCVReturnSuccess, let buffer = made,
            let base = CVPixelBufferGetBaseAddress(buffer)
        else { throw ServingError.invalid("The input \"\(tensor.name)\" is an image of an impossible size.") }
        let row = CVPixelBufferGetBytesPerRow(buffer)
        bytes.withUnsafeReadableBytes { source in
            for y in 0..<height {
                let line = base + y * row
                if isGrey {
                    let count = width * (tensor.type.byteCount ?? 1)
                    line.copyMemory(from: source.baseAddress! + y * count, byteCount: count)
                    continue
                }
                for x in 0..<width {
                    let offset = (y * width + x) * 3
                    let (red, green, blue) = (source[offset], source[offset + 1], source[offset + 2])
                    let pixel = UInt32(blue) | UInt32(green) << 8 | UInt32(red) << 16 | 0xFF00_0000
                    line.storeBytes(of: pixel, toByteOffset: x * 4, as: UInt32.self)
                }
            }
        }
        return buffer
    }
}
