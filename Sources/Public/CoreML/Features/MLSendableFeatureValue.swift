/// A feature's value that can be passed between tasks: everything but pictures.
public struct MLSendableFeatureValue: Sendable, Equatable, CustomDebugStringConvertible {
    enum Content: Sendable {
        case undefined(MLFeatureType)
        case integer(Int)
        case double(Double)
        case string(String)
        case strings([String])
        case integers([Int64])
        case stringDictionary([String: Double])
        case integerDictionary([Int: Double])
        case float32(MLShapedArray<Float>)
        case float64(MLShapedArray<Double>)
        case float16(MLShapedArray<Float16>)
        case int32(MLShapedArray<Int32>)
        case int8(MLShapedArray<Int8>)
    }

    let content: Content

    public init(_ value: Int) { content = .integer(value) }
    public init(_ value: Int32) { content = .integer(Int(value)) }
    public init(_ value: Double) { content = .double(value) }
    public init(_ value: Float) { content = .double(Double(value)) }
    public init(_ value: Float16) { content = .double(Double(value)) }
    public init(_ value: String) { content = .string(value) }
    public init(_ value: [String]) { content = .strings(value) }
    public init(_ value: [String: Double]) { content = .stringDictionary(value) }
    public init(_ value: [String: Int]) { content = .stringDictionary(value.mapValues { Double($0) }) }
    public init(_ value: [Int: Double]) { content = .integerDictionary(value) }
    public init(_ value: [Int: Int]) { content = .integerDictionary(value.mapValues { Double($0) }) }
    public init(undefined type: MLFeatureType) { content = .undefined(type) }

    public init<Scalar>(_ value: MLShapedArray<Scalar>) where Scalar: MLShapedArrayScalar {
        switch Scalar.multiArrayDataType {
        case .float32: content = .float32(MLShapedArray<Float>(converting: value))
        case .double: content = .float64(MLShapedArray<Double>(converting: value))
        case .float16: content = .float16(MLShapedArray<Float16>(converting: value))
        case .int32: content = .int32(MLShapedArray<Int32>(converting: value))
        case .int8: content = .int8(MLShapedArray<Int8>(converting: value))
        }
    }

    /// `nil` for a picture.
    public init?(_ value: MLFeatureValue) {
        switch value.content {
        case .undefined(let type): content = .undefined(type)
        case .int64(let value): content = .integer(Int(value))
        case .double(let value): content = .double(value)
        case .string(let value): content = .string(value)
        case .image: return nil
        case .sequence(let value):
            content =
                value.type == .string
                ? .strings(value.stringValues) : .integers(value.int64Values.map { $0.int64Value })
        case .strings(let values): content = .stringDictionary(values)
        case .integers(let values):
            content = .integerDictionary(
                Dictionary(uniqueKeysWithValues: values.map { (Int($0.key), $0.value) })
            )
        case .multiArray(let array):
            switch array.dataType {
            case .float32: content = .float32(MLShapedArray(array))
            case .double: content = .float64(MLShapedArray(array))
            case .float16: content = .float16(MLShapedArray(array))
            case .int32: content = .int32(MLShapedArray(array))
            case .int8: content = .int8(MLShapedArray(array))
            }
        }
    }

    var featureContent: MLFeatureValue.Content {
        switch content {
        case .undefined(let type): .undefined(type)
        case .integer(let value): .int64(Int64(value))
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .strings(let values): .sequence(MLSequence(strings: values))
        case .integers(let values): .sequence(MLSequence(int64s: values.map { NSNumber(value: $0) }))
        case .stringDictionary(let values): .strings(values)
        case .integerDictionary(let values):
            .integers(Dictionary(uniqueKeysWithValues: values.map { (Int64($0.key), $0.value) }))
        case .float32(let array): .multiArray(MLMultiArray(array))
        case .float64(let array): .multiArray(MLMultiArray(array))
        case .float16(let array): .multiArray(MLMultiArray(array))
        case .int32(let array): .multiArray(MLMultiArray(array))
        case .int8(let array): .multiArray(MLMultiArray(array))
        }
    }

    public var type: MLFeatureType { MLFeatureValue(self).type }
    public var isUndefined: Bool { if case .undefined = content { true } else { false } }
    public var isScalar: Bool {
        switch content {
        case .integer, .double, .string: true
        default: false
        }
    }
    public var isShapedArray: Bool { type == .multiArray && !isUndefined }
    public var integerValue: Int? { if case .integer(let value) = content { value } else { nil } }
    public var doubleValue: Double? { if case .double(let value) = content { value } else { nil } }
    public var floatValue: Float? { doubleValue.map { Float($0) } }
    public var float16Value: Float16? { doubleValue.map { Float16($0) } }
    public var stringValue: String? { if case .string(let value) = content { value } else { nil } }
    public var stringArrayValue: [String]? { if case .strings(let values) = content { values } else { nil } }
    public var stringDictionaryValue: [String: Double]? {
        if case .stringDictionary(let values) = content { values } else { nil }
    }
    public var integerDictionaryValue: [Int: Double]? {
        if case .integerDictionary(let values) = content { values } else { nil }
    }

    /// `nil` when the value is no array, or its elements are not `Scalar`.
    public func shapedArrayValue<Scalar>(of type: Scalar.Type) -> MLShapedArray<Scalar>?
    where Scalar: MLShapedArrayScalar {
        switch content {
        case .float32(let array): array as? MLShapedArray<Scalar>
        case .float64(let array): array as? MLShapedArray<Scalar>
        case .float16(let array): array as? MLShapedArray<Scalar>
        case .int32(let array): array as? MLShapedArray<Scalar>
        case .int8(let array): array as? MLShapedArray<Scalar>
        default: nil
        }
    }

    public static func == (a: Self, b: Self) -> Bool { MLFeatureValue(a).isEqual(MLFeatureValue(b)) }
    public var debugDescription: String { (MLFeatureValue(self) as NSObject).description }
}
