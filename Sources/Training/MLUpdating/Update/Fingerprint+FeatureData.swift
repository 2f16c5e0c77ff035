import MLFeatures
import MLNumerics
import MLTrainingCore

extension Fingerprint {
    /// Adds the value of a feature.
    mutating func add(_ data: FeatureData) {
        switch data {
        case .int64(let value): add(Int(value))
        case .double(let value): add(value)
        case .string(let text): add(text)
        case .tensor(let tensor):
            add(tensor.shape.description)
            for text in tensor.scalarType == .string ? tensor.strings : [] { add(text) }
            if tensor.scalarType != .string { tensor.withBytes { add($0.bytes) } }
        case .image(let image):
            add(image.width)
            add(image.height)
            for row in 0..<image.height {
                let start = image.address + row * image.bytesPerRow
                add(UnsafeRawBufferPointer(start: start, count: image.width * image.format.bytesPerPixel).bytes)
            }
            withExtendedLifetime(image.owner) {}
        case .dictionary(.strings(let values)):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(key)
                add(value)
            }
        case .dictionary(.integers(let values)):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(Int(key))
                add(value)
            }
        case .sequence(.strings(let values)): for text in values { add(text) }
        case .sequence(.integers(let values)): for number in values { add(Int(number)) }
        }
    }
}
