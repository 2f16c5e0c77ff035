import CoreML
import Foundation
import NIOCore

/// The outputs of one example.
///
/// `@unchecked Sendable`, unchecked: it is filled by the thread that predicts and then only read.
struct Outputs: @unchecked Sendable {
    let features: any MLFeatureProvider
}

extension ModelInterface {
    /// The outputs that a request wants, in its order, as tensors.
    ///
    /// - Throws: `ServingError` when there is no such output.
    func tensors(_ outputs: Outputs, for request: InferenceRequest) throws -> [(Tensor, isBinary: Bool)] {
        if request.outputs.isEmpty {
            return try description.features(.output).flatMap { feature in
                try FeatureWriting.tensors(feature.name, outputs.features).map { ($0, request.wantsBinary) }
            }
        }
        return try request.outputs.flatMap { wanted in
            let isBinary = wanted.isBinary ?? request.wantsBinary
            if wanted.classCount > 0 {
                let classes = try FeatureWriting.classes(feature(wanted.name), outputs.features, wanted)
                return [(classes, isBinary)]
            }
            return try FeatureWriting.tensors(feature(wanted.name), outputs.features)
                // `NAME.keys` asks for one of a dictionary's two tensors, `NAME` for both.
                .filter { isFeature(wanted.name) || $0.name == wanted.name }
                .map { ($0, isBinary) }
        }
    }

    /// Checks that the outputs that a request wants exist, before anything is computed.
    func check(_ request: InferenceRequest) throws {
        for wanted in request.outputs {
            let feature = try feature(wanted.name)
            let type = description.outputDescriptionsByName[feature]?.type
            guard wanted.classCount == 0 || type == .dictionary || type == .multiArray else {
                throw ServingError.invalid(
                    "The output \"\(wanted.name)\" has no classes: \"classification\" is for probabilities."
                )
            }
        }
    }

    private func isFeature(_ name: String) -> Bool { description.outputDescriptionsByName[name] != nil }

    /// The name of the feature that holds an output.
    private func feature(_ output: String) throws -> String {
        if isFeature(output) { return output }
        if outputs.contains(where: { $0.name == output }), let dot = output.lastIndex(of: ".") {
            return String(output[..<dot])
        }
        let names = outputs.map(\.name).joined(separator: ", ")
        throw ServingError.invalid("The model has no output \"\(output)\"; its outputs are \(names).")
    }
}

/// Turns the values of features into tensors.
enum FeatureWriting {
    static func tensors(_ name: String, _ features: any MLFeatureProvider) throws -> [Tensor] {
        guard let value = features.featureValue(for: name) else { return [] }
        switch value.type {
        case .int64: return [numbers(name, .int64, [value.int64Value])]
        case .double: return [numbers(name, .fp64, [value.doubleValue])]
        case .string: return [Tensor(name, .bytes, [1], .strings([ByteBuffer(string: value.stringValue)]))]
        case .multiArray:
            guard let array = value.multiArrayValue else { break }
            return [tensor(name, array)]
        case .image:
            guard let buffer = value.imageBufferValue else { break }
            return [try pixels(name, buffer)]
        case .sequence:
            guard let sequence = value.sequenceValue else { break }
            if sequence.type == .int64 { return [numbers(name, .int64, sequence.int64Values.map { $0.int64Value })] }
            let strings = sequence.stringValues.map { ByteBuffer(string: $0) }
            return [Tensor(name, .bytes, [strings.count], .strings(strings))]
        case .dictionary: return dictionary(name, ranked(value.dictionaryValue))
        case .state, .invalid: break
        }
        throw ServingError(500, "The output \"\(name)\" has a value of the type \(value.type), which has no tensor.")
    }

    private static func numbers<T: BitwiseCopyable>(_ name: String, _ type: TensorType, _ values: [T]) -> Tensor {
        Tensor(name, type, [values.count], .raw(values.withUnsafeBytes { ByteBuffer(bytes: $0) }))
    }

    /// The keys by falling values; equal ones in the order of their keys.
    private static func ranked(_ values: [AnyHashable: NSNumber]) -> [(key: AnyHashable, value: Double)] {
        values.map { (key: $0.key, value: $0.value.doubleValue) }.sorted { left, right in
            if left.value != right.value { return left.value > right.value }
            if let left = left.key.base as? NSNumber, let right = right.key.base as? NSNumber {
                return left.int64Value < right.int64Value
            }
            return "\(left.key)" < "\(right.key)"
        }
    }

    private static func dictionary(_ name: String, _ items: [(key: AnyHashable, value: Double)]) -> [Tensor] {
        let keysName = ModelInterface.keysName(name)
        let integers = items.compactMap { ($0.key.base as? NSNumber)?.int64Value ?? $0.key.base as? Int64 }
        let keys: Tensor
        if integers.count == items.count, !(items.first?.key.base is String) {
            keys = numbers(keysName, .int64, integers)
        } else {
            let strings = items.map { ByteBuffer(string: "\($0.key)") }
            keys = Tensor(keysName, .bytes, [strings.count], .strings(strings))
        }
        return [keys, numbers(ModelInterface.valuesName(name), .fp64, items.map(\.value))]
    }

    private static func tensor(_ name: String, _ array: MLMultiArray) -> Tensor {
        let shape = array.shape.map { $0.intValue }
        var (array, stride) = (array, 1)
        var isContiguous = true
        for (extent, step) in zip(shape, array.strides).reversed() {
            if extent > 1, step.intValue != stride { isContiguous = false }
            stride *= extent
        }
        if !isContiguous, let copy = try? MLMultiArray(shape: array.shape, dataType: array.dataType) {
            array.transfer(to: copy)
            array = copy
        }
        let type = TensorType(array.dataType)
        let count = shape.reduce(1, *) * (type.byteCount ?? 1)
        let bytes = UnsafeRawBufferPointer(start: array.dataPointer, count: count)
        return withExtendedLifetime(array) { Tensor(name, type, shape, .raw(ByteBuffer(bytes: bytes))) }
    }

    private static func pixels(_ name: String, _ buffer: CVPixelBuffer) throws -> Tensor {
        let source = CVPixelBufferGetPixelFormatType(buffer)
        let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
        let format = PixelFormat(source)
        guard let base = CVPixelBufferGetBaseAddress(buffer),
            format.channels == 1 || source == kCVPixelFormatType_32BGRA
        else { throw ServingError(500, "The output \"\(name)\" is an image of a format that has no tensor.") }
        let row = CVPixelBufferGetBytesPerRow(buffer)
        let count = width * format.channels * (format.type.byteCount ?? 1)
        var bytes = ByteBuffer()
        bytes.reserveCapacity(count * height)
        for y in 0..<height {
            let line = UnsafeRawBufferPointer(start: base + y * row, count: row)
            if format.channels == 1 {
                bytes.writeBytes(UnsafeRawBufferPointer(rebasing: line[..<count]))
            } else {
                for x in 0..<width { bytes.writeBytes([line[4 * x + 2], line[4 * x + 1], line[4 * x]]) }
            }
        }
        return withExtendedLifetime(buffer) {
            Tensor(name, format.type, [height, width, format.channels], .raw(bytes))
        }
    }

    // MARK: Classes

    /// The largest values with their classes, `value:index` or `value:index:label`, as Triton's classification
    /// extension writes them.
    static func classes(
        _ feature: String,
        _ features: any MLFeatureProvider,
        _ wanted: InferenceRequest.Output
    ) throws -> Tensor {
        guard let value = features.featureValue(for: feature) else {
            throw ServingError(500, "The model gave no value for the output \"\(feature)\".")
        }
        let texts: [String]
        if let array = value.multiArrayValue {
            let numbers = (0..<array.count).map { array[$0].doubleValue }
            let order = numbers.indices.sorted { left, right in
                numbers[left] != numbers[right] ? numbers[left] > numbers[right] : left < right
            }
            texts = order.prefix(wanted.classCount).map { "\(numbers[$0]):\($0)" }
        } else {
            let items = ranked(value.dictionaryValue)
            let keys = items.map { "\($0.key)" }.sorted()
            var indices = [String: Int](minimumCapacity: keys.count)
            for (index, key) in keys.enumerated() { indices[key] = index }
            texts = items.prefix(wanted.classCount).map { "\($0.value):\(indices["\($0.key)"] ?? 0):\($0.key)" }
        }
        return Tensor(wanted.name, .bytes, [texts.count], .strings(texts.map { ByteBuffer(string: $0) }))
    }
}
