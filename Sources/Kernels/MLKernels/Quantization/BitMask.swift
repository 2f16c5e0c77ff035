/// A mask of packed bits, low bits first, over the elements of an array.
package struct BitMask {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int

    /// A mask at an address, which must stay valid while the mask is used.
    ///
    /// - Parameters:
    ///   - bytes: The packed bits.
    ///   - count: The number of bits that are read.
    package init(_ bytes: UnsafeRawPointer, count: Int) {
        self.bytes = bytes.assumingMemoryBound(to: UInt8.self)
        self.count = count
    }

    /// Calls `body` with the index of every bit that is set, in ascending order.
    private func forEach(_ body: (Int) -> Void) {
        for index in 0..<(count + 7) / 8 {
            var byte = bytes[index]
            while byte != 0 {
                let position = index * 8 + byte.trailingZeroBitCount
                guard position < count else { break }
                body(position)
                byte &= byte - 1
            }
        }
    }

    /// The number of ones.
    package var ones: Int {
        var result = 0
        forEach { _ in result += 1 }
        return result
    }

    /// The first `length` bits; those beyond `count` are clear.
    package func flags(length: Int) -> [Bool] {
        var result = [Bool](repeating: false, count: length)
        forEach { result[$0] = true }
        return result
    }

    /// Writes elements in order to the positions where the mask is 1; other positions are left alone.
    ///
    /// - Parameters:
    ///   - elements: The elements; when there are fewer than ones, the rest of the positions is left alone.
    ///   - elementCount: The number of elements.
    ///   - elementByteCount: The number of bytes of an element: 1, 2, 4 or 8.
    ///   - target: The array that the mask describes.
    package func scatter(
        _ elements: UnsafeRawPointer,
        count elementCount: Int,
        elementByteCount: Int,
        into target: UnsafeMutableRawPointer
    ) {
        switch elementByteCount {
        case 1: scatter(UInt8.self, elements, elementCount, target)
        case 2: scatter(UInt16.self, elements, elementCount, target)
        case 4: scatter(UInt32.self, elements, elementCount, target)
        default: scatter(UInt64.self, elements, elementCount, target)
        }
    }

    private func scatter<Element: FixedWidthInteger & BitwiseCopyable>(
        _: Element.Type,
        _ elements: UnsafeRawPointer,
        _ elementCount: Int,
        _ target: UnsafeMutableRawPointer
    ) {
        let source = elements.assumingMemoryBound(to: Element.self)
        let target = target.assumingMemoryBound(to: Element.self)
        var next = 0
        forEach { position in
            guard next < elementCount else { return }
            target[position] = source[next]
            next += 1
        }
    }

    /// Writes the elements where the mask is 1 to the front of `target`.
    ///
    /// - Parameters:
    ///   - elements: The array that the mask describes.
    ///   - elementByteCount: The number of bytes of an element.
    ///   - target: The selected elements.
    ///   - limit: The maximum number of them.
    package func select(
        _ elements: UnsafeRawPointer,
        elementByteCount: Int,
        into target: UnsafeMutableRawPointer,
        limit: Int
    ) {
        var next = 0
        forEach { position in
            guard next < limit else { return }
            (target + next * elementByteCount).copyMemory(
                from: elements + position * elementByteCount,
                byteCount: elementByteCount
            )
            next += 1
        }
    }

    /// Sets each one `width` times in a mask that is clear, with `inner` positions between the repetitions.
    package func widen(by width: Int, inner: Int, into target: UnsafeMutableRawPointer) {
        let bits = target.assumingMemoryBound(to: UInt8.self)
        forEach { position in
            let start = position / inner * width * inner + position % inner
            for element in 0..<width {
                let target = start + element * inner
                bits[target >> 3] |= 1 << UInt8(target & 7)
            }
        }
    }
}
