package import MLFeatures
package import MLFiles
import MLNumerics

/// Outputs in the page's format: small ones as JSON, elements of arrays and pixels as blobs.
package struct AnswerParcel {
    package var builder = Parcel.Builder()

    package init() {}

    /// Adds the outputs of one prediction.
    ///
    /// - Parameters:
    ///   - values: The outputs by name.
    ///   - names: The outputs in their order.
    /// - Returns: The outputs as the page expects them.
    package mutating func outputs(_ values: [String: FeatureData], in names: [String]) -> JSONValue {
        let others = values.keys.filter { !names.contains($0) }.sorted()
        var list: [JSONValue] = []
        for name in names + others {
            guard let value = values[name] else { continue }
            list.append(.object([.init("name", .string(name))] + members(value)))
        }
        return .array(list)
    }

    private mutating func members(_ value: FeatureData) -> [JSONValue.Member] {
        func kind(_ name: String) -> JSONValue.Member { .init("type", .string(name)) }
        switch value {
        case .int64(let number): return [kind("integer"), .init("value", .string("\(number)"))]
        case .double(let number): return [kind("number"), .init("value", .number(number))]
        case .string(let text): return [kind("string"), .init("value", .string(text))]
        case .tensor(let tensor): return [kind("array")] + members(tensor)
        case .image(let image): return [kind("image")] + members(image)
        case .dictionary(.strings(let values)):
            return [kind("dictionary"), .init("value", Self.ranking(values.map { ($0.key, $0.value) }))]
        case .dictionary(.integers(let values)):
            return [kind("dictionary"), .init("value", Self.ranking(values.map { ("\($0.key)", $0.value) }))]
        case .sequence(.strings(let values)):
            return [kind("sequence"), .init("value", .array(values.map { .string($0) }))]
        case .sequence(.integers(let values)):
            return [kind("sequence"), .init("value", .array(values.map { .string("\($0)") }))]
        }
    }

    /// Pairs of a key and its number, the greatest first.
    private static func ranking(_ values: [(key: String, value: Double)]) -> JSONValue {
        let sorted = values.sorted { left, right in
            if left.value == right.value || left.value.isNaN && right.value.isNaN { return left.key < right.key }
            return right.value.isNaN || left.value > right.value
        }
        return .array(sorted.map { .array([.string($0.key), .number($0.value)]) })
    }

    private mutating func members(_ tensor: Tensor) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("shape", .array(tensor.shape.map { .integer(Int64($0)) })),
            .init("scalar", .string(tensor.scalarType.milName)),
        ]
        if tensor.scalarType == .string {
            members.append(.init("value", .array(tensor.strings.map { .string($0) })))
            return members
        }
        // Browsers have typed arrays of 32-bit floats, 32-bit integers and doubles.
        let form: ScalarType =
            switch tensor.scalarType {
            case .float64, .int64, .uint64, .uint32: .float64
            case .float32, .float16: .float32
            default: .int32
            }
        let converted = tensor.converted(to: form)
        members.append(.init("form", .string(form.milName)))
        converted.withBytes { members += builder.add($0) }
        return members
    }

    /// Red, green, blue and alpha of each pixel, row by row.
    private mutating func members(_ image: ImageBuffer) -> [JSONValue.Member] {
        var pixels = [UInt8](repeating: 255, count: image.width * image.height * 4)
        let places: [Int] =
            switch image.format {
            case .bgra8: [2, 1, 0]
            case .rgba8, .rgb8: [0, 1, 2]
            case .argb8: [1, 2, 3]
            case .gray8, .gray16Float: [0, 0, 0]
            }
        for row in 0..<image.height {
            let line = image.address + row * image.bytesPerRow
            for column in 0..<image.width {
                let pixel = (row * image.width + column) * 4
                let offset = column * image.format.bytesPerPixel
                for component in 0..<3 {
                    if image.format == .gray16Float {
                        let value = line.load(fromByteOffset: offset, as: Float16.self)
                        pixels[pixel + component] = value.isNaN ? 0 : UInt8(min(max(value.rounded(), 0), 255))
                    } else {
                        pixels[pixel + component] = line.load(
                            fromByteOffset: offset + places[component],
                            as: UInt8.self
                        )
                    }
                }
            }
        }
        let isGray = image.format == .gray8 || image.format == .gray16Float
        return [
            .init("width", .integer(Int64(image.width))), .init("height", .integer(Int64(image.height))),
            .init("gray", .bool(isGray)),
        ] + builder.add(pixels)
    }
}
