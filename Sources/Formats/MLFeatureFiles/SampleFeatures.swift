package import MLFeatures
import MLFiles
package import MLNumerics
package import MLSpecification

/// Inputs made up for a model: the same for every run.
package enum SampleFeatures {
    /// A value for every input that is not optional, in the shape that the model states first.
    package static func features(
        of interface: SpecModelDescription,
        seed: UInt64 = 42
    ) throws(ModelError) -> [String: FeatureData] {
        var features: [String: FeatureData] = [:]
        var generator = SplitMix64(seed: seed)
        for input in interface.input where !input.type.isOptional {
            features[input.name] = try withErrorContext("input '\(input.name)'") { () throws(ModelError) in
                try sample(input, &generator)
            }
        }
        return features
    }

    private static func sample(_ input: SpecFeatureDescription, _ generator: inout SplitMix64) throws(ModelError)
        -> FeatureData
    {
        switch input.type.type {
        case .multiArrayType(let array)?:
            let shape = defaultShape(array)
            let isInteger = array.dataType == .int32 || array.dataType == .int8
            try MemoryLimit.require(shape, bitWidth: 64)
            let values = (0..<shape.elementCount).map { _ in
                isInteger ? Double(generator.next() % 2) : Double(generator.next() >> 11) / 0x1p52 - 1
            }
            let scalarType: ScalarType = isInteger ? .int32 : .float32
            return .tensor(Tensor(values: values, scalarType: scalarType, shape: shape))
        case .imageType(let image)?:
            let isGray = image.colorSpace == .grayscale || image.colorSpace == .grayscaleFloat16
            guard image.width > 0, image.height > 0, image.width < 1 << 20, image.height < 1 << 20 else {
                throw ModelError(.invalidModel, "an image of \(image.width) × \(image.height) is not valid")
            }
            try MemoryLimit.require([Int(image.width), Int(image.height)], bitWidth: 32)
            let buffer = ImageBuffer(
                width: Int(image.width),
                height: Int(image.height),
                format: isGray ? .gray8 : .bgra8
            )
            for offset in 0..<buffer.bytesPerRow * buffer.height {
                buffer.address.storeBytes(
                    of: UInt8(truncatingIfNeeded: generator.next()),
                    toByteOffset: offset,
                    as: UInt8.self
                )
            }
            return .image(buffer)
        case .int64Type?: return .int64(1)
        case .stringType?: return .string("")
        case .dictionaryType?: return .dictionary(.strings([:]))
        case .sequenceType(let sequence)?:
            if case .int64Type? = sequence.type { return .sequence(.integers([])) }
            return .sequence(.strings([]))
        default: return .double(0.5)
        }
    }

    /// The shape that an array states first.
    package static func defaultShape(_ array: SpecArrayFeatureType) -> [Int] {
        if !array.shape.isEmpty { return array.shape.map { Int(clamping: $0) } }
        switch array.shapeFlexibility {
        case .enumeratedShapes(let all)?: return all.shapes.first?.shape.map { Int(clamping: $0) } ?? []
        case .shapeRange(let range)?: return range.sizeRanges.map { max(Int(clamping: $0.lowerBound), 1) }
        case nil: return []
        }
    }
}
