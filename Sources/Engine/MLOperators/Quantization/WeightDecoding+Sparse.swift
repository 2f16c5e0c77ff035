import MLKernels
import MLNumerics

/// Masks are packed bits, low bits first: tensors of uint1, or of uint8 with eight positions in each.
extension WeightDecoding {
    /// `elements` in order at the positions of `shape` where `mask` is 1, zeros elsewhere.
    static func scatter(_ elements: Tensor, mask: Tensor, shape: [Int]) -> Tensor {
        let count = shape.elementCount
        guard [8, 16, 32, 64].contains(elements.scalarType.bitWidth) else {
            var values = elements.values.makeIterator()
            let bits = withBits(mask, count: count) { $0.flags(length: count) }
            return Tensor(
                values: bits.map { $0 ? values.next() ?? 0 : 0 },
                scalarType: elements.scalarType,
                shape: shape
            )
        }
        let result = Tensor(uninitialized: elements.scalarType, shape: shape, zeroed: true)
        withBits(mask, count: count) { bits in
            bits.scatter(
                elements.address,
                count: elements.count,
                elementByteCount: elements.scalarType.bitWidth / 8,
                into: result.address
            )
        }
        withExtendedLifetime(elements) {}
        return result
    }

    /// The elements of `values` where `mask` is 1, at most `count`; zeros when there are fewer.
    static func selected(_ values: Tensor, mask: Tensor, count: Int) -> Tensor {
        let size = values.scalarType.bitWidth / 8
        guard size > 0 else {
            var all = [Double](repeating: 0, count: count)
            var next = 0
            let bits = withBits(mask, count: values.count) { $0.flags(length: values.count) }
            for (value, isSet) in zip(values.values, bits) where isSet && next < count {
                all[next] = value
                next += 1
            }
            return Tensor(values: all, scalarType: values.scalarType, shape: [count])
        }
        let result = Tensor(uninitialized: values.scalarType, shape: [count], zeroed: true)
        withBits(mask, count: values.count) { bits in
            bits.select(values.address, elementByteCount: size, into: result.address, limit: count)
        }
        withExtendedLifetime(values) {}
        return result
    }

    /// A mask with each position repeated `width` times, with `inner` positions between the repetitions.
    static func widened(_ mask: Tensor, by width: Int, inner: Int) -> Tensor {
        let result = Tensor(uninitialized: .uint1, shape: [mask.count * width], zeroed: true)
        withBits(mask, count: mask.count) { $0.widen(by: width, inner: inner, into: result.address) }
        return result
    }

    /// The number of ones.
    static func count(in mask: Tensor) -> Int { withBits(mask, count: mask.count) { $0.ones } }

    /// Calls `body` with the first `count` bits of a mask, or with all when there are fewer.
    private static func withBits<R>(_ mask: Tensor, count: Int, _ body: (BitMask) -> R) -> R {
        withExtendedLifetime(mask) {
            body(BitMask(mask.address, count: Swift.min(count, mask.byteCount * 8)))
        }
    }

    /// The entries, each of several elements along `axis`, at `indices` (uint8) in `tables` of shape [groups…, entries,
    /// width]; `nil` when an index is out of range or the form is not supported.
    static func vectors(_ indices: Tensor, in tables: Tensor, axis: Int) -> Tensor? {
        let groups = Array(tables.shape.dropLast(2))
        let entries = tables.shape[tables.shape.count - 2]
        let width = tables.shape[tables.shape.count - 1]
        guard let reader = reader(indices, in: tables, groups: groups, entries: entries) else { return nil }
        var shape = indices.shape
        shape[axis] *= width
        let result = Tensor(uninitialized: tables.scalarType, shape: shape)
        reader.run(
            indices.address,
            in: tables.address,
            elementByteCount: tables.scalarType.bitWidth / 8,
            width: width,
            inner: indices.shape.dropFirst(axis + 1).reduce(1, *),
            into: result.address
        )
        withExtendedLifetime((indices, tables)) {}
        return result
    }
}
