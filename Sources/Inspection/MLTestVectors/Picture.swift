import ImageIO
package import MLFeatures
import MLFiles
import MLImages
package import MLNumerics
package import MLSpecification

/// Images in files and arrays.
package enum Picture {
    /// Reads an image file upright, in the colour space of an image feature.
    ///
    /// - Parameters:
    ///   - path: The image file.
    ///   - type: The image feature.
    ///   - scales: Whether to resize it to the feature's size.
    ///   - crops: Whether to cut out the middle instead of stretching a picture of another aspect ratio.
    /// - Returns: The image as the value of the feature.
    /// - Throws: `.io` when the file cannot be read, and errors for a broken image or a size that does not fit; they
    ///   name the path.
    package static func read(
        _ path: String,
        _ type: SpecImageFeatureType,
        scales: Bool,
        crops: Bool = false
    ) throws(ModelError) -> FeatureData {
        let bytes = SpecBytes.field(try FileAccess.read(path))
        return try withErrorContext(path) { () throws(ModelError) in
            let file = try ImageFile(bytes)
            let isGray = type.colorSpace == .grayscale || type.colorSpace == .grayscaleFloat16
            var bitmap = try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
                .converted(to: isGray ? .gray : .rgba)
            if scales, type.sizeFlexibility == nil, type.width > 0, type.height > 0 {
                try MemoryLimit.require([Int(type.width), Int(type.height)], bitWidth: 32)
                bitmap = bitmap.fitted(
                    crops ? .centerCrop : .scaleFill,
                    width: Int(type.width),
                    height: Int(type.height)
                )
            }
            let format = isGray ? ImageBuffer.PixelFormat.gray8 : .rgba8
            return .image(ImageBuffer(bitmap.pixels, width: bitmap.width, height: bitmap.height, format: format))
        }
    }

    /// The image in an array: uint8 [height, width], or with 3 (RGB) or 4 (RGBA) components last; float16 [height,
    /// width]; `nil` for other arrays.
    static func of(_ tensor: Tensor) -> ImageBuffer? {
        let shape = tensor.shape
        guard (2...3).contains(shape.count), shape[0] > 0, shape[1] > 0 else { return nil }
        let format: ImageBuffer.PixelFormat
        switch (tensor.scalarType, shape.count == 3 ? shape[2] : 1) {
        case (.uint8, 1): format = .gray8
        case (.float16, 1): format = .gray16Float
        case (.uint8, 3): format = .rgb8
        case (.uint8, 4): format = .rgba8
        default: return nil
        }
        let image = ImageBuffer(width: shape[1], height: shape[0], format: format)
        withExtendedLifetime(tensor.storage) {
            image.address.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
        }
        return image
    }

    /// The array of an image, in the layout that `of` reads.
    static func array(_ image: ImageBuffer) -> Tensor {
        if image.format == .gray16Float {
            var values: [Double] = []
            for row in 0..<image.height {
                for column in 0..<image.width { values.append(image.level(row, column, 0)) }
            }
            return Tensor(values: values, scalarType: .float16, shape: [image.height, image.width])
        }
        let components = image.isGray ? 1 : 3
        var levels: [UInt8] = []
        levels.reserveCapacity(image.width * image.height * components)
        for row in 0..<image.height {
            for column in 0..<image.width {
                for component in 0..<components { levels.append(UInt8(image.level(row, column, component))) }
            }
        }
        let shape = [image.height, image.width] + (components == 1 ? [] : [components])
        return Tensor(elements: levels, scalarType: .uint8, shape: shape)
    }

    /// The bytes of a PNG file.
    static func png(_ image: ImageBuffer) throws(ModelError) -> [UInt8] {
        var bitmap = Bitmap(width: image.width, height: image.height, layout: image.isGray ? .gray : .rgba)
        var next = 0
        for row in 0..<image.height {
            for column in 0..<image.width {
                for component in 0..<(image.isGray ? 1 : 3) {
                    let level = image.level(row, column, component)
                    bitmap.pixels[next] = level.isNaN ? 0 : UInt8(min(max(level.rounded(), 0), 255))
                    next += 1
                }
                if !image.isGray {
                    bitmap.pixels[next] = 255
                    next += 1
                }
            }
        }
        return SpecBytes.array(try ImageEncoder.png(bitmap, isOpaque: true))
    }
}
