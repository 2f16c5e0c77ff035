package import MLImages
package import MLNumerics

/// An image as training uses it: rows of red, green and blue bytes, without alpha.
package struct StyleImage: Sendable, Hashable {
    package let width: Int
    package let height: Int
    /// `width * height * 3` bytes.
    package let bytes: [UInt8]

    /// The largest side of an image that training keeps in memory.
    package static let maximumSide = 4096

    /// - Throws: `.malformed` if the number of bytes is not that of the size.
    package init(width: Int, height: Int, bytes: [UInt8]) throws(ModelError) {
        guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height),
            bytes.count == width * height * 3
        else {
            throw ModelError(.malformed, "\(bytes.count) bytes are not an image of \(width) × \(height) pixels")
        }
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// The colours of a bitmap; transparent pixels are blended over black.
    package init(_ bitmap: Bitmap) {
        let bitmap = bitmap.converted(to: .rgba)
        width = bitmap.width
        height = bitmap.height
        let count = width * height
        bytes = [UInt8](unsafeUninitializedCapacity: count * 3) { result, initialized in
            for index in 0..<count {
                for component in 0..<3 { result[3 * index + component] = bitmap.pixels[4 * index + component] }
            }
            initialized = count * 3
        }
    }

    /// The image as an opaque bitmap.
    package var bitmap: Bitmap {
        var result = Bitmap(width: width, height: height, layout: .rgba)
        for index in 0..<width * height {
            for component in 0..<3 { result.pixels[4 * index + component] = bytes[3 * index + component] }
            result.pixels[4 * index + 3] = 255
        }
        return result
    }

    /// The whole image: [1, 3, height, width], planes red, green, blue, from 0 to 1.
    package var tensor: Tensor { crop(x: 0, y: 0, width: width, height: height, isMirrored: false) }

    /// A part of the image, which must lie inside it, in the form of `tensor`.
    package func crop(x: Int, y: Int, width: Int, height: Int, isMirrored: Bool) -> Tensor {
        precondition(x >= 0 && y >= 0 && x + width <= self.width && y + height <= self.height)
        var result = Tensor(uninitialized: .float32, shape: [1, 3, height, width])
        result.withMutableElements(of: Float.self) { target in
            for row in 0..<height {
                for column in 0..<width {
                    let source = isMirrored ? x + width - 1 - column : x + column
                    let first = ((y + row) * self.width + source) * 3
                    for component in 0..<3 {
                        target[(component * height + row) * width + column] = Float(bytes[first + component]) / 255
                    }
                }
            }
        }
        return result
    }

    /// An image of numbers from 0 to 1, [1, 3, height, width]; others are clamped.
    package init(_ tensor: Tensor) {
        let (height, width) = (tensor.shape[2], tensor.shape[3])
        self.width = width
        self.height = height
        bytes = tensor.withElements(of: Float.self) { values in
            let count = width * height
            return [UInt8](unsafeUninitializedCapacity: count * 3) { result, initialized in
                for index in 0..<count {
                    for component in 0..<3 {
                        let value = values[component * count + index]
                        result[3 * index + component] = value.isNaN ? 0 : UInt8(min(max(value, 0), 1) * 255 + 0.5)
                    }
                }
                initialized = count * 3
            }
        }
    }
}
