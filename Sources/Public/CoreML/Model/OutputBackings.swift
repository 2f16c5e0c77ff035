import MLEngine
import MLNumerics

/// The caller's memory that outputs are written to.
struct OutputBackings {
    /// The backings that the engine can write to directly.
    let data: [String: FeatureData]
    private let arrays: [String: MLMultiArray]
    private let images: [String: CVPixelBuffer]

    init(_ backings: [String: Any], _ description: MLModelDescription) throws {
        var data: [String: FeatureData] = [:]
        var arrays: [String: MLMultiArray] = [:]
        var images: [String: CVPixelBuffer] = [:]
        for (name, backing) in backings {
            guard let output = description.outputDescriptionsByName[name] else {
                let names = description.outputs.map { $0.name }.joined(separator: ", ")
                throw MLModelError(
                    .generic,
                    "There is a backing for \"\(name)\", which is not an output; the outputs are \(names)."
                )
            }
            switch (output.type, backing) {
            case (.multiArray, let array as MLMultiArray):
                arrays[name] = array
                if array.isContiguous { data[name] = .tensor(array.tensor()) }
            case (.image, let buffer as CVPixelBuffer): images[name] = buffer
            default:
                throw MLModelError(
                    .featureType,
                    "The backing of output \"\(name)\" is a \(Swift.type(of: backing)), but the output is a "
                        + "\(output.typeText)."
                )
            }
        }
        self.data = data
        self.arrays = arrays
        self.images = images
    }

    /// Moves an output into the caller's memory, if there is some for it.
    func received(_ value: MLFeatureValue, _ name: String) throws -> MLFeatureValue {
        if let backing = arrays[name], let array = value.multiArrayValue {
            guard array.extents == backing.extents else {
                throw MLModelError(
                    .featureType,
                    "The backing of output \"\(name)\" has the shape \(backing.extents), the output \(array.extents)."
                )
            }
            if array.address != backing.address { array.transfer(to: backing) }
            return MLFeatureValue(multiArray: backing)
        }
        if let backing = images[name], let image = value.imageBufferValue {
            guard image.width == backing.width, image.height == backing.height else {
                throw MLModelError(
                    .featureType,
                    "The backing of output \"\(name)\" is \(backing), the output is \(image)."
                )
            }
            if image.pixelFormatType == backing.pixelFormatType {
                backing.copyPixels(of: image)
            } else if let bitmap = image.bitmap, backing.write(bitmap) {
                return MLFeatureValue(pixelBuffer: backing)
            } else {
                throw MLModelError(.featureType, "\(image) cannot be written to the backing, \(backing).")
            }
            return MLFeatureValue(pixelBuffer: backing)
        }
        return value
    }
}

extension CVBuffer {
    /// Copies the pixels of a buffer of the same size and format.
    fileprivate func copyPixels(of other: CVBuffer) {
        for (target, source) in zip(planes, other.planes) {
            let count = min(target.bytesPerRow, source.bytesPerRow)
            for row in 0..<target.height {
                (target.address + row * target.bytesPerRow).copyMemory(
                    from: source.address + row * source.bytesPerRow,
                    byteCount: count
                )
            }
        }
    }
}
