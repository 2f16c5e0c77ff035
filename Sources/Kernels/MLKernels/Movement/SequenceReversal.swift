/// Reverses the first steps of each item's sequence.
package enum SequenceReversal {
    /// For contiguous `[outer, first, middle, second, slice]`, where one of `first` and `second` counts the items and
    /// the other the steps: step s of item i becomes step lengths[i] − 1 − s as long as s < lengths[i], which is
    /// limited to 0 … steps; later steps are copied.
    ///
    /// - Parameters:
    ///   - source: The elements to copy.
    ///   - target: The result, of the same size; does not overlap `source`.
    ///   - outer: The product of the extents before the first axis.
    ///   - first: The extent of the first axis.
    ///   - middle: The product of the extents between the two axes.
    ///   - second: The extent of the second axis.
    ///   - slice: The number of bytes after the second axis.
    ///   - lengths: The length of each item.
    ///   - itemsFirst: Whether the items are on the first of the two axes.
    package static func run(
        _ source: UnsafeRawPointer,
        into target: UnsafeMutableRawPointer,
        outer: Int,
        first: Int,
        middle: Int,
        second: Int,
        slice: Int,
        lengths: UnsafePointer<Int32>,
        itemsFirst: Bool
    ) {
        let steps = itemsFirst ? second : first
        Workers.parallelFor(outer * first) { row, _ in
            let (block, a) = (row / first, row % first)
            for m in 0..<middle {
                for b in 0..<second {
                    let (item, position) = itemsFirst ? (a, b) : (b, a)
                    let length = min(max(Int(lengths[item]), 0), steps)
                    let rotated = position < length ? length - 1 - position : position
                    let (p, q) = itemsFirst ? (a, rotated) : (rotated, b)
                    (target + (((block * first + a) * middle + m) * second + b) * slice).copyMemory(
                        from: source + (((block * first + p) * middle + m) * second + q) * slice,
                        byteCount: slice
                    )
                }
            }
        }
    }
}
