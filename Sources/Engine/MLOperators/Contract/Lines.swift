import MLNumerics

/// The lines of a dense array along one axis: the start of each and the distance of its elements.
package struct Lines: Sendable {
    /// The number of elements in a line.
    package let count: Int
    /// The distance of neighbouring elements in a line.
    package let stride: Int
    /// The number of blocks of lines.
    package let outer: Int

    package init(shape: [Int], axis: Int) {
        count = shape[axis]
        stride = shape[(axis + 1)...].reduce(1, *)
        outer = shape[..<axis].reduce(1, *)
    }

    /// Calls `body` with the first index of every line, in row-major order.
    package func forEach(_ body: (Int) -> Void) {
        for block in 0..<outer {
            for line in 0..<stride { body(block * count * stride + line) }
        }
    }

    /// The indices of the line that begins at `start`.
    package func positions(from start: Int) -> [Int] {
        (0..<count).map { start + $0 * stride }
    }
}
