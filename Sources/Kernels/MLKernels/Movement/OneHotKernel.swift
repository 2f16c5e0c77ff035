/// Writes one-hot vectors.
package enum OneHotKernel {
    /// `target[o][s][i]` is the element at `on` where s = indices[o][i], otherwise that at `off`, for contiguous
    /// `[outer, size, inner]` and `[outer, inner]`; indices outside 0 ..< size give `off` only.
    ///
    /// - Parameters:
    ///   - indices: The indices [outer, inner].
    ///   - target: The result [outer, size, inner].
    ///   - outer: The product of the extents before the axis.
    ///   - size: The extent of the axis.
    ///   - inner: The product of the extents after the axis.
    ///   - width: The number of bytes of an element: 1, 2, 4 or 8.
    ///   - on: The element where the index matches.
    ///   - off: The element everywhere else.
    package static func run(
        _ indices: UnsafePointer<Int32>,
        into target: UnsafeMutableRawPointer,
        outer: Int,
        size: Int,
        inner: Int,
        elementByteCount width: Int,
        on: UnsafeRawPointer,
        off: UnsafeRawPointer
    ) {
        let positions = Positions(size: size, inner: inner)
        let set =
            switch width {
            case 1: positions.set(UInt8.self)
            case 2: positions.set(UInt16.self)
            case 4: positions.set(UInt32.self)
            default: positions.set(UInt64.self)
            }
        let sliceByteCount = size * inner * width
        let each = max((128 << 10) / max(sliceByteCount, 1), 1)
        Workers.parallelFor((outer + each - 1) / each) { part, _ in
            let slices = part * each..<min((part + 1) * each, outer)
            Fill.run(
                target + slices.lowerBound * sliceByteCount,
                elementByteCount: width,
                value: off,
                count: slices.count * size * inner
            )
            set(on, indices, target, slices)
        }
    }

    /// The elements of [outer][size][inner] at indices [outer][inner].
    private struct Positions {
        let size: Int
        let inner: Int

        /// Writes `on` to the elements of some slices of the outermost axis.
        func set<T: BitwiseCopyable>(
            _: T.Type
        ) -> (_ on: UnsafeRawPointer, UnsafePointer<Int32>, UnsafeMutableRawPointer, _ slices: Range<Int>) -> Void {
            { on, indices, result, slices in
                let value = on.load(as: T.self)
                let target = result.assumingMemoryBound(to: T.self)
                for slice in slices {
                    for position in 0..<inner {
                        let index = Int(indices[slice * inner + position])
                        guard index >= 0, index < size else { continue }
                        target[(slice * size + index) * inner + position] = value
                    }
                }
            }
        }
    }
}
