package import MLNumerics
package import MLSpecification

/// The element type of a blob in a weight file; raw values are those of the format.
package enum BlobDataType: UInt32, Sendable, CaseIterable {
    case float16 = 1
    case float32, uint8, int8, bfloat16, int16, uint16
    case int4, uint1, uint2, uint4, uint3, uint6
    case int32, uint32
    case float8E4M3FN, float8E5M2

    package var bitWidth: Int {
        switch self {
        case .bfloat16: 16
        case .float8E4M3FN, .float8E5M2: 8
        default: scalarType?.bitWidth ?? 0
        }
    }

    /// The scalar type of the same form; `nil` for `bfloat16` and the two 8-bit floats, which tensors do not hold.
    package var scalarType: ScalarType? {
        switch self {
        case .float16: .float16
        case .float32: .float32
        case .uint8: .uint8
        case .int8: .int8
        case .int16: .int16
        case .uint16: .uint16
        case .int4: .int4
        case .uint1: .uint1
        case .uint2: .uint2
        case .uint4: .uint4
        case .uint3: .uint3
        case .uint6: .uint6
        case .int32: .int32
        case .uint32: .uint32
        case .bfloat16, .float8E4M3FN, .float8E5M2: nil
        }
    }

    /// Makes the type that a weight file has for elements of `scalarType`; `nil` when it has none.
    package init?(_ scalarType: ScalarType) {
        guard let match = Self.allCases.first(where: { $0.scalarType == scalarType }) else { return nil }
        self = match
    }

    package var milName: String {
        switch self {
        case .bfloat16: "bf16"
        case .float8E4M3FN: "fp8e4m3fn"
        case .float8E5M2: "fp8e5m2"
        default: scalarType?.milName ?? ""
        }
    }
}

extension ScalarType {
    /// Makes the element type of a MIL tensor; `nil` for types that tensors do not hold.
    package init?(_ type: MILDataType) {
        switch type {
        case .bool: self = .bool
        case .string: self = .string
        case .float16: self = .float16
        case .float32: self = .float32
        case .float64: self = .float64
        case .int4: self = .int4
        case .int8: self = .int8
        case .int16: self = .int16
        case .int32: self = .int32
        case .int64: self = .int64
        case .uint1: self = .uint1
        case .uint2: self = .uint2
        case .uint3: self = .uint3
        case .uint4: self = .uint4
        case .uint6: self = .uint6
        case .uint8: self = .uint8
        case .uint16: self = .uint16
        case .uint32: self = .uint32
        case .uint64: self = .uint64
        case .unusedType, .bfloat16, .float8E4M3Fn, .float8E5M2, .UNRECOGNIZED: return nil
        }
    }

    package var milDataType: MILDataType {
        switch self {
        case .bool: .bool
        case .string: .string
        case .float16: .float16
        case .float32: .float32
        case .float64: .float64
        case .int4: .int4
        case .int8: .int8
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint1: .uint1
        case .uint2: .uint2
        case .uint3: .uint3
        case .uint4: .uint4
        case .uint6: .uint6
        case .uint8: .uint8
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        }
    }
}

extension MILDataType {
    /// The name in MIL text.
    package var milName: String {
        switch self {
        case .bfloat16: "bf16"
        case .float8E4M3Fn: "fp8e4m3fn"
        case .float8E5M2: "fp8e5m2"
        case .unusedType: "unknown"
        case .UNRECOGNIZED(let number): "type\(number)"
        default: ScalarType(self)?.milName ?? "unknown"
        }
    }

    package init?(milName: some StringProtocol) {
        guard let match = Self.allCases.first(where: { $0 != .unusedType && $0.milName == milName }) else { return nil }
        self = match
    }
}
