package import MLNumerics

/// The description of some bytes of a file: a copy of old bytes, differences from them, or new bytes.
package struct DeltaSegment {
    package enum Kind: Equatable {
        /// A copy of the old model's bytes at a position.
        case copy
        /// Packed bytes.
        case bytes
        /// Packed differences of elements from the old model's at a position.
        ///
        /// The first `skipped` bytes, and those after the last whole element, are not differences.
        case difference(ElementType, skipped: Int)
    }

    package let kind: Kind
    /// The file in the old archive's header by its number, and the offset in it.
    var file = 0
    var offset = 0
    /// The number of bytes that the segment describes.
    let byteCount: Int
    /// The number of packed bytes that follow.
    var packedByteCount = 0

    /// The number of bytes of the description.
    static let byteCount = 28
    /// The largest number of bytes of a packed segment, which is unpacked at once.
    static let maximumByteCount = 4 << 20

    var bytes: [UInt8] {
        let (code, element, skipped): (UInt8, UInt8, UInt8) =
            switch kind {
            case .copy: (0, 0, 0)
            case .bytes: (1, 0, 0)
            case .difference(let type, let skipped): (2, type.rawValue, UInt8(skipped))
            }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return [code, element, skipped, 0] + number(file, 4) + number(offset, 8) + number(byteCount, 8)
            + number(packedByteCount, 4)
    }

    /// Reads a description; positions are checked where the files are known.
    package init(_ bytes: [UInt8]) throws(ModelError) {
        func number(_ location: Int, _ count: Int) -> Int? {
            let value = bytes[location..<location + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return value < 1 << 53 ? Int(value) : nil
        }
        guard bytes.count == Self.byteCount, bytes[3] == 0, let file = number(4, 4), let offset = number(8, 8),
            let byteCount = number(16, 8), let packed = number(24, 4), byteCount > 0
        else { throw Self.malformed }
        (self.file, self.offset, self.byteCount, packedByteCount) = (file, offset, byteCount, packed)
        switch (bytes[0], ElementType(rawValue: bytes[1])) {
        case (0, nil) where bytes[1] == 0 && bytes[2] == 0 && packed == 0: kind = .copy
        case (1, nil) where bytes[1] == 0 && bytes[2] == 0 && file == 0 && offset == 0: kind = .bytes
        case (2, let type?) where Int(bytes[2]) < type.width: kind = .difference(type, skipped: Int(bytes[2]))
        default: throw Self.malformed
        }
        guard kind == .copy || (byteCount <= Self.maximumByteCount && packed <= 2 * Self.maximumByteCount) else {
            throw Self.malformed
        }
    }

    init(_ kind: Kind, file: Int = 0, offset: Int = 0, byteCount: Int, packedByteCount: Int = 0) {
        self.kind = kind
        self.file = file
        self.offset = offset
        self.byteCount = byteCount
        self.packedByteCount = packedByteCount
    }

    static var malformed: ModelError {
        ModelError(.malformed, "The delta describes a part of a file that cannot exist; get the whole archive.")
    }

    /// The range of whole elements of a segment.
    static func elements(_ type: ElementType, skipped: Int, of byteCount: Int) -> Range<Int> {
        let start = min(skipped, byteCount)
        return start..<start + (byteCount - start) / type.width * type.width
    }
}
