/// What elements the bytes of a model's weights are taken for.
package enum ElementType: UInt8, CaseIterable, Sendable {
    case int8 = 1
    case float16 = 2
    case bfloat16 = 3
    case float32 = 4

    /// The bytes of an element.
    package var width: Int {
        switch self {
        case .int8: 1
        case .float16, .bfloat16: 2
        case .float32: 4
        }
    }

    /// Where the exponent begins, and its bits; those of a whole number are none.
    fileprivate var exponent: (shift: UInt32, mask: UInt32) {
        switch self {
        case .int8: (0, 0)
        case .float16: (10, 0x1F)
        case .bfloat16: (7, 0xFF)
        case .float32: (23, 0xFF)
        }
    }
}

/// Differences of weights: numbers that are small where two versions of a weight lie close together.
///
/// Numbers of floating point become whole ones whose order is theirs, so that neighbours differ by one; of the difference, modulo
/// the width, the sign goes to the lowest bit (zigzag).  Differences are sorted by the exponent of the old element, since it
/// says how many numbers lie within what a weight moved by; their bytes are then written plane by plane, the most significant
/// first.
package enum ElementDifference {
    /// The differences of `new` and `old`, which have the same number of elements, as planes.
    /// - Parameter planes: as many bytes as `new` has.
    package static func write(
        _ type: ElementType,
        of new: UnsafeRawBufferPointer,
        from old: UnsafeRawBufferPointer,
        to planes: UnsafeMutableRawBufferPointer
    ) {
        let count = new.count / type.width
        precondition(old.count == new.count && planes.count == new.count && count * type.width == new.count)
        let places = places(type, old)
        switch type {
        case .int8:
            for index in 0..<count { planes[index] = zigzag(new[index] &- old[index]) }
        case .float16, .bfloat16:
            for index in 0..<count {
                let value = zigzag(ordered(element16(new, index)) &- ordered(element16(old, index)))
                let place = Int(places[index])
                planes[place] = UInt8(truncatingIfNeeded: value >> 8)
                planes[count + place] = UInt8(truncatingIfNeeded: value)
            }
        case .float32:
            for index in 0..<count {
                let value = zigzag(ordered(element32(new, index)) &- ordered(element32(old, index)))
                let place = Int(places[index])
                for plane in 0..<4 {
                    planes[plane * count + place] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(plane)))
                }
            }
        }
    }

    /// What `write` made planes of.
    package static func read(
        _ type: ElementType,
        _ planes: UnsafeRawBufferPointer,
        from old: UnsafeRawBufferPointer,
        into new: UnsafeMutableRawBufferPointer
    ) {
        let count = new.count / type.width
        precondition(old.count == new.count && planes.count == new.count && count * type.width == new.count)
        let places = places(type, old)
        switch type {
        case .int8:
            for index in 0..<count { new[index] = old[index] &+ unzigzag(planes[index]) }
        case .float16, .bfloat16:
            for index in 0..<count {
                let place = Int(places[index])
                let value = UInt16(planes[place]) << 8 | UInt16(planes[count + place])
                let element = original(ordered(element16(old, index)) &+ unzigzag(value))
                new.storeBytes(of: element.littleEndian, toByteOffset: 2 * index, as: UInt16.self)
            }
        case .float32:
            for index in 0..<count {
                let place = Int(places[index])
                var value: UInt32 = 0
                for plane in 0..<4 { value = value << 8 | UInt32(planes[plane * count + place]) }
                let element = original(ordered(element32(old, index)) &+ unzigzag(value))
                new.storeBytes(of: element.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
            }
        }
    }

    /// Where the difference of each element stands: sorted by the exponents of the old elements, from the smallest on, those of one
    /// exponent in the elements' order.  None for whole numbers, which stay in their order.
    private static func places(_ type: ElementType, _ old: UnsafeRawBufferPointer) -> [UInt32] {
        let (shift, mask) = type.exponent
        guard mask != 0 else { return [] }
        let count = old.count / type.width
        var places = (0..<count).map { index in
            (type == .float32 ? element32(old, index) : UInt32(element16(old, index))) >> shift & mask
        }
        var next = [UInt32](repeating: 0, count: Int(mask) + 2)
        for exponent in places { next[Int(exponent) + 1] += 1 }
        for exponent in 1...Int(mask) { next[exponent] += next[exponent - 1] }
        for index in places.indices {
            let exponent = Int(places[index])
            places[index] = next[exponent]
            next[exponent] += 1
        }
        return places
    }

    private static func element16(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt16 {
        UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
    }

    private static func element32(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
    }

    /// The bits of a number of floating point as a whole number whose order is that of the numbers.
    private static func ordered<Bits: FixedWidthInteger & UnsignedInteger>(_ bits: Bits) -> Bits {
        bits.leadingZeroBitCount == 0 ? ~bits : bits | sign(Bits.self)
    }

    private static func original<Bits: FixedWidthInteger & UnsignedInteger>(_ place: Bits) -> Bits {
        place.leadingZeroBitCount == 0 ? place & ~sign(Bits.self) : ~place
    }

    private static func sign<Bits: FixedWidthInteger>(_: Bits.Type) -> Bits { 1 << (Bits.bitWidth - 1) }

    private static func zigzag<Bits: FixedWidthInteger & UnsignedInteger>(_ difference: Bits) -> Bits {
        difference << 1 ^ (difference.leadingZeroBitCount == 0 ? ~0 : 0)
    }

    private static func unzigzag<Bits: FixedWidthInteger & UnsignedInteger>(_ value: Bits) -> Bits {
        value >> 1 ^ (value & 1 == 1 ? ~0 : 0)
    }
}
