package import MLNumerics

/// The value of a feature on its way in or out of an engine.
package enum FeatureData: Sendable {
    case int64(Int64)
    case double(Double)
    case string(String)
    case tensor(Tensor)
    case image(ImageBuffer)
    case dictionary(FeatureDictionary)
    case sequence(FeatureSequence)

    /// The bytes of arrays and pixels; 0 for other values.
    package var byteCount: Int {
        switch self {
        case .tensor(let tensor): tensor.byteCount
        case .image(let image): image.bytesPerRow * image.height
        default: 0
        }
    }

    /// The kind of value, for messages.
    package var kind: String {
        switch self {
        case .int64: "an integer"
        case .double: "a number"
        case .string: "a string"
        case .tensor(let tensor): "a multi-array of \(tensor.scalarType.milName) \(tensor.shape)"
        case .image(let image): "an image of \(image.width) × \(image.height)"
        case .dictionary: "a dictionary"
        case .sequence: "a sequence"
        }
    }
}

/// Numbers by label.
package enum FeatureDictionary: Sendable, Equatable {
    case strings([String: Double])
    case integers([Int64: Double])
}

package enum FeatureSequence: Sendable, Equatable {
    case strings([String])
    case integers([Int64])
}

/// Pixels in memory of another owner.
///
/// `@unchecked Sendable`: nobody may write to the pixels while an engine reads them.
package struct ImageBuffer: @unchecked Sendable {
    /// The order and size of the components of a pixel.
    package enum PixelFormat: Sendable {
        case bgra8, rgba8, argb8, rgb8, gray8
        /// One half-precision number per pixel.
        case gray16Float

        package var bytesPerPixel: Int {
            switch self {
            case .bgra8, .rgba8, .argb8: 4
            case .rgb8: 3
            case .gray16Float: 2
            case .gray8: 1
            }
        }
    }

    package let width: Int
    package let height: Int
    package let bytesPerRow: Int
    package let format: PixelFormat
    package let address: UnsafeMutableRawPointer
    /// The object that keeps the pixels alive.
    package let owner: AnyObject

    package init(
        width: Int,
        height: Int,
        bytesPerRow: Int,
        format: PixelFormat,
        address: UnsafeMutableRawPointer,
        owner: AnyObject
    ) {
        precondition(bytesPerRow >= width * format.bytesPerPixel)
        self.width = width
        self.height = height
        self.bytesPerRow = bytesPerRow
        self.format = format
        self.address = address
        self.owner = owner
    }

    /// Makes an image of pixels in rows without gaps; there must be as many as the image has.
    package init(_ pixels: [UInt8], width: Int, height: Int, format: PixelFormat) {
        precondition(pixels.count == width * height * format.bytesPerPixel)
        let storage = TensorStorage(copying: pixels)
        self.init(
            width: width,
            height: height,
            bytesPerRow: width * format.bytesPerPixel,
            format: format,
            address: storage.address,
            owner: storage
        )
    }

    /// Makes an image of zeros.
    package init(width: Int, height: Int, format: PixelFormat) {
        let bytesPerRow = width * format.bytesPerPixel
        let storage = TensorStorage(byteCount: bytesPerRow * height, zeroed: true)
        self.init(
            width: width,
            height: height,
            bytesPerRow: bytesPerRow,
            format: format,
            address: storage.address,
            owner: storage
        )
    }
}
