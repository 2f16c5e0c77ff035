import CoreML

/// The tensor types of the Open Inference Protocol.
/// Source: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
package enum TensorType: String, Sendable {
    case bool = "BOOL"
    case uint8 = "UINT8"
    case uint16 = "UINT16"
    case uint32 = "UINT32"
    case uint64 = "UINT64"
    case int8 = "INT8"
    case int16 = "INT16"
    case int32 = "INT32"
    case int64 = "INT64"
    case fp16 = "FP16"
    case fp32 = "FP32"
    case fp64 = "FP64"
    /// Strings of bytes, each with a length of its own.
    case bytes = "BYTES"

    /// The type that a request names.
    ///
    /// - Parameters:
    ///   - text: the type's name.
    ///   - place: where the request names it, for the error.
    /// - Throws: `ServingError` for other names.
    init(_ text: String, _ place: String) throws {
        guard let known = TensorType(rawValue: text) else {
            throw ServingError.invalid(
                "\"\(place)\" is \"\(text)\", which is not a type: the types are BOOL, UINT8 to UINT64, INT8 to INT64, FP16 to "
                    + "FP64, and BYTES."
            )
        }
        self = known
    }

    /// The type of an array's elements.
    init(_ type: MLMultiArrayDataType) {
        switch type {
        case .float16: self = .fp16
        case .float32: self = .fp32
        case .double: self = .fp64
        case .int8: self = .int8
        case .int32: self = .int32
        }
    }

    /// The type of a multi-array with these elements; `nil` where there is none.
    var multiArrayType: MLMultiArrayDataType? {
        switch self {
        case .fp16: .float16
        case .fp32: .float32
        case .fp64: .double
        case .int8: .int8
        case .int32: .int32
        default: nil
        }
    }

    /// The bytes of an element; `nil` for strings.
    var byteCount: Int? {
        switch self {
        case .bool, .uint8, .int8: 1
        case .uint16, .int16, .fp16: 2
        case .uint32, .int32, .fp32: 4
        case .uint64, .int64, .fp64: 8
        case .bytes: nil
        }
    }

    /// The type's name in the configuration of Triton's models.
    var configurationName: String { self == .bytes ? "TYPE_STRING" : "TYPE_" + rawValue }
}
