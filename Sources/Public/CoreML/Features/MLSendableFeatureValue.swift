/// A feature's value that can be sent between tasks: every type but images.
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

    /// Makes an integer value.
    public init(_ value: Int) { content = .integer(value) }
    /// Makes an integer value from a 32-bit integer.
    public init(_ value: Int32) { content = .integer(Int(value)) }
    /// Makes a double-precision value.
    public init(_ value: Double) { content = .double(value) }
    /// Makes a double-precision value from a single-precision number.
    public init(_ value: Float) { content = .double(Double(value)) }
    /// Makes a double-precision value from a half-precision number.
    public init(_ value: Float16) { content = .double(Double(value)) }
    /// Makes a string value.
    public init(_ value: String) { content = .string(value) }
    /// Makes a sequence of strings.
    public init(_ value: [String]) { content = .strings(value) }
    /// Makes a dictionary with string keys.
    public init(_ value: [String: Double]) { content = .stringDictionary(value) }
    /// Makes a dictionary with string keys; its integers become doubles.
    public init(_ value: [String: Int]) { content = .stringDictionary(value.mapValues { Double($0) }) }
    /// Makes a dictionary with integer keys.
    public init(_ value: [Int: Double]) { content = .integerDictionary(value) }
    /// Makes a dictionary with integer keys; its values become doubles.
    public init(_ value: [Int: Int]) { content = .integerDictionary(value.mapValues { Double($0) }) }
    /// Makes a missing value of the given type.
    public init(undefined type: MLFeatureType) { content = .undefined(type) }

    /// Makes an array value with the element type `Scalar`.
    public init<Scalar>(_ value: MLShapedArray<Scalar>) where Scalar: MLShapedArrayScalar {
        switch Scalar.multiArrayDataType {
        case .float32: content = .float32(MLShapedArray<Float>(converting: value))
        case .double: content = .float64(MLShapedArray<Double>(converting: value))
        case .float16: content = .float16(MLShapedArray<Float16>(converting: value))
        case .int32: content = .int32(MLShapedArray<Int32>(converting: value))
        case .int8: content = .int8(MLShapedArray<Int8>(converting: value))
        }
    }

    /// Makes a value from an `MLFeatureValue`, copying multi-arrays; `nil` for an image.
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

    /// The type of the value; shaped arrays are `.multiArray`.
    public var type: MLFeatureType { MLFeatureValue(self).type }
    /// Whether the value is missing.
    public var isUndefined: Bool { if case .undefined = content { true } else { false } }
    /// Whether the value is an integer, a double or a string.
    public var isScalar: Bool {
        switch content {
        case .integer, .double, .string: true
        default: false
        }
    }
    /// Whether the value is an array.
    public var isShapedArray: Bool { type == .multiArray && !isUndefined }
    /// The integer; `nil` for values of other types.
    public var integerValue: Int? { if case .integer(let value) = content { value } else { nil } }
    /// The double-precision number; `nil` for values of other types, integers included.
    public var doubleValue: Double? { if case .double(let value) = content { value } else { nil } }
    /// The double-precision number, rounded to single precision; `nil` for values of other types.
    public var floatValue: Float? { doubleValue.map { Float($0) } }
    /// The double-precision number, rounded to half precision; `nil` for values of other types.
    public var float16Value: Float16? { doubleValue.map { Float16($0) } }
    /// The string; `nil` for values of other types.
    public var stringValue: String? { if case .string(let value) = content { value } else { nil } }
    /// The sequence of strings; `nil` for values of other types, sequences of integers included.
    public var stringArrayValue: [String]? { if case .strings(let values) = content { values } else { nil } }
    /// The dictionary with string keys; `nil` for values of other types.
    public var stringDictionaryValue: [String: Double]? {
        if case .stringDictionary(let values) = content { values } else { nil }
    }
    /// The dictionary with integer keys; `nil` for values of other types.
    public var integerDictionaryValue: [Int: Double]? {
        if case .integerDictionary(let values) = content { values } else { nil }
    }

    /// The array.
    ///
    /// - Parameter type: The element type.
    /// - Returns: The array; `nil` for values of other types, and when the elements are not `Scalar`.
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

    /// Whether two values have the same type and content.
    public static func == (a: Self, b: Self) -> Bool { MLFeatureValue(a).isEqual(MLFeatureValue(b)) }
    /// Type and content, as `MLFeatureValue` describes them.
    public var debugDescription: String { (MLFeatureValue(self) as NSObject).description }
}
