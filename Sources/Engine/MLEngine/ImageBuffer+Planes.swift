package import MLFeatures
package import MLLowering
package import MLNumerics

extension ImageBuffer {
    /// The pixels as planes of numbers from 0 to 255: [1, C, H, W] float32, in the order of `layout`.
    package func planes(_ layout: ImageForm.ColorLayout) throws(ModelError) -> Tensor {
        let channels = layout.channelCount
        let components = try componentOffsets(layout)
        var result = Tensor(uninitialized: .float32, shape: [1, channels, height, width])
        result.withMutableElements(of: Float.self) { target in
            for row in 0..<height {
                let line = address + row * bytesPerRow
                for channel in 0..<channels {
                    let plane = target.baseAddress.unsafelyUnwrapped + (channel * height + row) * width
                    if format == .gray16Float {
                        let source = line.assumingMemoryBound(to: Float16.self)
                        for column in 0..<width { plane[column] = Float(source[column]) }
                    } else {
                        let source = line.assumingMemoryBound(to: UInt8.self) + components[channel]
                        let step = format.bytesPerPixel
                        for column in 0..<width { plane[column] = Float(source[column * step]) }
                    }
                }
            }
        }
        return result
    }

    /// The byte offset within a pixel of each channel of `layout`.
    private func componentOffsets(_ layout: ImageForm.ColorLayout) throws(ModelError) -> [Int] {
        let rgb: [Int]
        switch format {
        case .bgra8: rgb = [2, 1, 0]
        case .rgba8, .rgb8: rgb = [0, 1, 2]
        case .argb8: rgb = [1, 2, 3]
        case .gray8, .gray16Float:
            guard layout.channelCount == 1 else {
                throw ModelError(.invalidInput, "the model takes a colour image; convert the grey one to BGRA first")
            }
            return [0]
        }
        switch layout {
        case .rgb: return rgb
        case .bgr: return rgb.reversed()
        case .gray, .grayFloat16:
            throw ModelError(.invalidInput, "the model takes a grey image; convert the colours to one component first")
        }
    }

    /// Makes an image from planes of numbers, [1, …, 1, C, H, W].
    ///
    /// Values are rounded and clamped to 0…255, and alpha is 255. Half-precision grayscale images keep their values.
    package init(planes tensor: Tensor, layout: ImageForm.ColorLayout) throws(ModelError) {
        let shape = tensor.shape
        let channels = layout.channelCount
        guard shape.count >= 2, tensor.count == channels * shape.suffix(2).elementCount else {
            throw ModelError(.invalidModel, "a tensor of shape \(shape) is not an image of \(channels) channels")
        }
        let (height, width) = (shape[shape.count - 2], shape[shape.count - 1])
        let format: PixelFormat = layout == .grayFloat16 ? .gray16Float : channels == 1 ? .gray8 : .bgra8
        self.init(width: width, height: height, format: format)
        let locations = layout == .rgb ? [2, 1, 0] : [0, 1, 2]
        tensor.converted(to: .float32).withElements(of: Float.self) { source in
            for index in 0..<width * height {
                switch format {
                case .gray16Float:
                    address.storeBytes(of: Float16(source[index]), toByteOffset: index * 2, as: Float16.self)
                case .gray8: address.storeBytes(of: Self.byte(source[index]), toByteOffset: index, as: UInt8.self)
                default:
                    for channel in 0..<3 {
                        let value = Self.byte(source[channel * width * height + index])
                        address.storeBytes(of: value, toByteOffset: index * 4 + locations[channel], as: UInt8.self)
                    }
                    address.storeBytes(of: 255, toByteOffset: index * 4 + 3, as: UInt8.self)
                }
            }
        }
    }

    private static func byte(_ value: Float) -> UInt8 {
        value.isNaN ? 0 : UInt8(min(max(value.rounded(.toNearestOrEven), 0), 255))
    }
}
