import MLEngine
import MLNumerics
import MLSpecification

/// Inputs for measuring a model when none are given: the same for every run.
enum SampleInputs {
    static func features(_ interface: SpecModelDescription, _ arguments: [String]) throws -> [String: FeatureData] {
        if !arguments.isEmpty { return try InputReader(interface: interface).features(arguments) }
        var features: [String: FeatureData] = [:]
        var generator = SplitMix64(seed: 42)
        for input in interface.input where !input.type.isOptional { features[input.name] = sample(input, &generator) }
        return features
    }

    private static func sample(_ input: SpecFeatureDescription, _ generator: inout SplitMix64) -> FeatureData {
        switch input.type.type {
        case .multiArrayType(let array)?:
            let shape = defaultShape(array)
            let isInteger = array.dataType == .int32 || array.dataType == .int8
            let values = (0..<shape.reduce(1, *)).map { _ in
                isInteger ? Double(generator.next() % 2) : Double(generator.next() >> 11) / 0x1p52 - 1
            }
            let scalarType: ScalarType = isInteger ? .int32 : .float32
            return .tensor(Tensor(values: values, scalarType: scalarType, shape: shape))
        case .imageType(let image)?:
            let isGray = image.colorSpace == .grayscale || image.colorSpace == .grayscaleFloat16
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

    private static func defaultShape(_ array: SpecArrayFeatureType) -> [Int] {
        if !array.shape.isEmpty { return array.shape.map { Int(clamping: $0) } }
        switch array.shapeFlexibility {
        case .enumeratedShapes(let all)?: return all.shapes.first?.shape.map { Int(clamping: $0) } ?? []
        case .shapeRange(let range)?: return range.sizeRanges.map { max(Int(clamping: $0.lowerBound), 1) }
        case nil: return []
        }
    }
}
