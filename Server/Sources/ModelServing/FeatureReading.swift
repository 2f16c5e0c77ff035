import CoreML
import Glibc
import ImageIO
import NIOCore

/// The features of one example.
///
/// `@unchecked Sendable`, unchecked: it is filled by the task that reads the request and then only read.
struct Example: @unchecked Sendable {
    let features: MLDictionaryFeatureProvider
}

extension ModelInterface {
    /// The features that a request's tensors are.
    ///
    /// - Throws: `ServingError` that names the input and what the model takes.
    func example(_ tensors: [Tensor]) throws -> Example {
        var provided = [String: Tensor](minimumCapacity: tensors.count)
        for tensor in tensors { provided[tensor.name] = tensor }
        var values: [String: Any] = [:]
        for feature in description.features(.input) {
            if feature.type == .dictionary {
                let keys = provided.removeValue(forKey: Self.keysName(feature.name))
                let numbers = provided.removeValue(forKey: Self.valuesName(feature.name))
                if let keys, let numbers {
                    values[feature.name] = try FeatureReading.dictionary(feature, keys, numbers)
                    continue
                }
                if keys == nil, numbers == nil, feature.isOptional { continue }
                let absent = Self.keysName(feature.name) + "\" and \"" + Self.valuesName(feature.name)
                throw ServingError.invalid("The inputs \"\(absent)\" are needed. \(inputList)")
            }
            guard let tensor = provided.removeValue(forKey: feature.name) else {
                if feature.isOptional { continue }
                throw ServingError.invalid("The input \"\(feature.name)\" is missing. \(inputList)")
            }
            values[feature.name] = try FeatureReading.value(feature, tensor)
        }
        if let unknown = provided.keys.min() {
            throw ServingError.invalid("The model has no input \"\(unknown)\". \(inputList)")
        }
        return Example(features: try MLDictionaryFeatureProvider(dictionary: values))
    }

    /// The model's inputs as text.
    private var inputList: String {
        "The model's inputs: "
            + inputs.map { "\($0.name) (\($0.type.rawValue) \(shapeText($0.shape)))" }.joined(separator: ", ") + "."
    }

    /// The tensor that a body without JSON is: that of the model's only input.
    func rawTensor(_ body: ByteBuffer) throws -> Tensor {
        guard inputs.count == 1, let input = inputs.first else {
            throw ServingError.invalid(
                "A request without JSON (Inference-Header-Content-Length: 0) needs a model with one input; this one "
                    + "has \(inputs.count)."
            )
        }
        let isImage = description.inputDescriptionsByName[input.name]?.type == .image
        if isImage || input.type == .bytes { return Tensor(input.name, .bytes, [1], .strings([body])) }
        var shape = input.shape
        if let axis = shape.firstIndex(of: -1) {
            let remaining = shape.filter { $0 != -1 }.reduce(1, *) * (input.type.byteCount ?? 1)
            guard shape.count(where: { $0 == -1 }) == 1, remaining > 0, body.readableBytes % remaining == 0 else {
                throw ServingError.invalid(
                    "The shape of the input \"\(input.name)\", \(shapeText(input.shape)), does not follow from "
                        + "\(body.readableBytes) bytes: send a request with JSON."
                )
            }
            shape[axis] = body.readableBytes / remaining
        }
        let elements = try Tensor.elements(body, input.type, count: shape.reduce(1, *), of: input.name)
        return Tensor(input.name, input.type, shape, elements)
    }
}

/// Turns tensors into the values of features.
enum FeatureReading {
    static func value(_ feature: MLFeatureDescription, _ tensor: Tensor) throws -> Any {
        switch feature.type {
        case .multiArray: return MLFeatureValue(multiArray: try array(feature, tensor))
        case .image: return try image(feature, tensor)
        case .int64: return MLFeatureValue(int64: try integers(feature, tensor, isOne: true)[0])
        case .double: return MLFeatureValue(double: try doubles(tensor, isOne: true)[0])
        case .string: return MLFeatureValue(string: try texts(tensor, isOne: true)[0])
        case .sequence:
            if feature.sequenceConstraint?.valueDescription.type == .int64 {
                let values = try integers(feature, tensor, isOne: false)
                return MLFeatureValue(sequence: MLSequence(int64s: values.map { NSNumber(value: $0) }))
            }
            return MLFeatureValue(sequence: MLSequence(strings: try texts(tensor, isOne: false)))
        case .dictionary, .state, .invalid:
            throw ServingError.invalid("The input \"\(feature.name)\" is of a kind that requests cannot hold.")
        }
    }

    private static func expect(_ type: TensorType, _ tensor: Tensor) throws {
        guard tensor.type == type else {
            throw ServingError.invalid(
                "The input \"\(tensor.name)\" has the type \(tensor.type.rawValue), but the model takes "
                    + "\(type.rawValue)."
            )
        }
    }

    private static func array(_ feature: MLFeatureDescription, _ tensor: Tensor) throws -> MLMultiArray {
        guard let constraint = feature.multiArrayConstraint else {
            throw ServingError.invalid("The input \"\(tensor.name)\" has no array type.")
        }
        try expect(TensorType(constraint.dataType), tensor)
        guard case .raw(let bytes) = tensor.elements else {
            throw ServingError.invalid("The input \"\(tensor.name)\" must hold numbers.")
        }
        return try MLMultiArray(bytes, shape: tensor.shape, dataType: constraint.dataType)
    }

    private static func checkCount(_ tensor: Tensor, isOne: Bool) throws {
        guard !isOne || tensor.count == 1 else {
            throw ServingError.invalid(
                "The input \"\(tensor.name)\" has the shape \(shapeText(tensor.shape)), but the model takes one value: "
                    + "[1]."
            )
        }
    }

    private static func integers(
        _ feature: MLFeatureDescription,
        _ tensor: Tensor,
        isOne: Bool
    ) throws -> [Int64] {
        try expect(.int64, tensor)
        try checkCount(tensor, isOne: isOne)
        return numbers(tensor, Int64.self)
    }

    private static func doubles(_ tensor: Tensor, isOne: Bool) throws -> [Double] {
        try expect(.fp64, tensor)
        try checkCount(tensor, isOne: isOne)
        return numbers(tensor, Double.self)
    }

    private static func numbers<T: BitwiseCopyable>(_ tensor: Tensor, _ type: T.Type) -> [T] {
        guard case .raw(let bytes) = tensor.elements else { return [] }
        let size = MemoryLayout<T>.size
        return bytes.withUnsafeReadableBytes { bytes in
            (0..<bytes.count / size).map { bytes.loadUnaligned(fromByteOffset: $0 * size, as: T.self) }
        }
    }

    private static func texts(_ tensor: Tensor, isOne: Bool) throws -> [String] {
        try expect(.bytes, tensor)
        try checkCount(tensor, isOne: isOne)
        guard case .strings(let strings) = tensor.elements else { return [] }
        return try strings.enumerated().map { index, bytes in
            guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
                throw ServingError.invalid("String \(index) of the input \"\(tensor.name)\" is not UTF-8.")
            }
            return text
        }
    }

    static func dictionary(_ feature: MLFeatureDescription, _ keys: Tensor, _ values: Tensor) throws -> Any {
        let numbers = try doubles(values, isOne: false)
        let names: [AnyHashable] =
            feature.dictionaryConstraint?.keyType == .int64
            ? try integers(feature, keys, isOne: false).map { AnyHashable(NSNumber(value: $0)) }
            : try texts(keys, isOne: false).map { AnyHashable($0) }
        guard names.count == numbers.count else {
            throw ServingError.invalid(
                "The input \"\(keys.name)\" has \(names.count) elements, but \"\(values.name)\" has \(numbers.count)."
            )
        }
        var result = [AnyHashable: NSNumber](minimumCapacity: names.count)
        for (key, value) in zip(names, numbers) {
            guard result.updateValue(NSNumber(value: value), forKey: key) == nil else {
                throw ServingError.invalid("The input \"\(keys.name)\" has the key \(key) twice.")
            }
        }
        return try MLFeatureValue(dictionary: result)
    }
}

extension MLMultiArray {
    /// An array of its own with the given elements, row-major.
    convenience init(_ bytes: ByteBuffer, shape: [Int], dataType: MLMultiArrayDataType) throws {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(bytes.readableBytes, 1)) == 0, let memory else {
            throw ServingError.busy("There is no memory for \(bytes.readableBytes) bytes.")
        }
        bytes.withUnsafeReadableBytes { source in
            if let base = source.baseAddress { memory.copyMemory(from: base, byteCount: source.count) }
        }
        var strides = shape
        var stride = 1
        for axis in shape.indices.reversed() {
            strides[axis] = stride
            stride *= max(shape[axis], 1)
        }
        try self.init(
            dataPointer: memory,
            shape: shape.map { NSNumber(value: $0) },
            dataType: dataType,
            strides: strides.map { NSNumber(value: $0) },
            deallocator: { free($0) }
        )
    }
}
