/// Copies a band of diagonals of matrices and clears the rest.
package enum BandCopy {
    /// `target[m][r][c] = source[m][r][c]` where r − lower ≤ c ≤ r + upper, otherwise all bits are clear, for
    /// contiguous `[matrices, rows, columns]`.
    ///
    /// - Precondition: `columns` is positive. `target` is `source` or does not overlap it.
    package static func run(
        _ source: UnsafeRawPointer,
        into target: UnsafeMutableRawPointer,
        matrices: Int,
        rows: Int,
        columns: Int,
        elementByteCount width: Int,
        lower: Int,
        upper: Int
    ) {
        let total = matrices * rows
        let each = max(1, (1 << 14) / columns)
        Workers.parallelFor((total + each - 1) / each) { part, _ in
            for line in part * each..<min((part + 1) * each, total) {
                let row = line % rows
                let first = min(max(row - lower, 0), columns)
                let end = min(max(row + upper + 1, first), columns)
                let start = line * columns * width
                let to = target + start
                to.initializeMemory(as: UInt8.self, repeating: 0, count: first * width)
                if UnsafeRawPointer(target) != source {
                    (to + first * width).copyMemory(
                        from: source + start + first * width,
                        byteCount: (end - first) * width
                    )
                }
                (to + end * width).initializeMemory(as: UInt8.self, repeating: 0, count: (columns - end) * width)
            }
        }
    }
}
