package import MLNumerics

/// The type of the elements of a multi-array.
public enum MLMultiArrayDataType: Int, Hashable, Sendable {
    case float16 = 0x10010
    case float32 = 0x10020
    case double = 0x10040
    case int8 = 0x20008
    case int32 = 0x20020

    public static var float64: MLMultiArrayDataType { .double }
    public static var float: MLMultiArrayDataType { .float32 }
}

extension MLMultiArrayDataType {
    package var scalarType: ScalarType {
        switch self {
        case .float16: .float16
        case .float32: .float32
        case .double: .float64
        case .int8: .int8
        case .int32: .int32
        }
    }

    /// `nil` for scalar types that a multi-array cannot hold.
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

    package var byteCount: Int { scalarType.bitWidth / 8 }

    /// The name in messages.
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
