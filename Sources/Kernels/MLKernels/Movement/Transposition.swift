import CMLKernels

/// Transposes the planes of a batch: between `[N, C, H·W]` and `[N, H·W, C]`.
package enum Transposition {
    /// `target[b][c][r] = source[b][r][c]` for contiguous `[batch, rows, columns]`; the two must not overlap.
    package static func run(
        _ source: UnsafePointer<Float>,
        _ target: UnsafeMutablePointer<Float>,
        batch: Int,
        rows: Int,
        columns: Int
    ) {
        StridedCopy(
            extents: [batch, rows, columns],
            sourceStrides: [rows * columns, columns, 1],
            targetStrides: [rows * columns, 1, rows],
            elementByteCount: 4
        ).run(source, target)
    }
}
