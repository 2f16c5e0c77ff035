/// Parts of an array along an axis, copied from or to separate arrays.
///
/// The whole is `[outer, Σ widths]`, part `i` is `[outer, widths[i]]`, all contiguous; a width is the part's extent
/// along the axis times the extents of all inner axes.
package struct Concatenation: Sendable {
    private let joins: [StridedCopy]
    private let splits: [StridedCopy]
    private let starts: [Int]

    package init(outer: Int, widths: [Int], elementByteCount: Int) {
        let total = widths.reduce(0, +)
        var at = 0
        starts = widths.map { width in
            defer { at += width }
            return at * elementByteCount
        }
        joins = widths.map { width in
            StridedCopy(
                extents: [outer, width],
                sourceStrides: [width, 1],
                targetStrides: [total, 1],
                elementByteCount: elementByteCount
            )
        }
        splits = widths.map { width in
            StridedCopy(
                extents: [outer, width],
                sourceStrides: [total, 1],
                targetStrides: [width, 1],
                elementByteCount: elementByteCount
            )
        }
    }

    /// Writes part `index` to its position in `whole`.
    package func join(_ index: Int, _ part: UnsafeRawPointer, into whole: UnsafeMutableRawPointer) {
        joins[index].run(part, whole + starts[index])
    }

    /// Copies part `index` out of `whole`.
    package func split(_ index: Int, _ whole: UnsafeRawPointer, into part: UnsafeMutableRawPointer) {
        splits[index].run(whole + starts[index], part)
    }
}
