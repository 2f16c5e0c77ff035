package import MLNumerics

/// The element type of a multi-array; raw values are those of the model format.
public enum MLMultiArrayDataType: Int, Hashable, Sendable {
    /// IEEE 754 half precision, 16 bits.
    case float16 = 0x10010
    /// IEEE 754 single precision, 32 bits.
    case float32 = 0x10020
    /// IEEE 754 double precision, 64 bits.
    case double = 0x10040
    /// Signed integers of 8 bits.
    case int8 = 0x20008
    /// Signed integers of 32 bits.
    case int32 = 0x20020

    /// Another name of `double`.
    public static var float64: MLMultiArrayDataType { .double }
    /// Another name of `float32`.
    public static var float: MLMultiArrayDataType { .float32 }
}

extension MLMultiArrayDataType {
    /// The engine's scalar type of the same representation.
    package var scalarType: ScalarType {
        switch self {
        case .float16: .float16
        case .float32: .float32
        case .double: .float64
        case .int8: .int8
        case .int32: .int32
        }
    }

    /// The element type of the same representation; `nil` for scalar types that a multi-array cannot hold.
    package init?(_ scalarType: ScalarType) {
        switch scalarType {
        case .float16: self = .float16
        case .float32: self = .float32
        case .float64: self = .double
        case .int8: self = .int8
        case .int32: self = .int32
        default: return nil
        }
    }

    /// The size of an element in bytes.
    package var byteCount: Int { scalarType.bitWidth / 8 }

    /// The type's name in messages.
    package var name: String {
        switch self {
        case .float16: "Float16"
        case .float32: "Float32"
        case .double: "Double"
        case .int8: "Int8"
        case .int32: "Int32"
        }
    }
}
