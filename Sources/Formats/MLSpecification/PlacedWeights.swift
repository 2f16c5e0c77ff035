import FoundationEssentials
import SwiftProtobuf

/// The location of a weight field's values that were left in the bytes they came in: `offset` and `byteCount` in the storage
/// of a number, as the field `field` of `WeightParams`.
///
/// It is in an unknown field of the message, whose own fields are then empty.
package struct PlacedWeights: Sendable, Equatable {
    /// The number of the field that holds a place; no field of the specification has it.
    package static let fieldNumber: UInt64 = 20_000

    package enum Field: UInt64, Sendable {
        case float = 1
        case float16 = 2
        case raw = 30
        case int8 = 31

        /// The bytes of a value; of `raw` those of a value of 8 bits.
        package var valueByteCount: Int {
            switch self {
            case .float: 4
            case .float16: 2
            case .raw, .int8: 1
            }
        }
    }

    package let storage: UInt64
    package let field: Field
    package let offset: Int
    package let byteCount: Int

    package init(storage: UInt64, field: Field, offset: Int, byteCount: Int) {
        self.storage = storage
        self.field = field
        self.offset = offset
        self.byteCount = byteCount
    }

    /// The numbers as one field of a message.
    package var encoded: [UInt8] {
        var content: [UInt8] = []
        for number in [storage, field.rawValue, UInt64(offset), UInt64(byteCount)] { Self.append(number, to: &content) }
        var bytes: [UInt8] = []
        Self.append(Self.fieldNumber << 3 | 2, to: &bytes)
        Self.append(UInt64(content.count), to: &bytes)
        return bytes + content
    }

    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// - Parameter unknown: the unknown fields of a message; a location is the last of them, if there is one.
    fileprivate init?(_ unknown: Data) {
        var bytes = unknown[...]
        func varint() -> UInt64? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 70, by: 7) {
                guard let byte = bytes.popFirst() else { return nil }
                value |= UInt64(byte & 0x7F) << shift
                if byte & 0x80 == 0 { return value }
            }
            return nil
        }
        while let tag = varint() {
            guard tag & 7 == 2, let length = varint(), length <= UInt64(bytes.count) else { return nil }
            guard tag >> 3 == Self.fieldNumber else {
                bytes = bytes.dropFirst(Int(length))
                continue
            }
            guard let storage = varint(), let number = varint(), let field = Field(rawValue: number),
                let offset = varint().flatMap({ Int(exactly: $0) }), let count = varint().flatMap({ Int(exactly: $0) })
            else { return nil }
            self.init(storage: storage, field: field, offset: offset, byteCount: count)
            return
        }
        return nil
    }
}

extension SpecWeightParams {
    /// The location of the values, if they were left in place.
    package var placed: PlacedWeights? { unknownFields.data.isEmpty ? nil : PlacedWeights(unknownFields.data) }
}
