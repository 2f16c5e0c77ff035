/// The type of one element of a tensor, by MIL's names.
package enum ScalarType: UInt8, Hashable, Sendable, CaseIterable {
    case bool, string
    case float16, float32, float64
    case int4, int8, int16, int32, int64
    case uint1, uint2, uint3, uint4, uint6, uint8, uint16, uint32, uint64

    /// The size of one element in bits; sub-byte elements are packed, low bits first.
    ///
    /// Strings have no size: 0.
    package var bitWidth: Int {
        switch self {
        case .string: 0
        case .uint1: 1
        case .uint2: 2
        case .uint3: 3
        case .int4, .uint4: 4
        case .uint6: 6
        case .bool, .int8, .uint8: 8
        case .float16, .int16, .uint16: 16
        case .float32, .int32, .uint32: 32
        case .float64, .int64, .uint64: 64
        }
    }

    package var isFloat: Bool { self == .float16 || self == .float32 || self == .float64 }

    /// True for the integer types; `bool` and `string` are neither integer nor float.
    package var isInteger: Bool { !isFloat && self != .bool && self != .string }

    /// True when elements do not fill whole bytes.
    package var isSubByte: Bool { bitWidth > 0 && bitWidth < 8 }

    /// The bytes that `count` packed elements take.
    package func byteCount(of count: Int) -> Int { (count * bitWidth + 7) / 8 }

    /// The name that MIL text uses, such as `fp32`, `int8` or `bool`.
    package var milName: String {
        switch self {
        case .bool: "bool"
        case .string: "string"
        case .float16: "fp16"
        case .float32: "fp32"
        case .float64: "fp64"
        default: "\(self)"
        }
    }

    /// The type with the given MIL name.
    package init?(milName: some StringProtocol) {
        guard let match = Self.allCases.first(where: { $0.milName == milName }) else { return nil }
        self = match
    }

    /// The closed range of values that an integer type holds; `nil` for the others.
    package var integerRange: ClosedRange<Double>? {
        switch self {
        case .int4: -8...7
        case .int8: -128...127
        case .int16: -32768...32767
        case .int32: -2_147_483_648...2_147_483_647
        case .int64: -9_223_372_036_854_775_808...9_223_372_036_854_774_784
        case .uint1: 0...1
        case .uint2: 0...3
        case .uint3: 0...7
        case .uint4: 0...15
        case .uint6: 0...63
        case .uint8: 0...255
        case .uint16: 0...65535
        case .uint32: 0...4_294_967_295
        case .uint64: 0...18_446_744_073_709_549_568
        default: nil
        }
    }
}

/// Written by its MIL name.
extension ScalarType: Codable {
    package init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        guard let type = ScalarType(milName: name) else {
            throw BinaryReader.malformed("'\(name)' is not a scalar type")
        }
        self = type
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milName)
    }
}
