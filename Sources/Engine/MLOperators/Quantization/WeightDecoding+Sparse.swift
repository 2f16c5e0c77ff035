import MLKernels
import MLNumerics

/// Masks are packed bits, low bits first: tensors of uint1, or of uint8 with eight positions in each.
extension WeightDecoding {
    /// `elements` in order at the positions of `shape` where `mask` is 1, zeros elsewhere.
    static func spread(_ elements: Tensor, mask: Tensor, shape: [Int]) -> Tensor {
        switch elements.scalarType.bitWidth {
        case 8: return spread(UInt8.self, elements, mask, shape)
        case 16: return spread(UInt16.self, elements, mask, shape)
        case 32: return spread(UInt32.self, elements, mask, shape)
        case 64: return spread(UInt64.self, elements, mask, shape)
        default:
            var values = elements.values.makeIterator()
            let bits = unpackedBits(mask, count: shape.elementCount)
            return Tensor(
                values: bits.map { $0 ? values.next() ?? 0 : 0 },
                scalarType: elements.scalarType,
                shape: shape
            )
        }
    }

    private static func spread<Element: FixedWidthInteger & BitwiseCopyable>(
        _: Element.Type,
        _ elements: Tensor,
        _ mask: Tensor,
        _ shape: [Int]
    ) -> Tensor {
        var result = Tensor(uninitialized: elements.scalarType, shape: shape, zeroed: true)
        let count = result.count
        elements.withElements(of: Element.self) { source in
            result.withMutableElements(of: Element.self) { target in
                var next = 0
                forEachSetBit(mask, count: count) { place in
                    guard next < source.count else { return }
                    target[place] = source[next]
                    next += 1
                }
            }
        }
        return result
    }

    /// The elements of `values` where `mask` is 1, at most `count`; zeros when there are fewer.
    static func selected(_ values: Tensor, mask: Tensor, count: Int) -> Tensor {
        let size = values.scalarType.bitWidth / 8
        guard size > 0 else {
            var all = [Double](repeating: 0, count: count)
            var next = 0
            for (value, isSet) in zip(values.values, unpackedBits(mask, count: values.count))
            where isSet && next < count {
                all[next] = value
                next += 1
            }
            return Tensor(values: all, scalarType: values.scalarType, shape: [count])
        }
        let result = Tensor(uninitialized: values.scalarType, shape: [count], zeroed: true)
        var next = 0
        forEachSetBit(mask, count: values.count) { place in
            guard next < count else { return }
            (result.address + next * size).copyMemory(from: values.address + place * size, byteCount: size)
            next += 1
        }
        withExtendedLifetime(values) {}
        return result
    }

    /// A mask with each position repeated `width` times, with `inner` positions between the repetitions.
    static func widened(_ mask: Tensor, by width: Int, inner: Int) -> Tensor {
        let result = Tensor(uninitialized: .uint1, shape: [mask.count * width], zeroed: true)
        let bits = result.address.assumingMemoryBound(to: UInt8.self)
        forEachSetBit(mask, count: mask.count) { place in
            let start = place / inner * width * inner + place % inner
            for element in 0..<width {
                let target = start + element * inner
                bits[target >> 3] |= 1 << UInt8(target & 7)
            }
        }
        return result
    }

    /// The number of ones.
    static func count(in mask: Tensor) -> Int {
        var result = 0
        forEachSetBit(mask, count: mask.count) { _ in result += 1 }
        return result
    }

    private static func forEachSetBit(_ mask: Tensor, count: Int, _ body: (Int) -> Void) {
        let bytes = mask.address.assumingMemoryBound(to: UInt8.self)
        let available = Swift.min(count, mask.byteCount * 8)
        for index in 0..<(available + 7) / 8 {
            var byte = bytes[index]
            while byte != 0 {
                let place = index * 8 + byte.trailingZeroBitCount
                guard place < available else { break }
                body(place)
                byte &= byte - 1
            }
        }
        withExtendedLifetime(mask) {}
    }

    private static func unpackedBits(_ mask: Tensor, count: Int) -> [Bool] {
        var result = [Bool](repeating: false, count: count)
        forEachSetBit(mask, count: count) { result[$0] = true }
        return result
    }

    /// The entries, each of several elements along `axis`, at `indices` (uint8) in `tables` of shape [groups…, entries,
    /// width]; `nil` when an index is out of range or the form is not supported.
    static func vectors(_ indices: Tensor, in tables: Tensor, axis: Int) -> Tensor? {
        switch tables.scalarType.bitWidth {
        case 32: vectors(UInt32.self, indices, in: tables, axis: axis)
        case 16: vectors(UInt16.self, indices, in: tables, axis: axis)
        case 8: vectors(UInt8.self, indices, in: tables, axis: axis)
        default: nil
        }
    }

    private static func vectors<Element: FixedWidthInteger & BitwiseCopyable & Sendable>(
        _: Element.Type,
        _ indices: Tensor,
        in tables: Tensor,
        axis: Int
    ) -> Tensor? {
        let groups = Array(tables.shape.dropLast(2))
        let entries = tables.shape[tables.shape.count - 2]
        let width = tables.shape[tables.shape.count - 1]
        guard let rowLength = indices.shape.last, rowLength > 0, let columns = groups.last, columns > 0 else {
            return nil
        }
        let isInside = indices.withElements(of: UInt8.self) { $0.allSatisfy { Int($0) < entries } }
        guard isInside else { return nil }
        let rows = blockOffsets(of: Array(groups.dropLast()), in: Array(indices.shape.dropLast()))
        let size = Swift.max(rowLength / columns, 1)
        let inner = indices.shape.dropFirst(axis + 1).reduce(1, *)
        var shape = indices.shape
        shape[axis] *= width
        var result = Tensor(uninitialized: tables.scalarType, shape: shape)
        let (places, contents) = (UInt(bitPattern: indices.address), UInt(bitPattern: tables.address))
        result.withMutableElements(of: Element.self) { result in
            let target = UInt(bitPattern: result.baseAddress)
            Workers.parallelFor(rows.count) { row, _ in
                guard let indices = UnsafePointer<UInt8>(bitPattern: places),
                    let table = UnsafePointer<Element>(bitPattern: contents),
                    let values = UnsafeMutablePointer<Element>(bitPattern: target)
                else { return }
                for column in 0..<rowLength {
                    let index = row * rowLength + column
                    let group = rows[row] * columns + column / size
                    let entry = (group * entries + Int(indices[index])) * width
                    let start = index / inner * width * inner + index % inner
                    for element in 0..<width { values[start + element * inner] = table[entry + element] }
                }
            }
        }
        withExtendedLifetime((indices, tables)) {}
        return result
    }
}
