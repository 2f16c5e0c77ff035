/// The type of elements as which the bytes of a model's weights are interpreted.
package enum ElementType: UInt8, CaseIterable, Sendable {
    case int8 = 1
    case float16 = 2
    case bfloat16 = 3
    case float32 = 4

    /// The number of bytes of an element.
    package var width: Int {
        switch self {
        case .int8: 1
        case .float16, .bfloat16: 2
        case .float32: 4
        }
    }

    /// The position and mask of the exponent; a mask of 0 for whole numbers.
    fileprivate var exponent: (shift: UInt32, mask: UInt32) {
        switch self {
        case .int8: (0, 0)
        case .float16: (10, 0x1F)
        case .bfloat16: (7, 0xFF)
        case .float32: (23, 0xFF)
        }
    }
}

/// Differences of weights, which are small numbers where two versions of a weight are close.
///
/// Floating-point numbers are mapped to integers in the same order, so that neighbours differ by one; of the difference
/// modulo the width, the sign is moved to the lowest bit (zigzag). Differences are sorted by the exponent of the old
/// element, since it determines how many numbers lie within the change of a weight; their bytes are then written plane
/// by plane, the most significant first.
package enum ElementDifference {
    /// Writes the differences of `new` and `old`, which have equally many elements, to `planes`, as planes of `new`'s
    /// size.
    package static func write(
        _ type: ElementType,
        of new: UnsafeRawBufferPointer,
        from old: UnsafeRawBufferPointer,
        to planes: UnsafeMutableRawBufferPointer
    ) {
        let count = new.count / type.width
        precondition(old.count == new.count && planes.count == new.count && count * type.width == new.count)
        let fieldOrder = fieldOrder(type, old)
        switch type {
        case .int8:
            for index in 0..<count { planes[index] = zigzag(new[index] &- old[index]) }
        case .float16, .bfloat16:
            for index in 0..<count {
                let value = zigzag(ordered(element16(new, index)) &- ordered(element16(old, index)))
                let location = Int(fieldOrder[index])
                planes[location] = UInt8(truncatingIfNeeded: value >> 8)
                planes[count + location] = UInt8(truncatingIfNeeded: value)
            }
        case .float32:
            for index in 0..<count {
                let value = zigzag(ordered(element32(new, index)) &- ordered(element32(old, index)))
                let location = Int(fieldOrder[index])
                for plane in 0..<4 {
                    planes[plane * count + location] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(plane)))
                }
            }
        }
    }

    /// Restores the elements from planes that `write` made.
    package static func read(
        _ type: ElementType,
        _ planes: UnsafeRawBufferPointer,
        from old: UnsafeRawBufferPointer,
        into new: UnsafeMutableRawBufferPointer
    ) {
        let count = new.count / type.width
        precondition(old.count == new.count && planes.count == new.count && count * type.width == new.count)
        let fieldOrder = fieldOrder(type, old)
        switch type {
        case .int8:
            for index in 0..<count { new[index] = old[index] &+ unzigzag(planes[index]) }
        case .float16, .bfloat16:
            for index in 0..<count {
                let location = Int(fieldOrder[index])
                let value = UInt16(planes[location]) << 8 | UInt16(planes[count + location])
                let element = original(ordered(element16(old, index)) &+ unzigzag(value))
                new.storeBytes(of: element.littleEndian, toByteOffset: 2 * index, as: UInt16.self)
            }
        case .float32:
            for index in 0..<count {
                let location = Int(fieldOrder[index])
                var value: UInt32 = 0
                for plane in 0..<4 { value = value << 8 | UInt32(planes[plane * count + location]) }
                let element = original(ordered(element32(old, index)) &+ unzigzag(value))
                new.storeBytes(of: element.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
            }
        }
    }

    /// The position of each element's difference, in a stable sort by the exponents of the old elements.
    ///
    /// It is empty for whole numbers, which stay in their order.
    private static func fieldOrder(_ type: ElementType, _ old: UnsafeRawBufferPointer) -> [UInt32] {
        let (shift, mask) = type.exponent
        guard mask != 0 else { return [] }
        let count = old.count / type.width
        var fieldOrder = (0..<count).map { index in
            (type == .float32 ? element32(old, index) : UInt32(element16(old, index))) >> shift & mask
        }
        var next = [UInt32](repeating: 0, count: Int(mask) + 2)
        for exponent in fieldOrder { next[Int(exponent) + 1] += 1 }
        for exponent in 1...Int(mask) { next[exponent] += next[exponent - 1] }
        for index in fieldOrder.indices {
            let exponent = Int(fieldOrder[index])
            fieldOrder[index] = next[exponent]
            next[exponent] += 1
        }
        return fieldOrder
    }

    private static func element16(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt16 {
        UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
    }

    private static func element32(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
    }

    /// The bits of a floating-point number as an integer in the same order.
    private static func ordered<Bits: FixedWidthInteger & UnsignedInteger>(_ bits: Bits) -> Bits {
        bits.leadingZeroBitCount == 0 ? ~bits : bits | sign(Bits.self)
    }

    private static func original<Bits: FixedWidthInteger & UnsignedInteger>(_ location: Bits) -> Bits {
        location.leadingZeroBitCount == 0 ? location & ~sign(Bits.self) : ~location
    }

    private static func sign<Bits: FixedWidthInteger>(_: Bits.Type) -> Bits { 1 << (Bits.bitWidth - 1) }

    private static func zigzag<Bits: FixedWidthInteger & UnsignedInteger>(_ difference: Bits) -> Bits {
        difference << 1 ^ (difference.leadingZeroBitCount == 0 ? ~0 : 0)
    }

    private static func unzigzag<Bits: FixedWidthInteger & UnsignedInteger>(_ value: Bits) -> Bits {
        value >> 1 ^ (value & 1 == 1 ? ~0 : 0)
    }
}
