import MLNumerics

/// The lines of a dense array along one axis: where each starts and how far apart its elements lie.
package struct Lines: Sendable {
    /// Elements of one line.
    package let count: Int
    /// The distance of neighbours in a line.
    package let stride: Int
    /// How many blocks of lines there are.
    package let outer: Int

    package init(shape: [Int], axis: Int) {
        count = shape[axis]
        stride = shape[(axis + 1)...].reduce(1, *)
        outer = shape[..<axis].reduce(1, *)
    }

    /// Calls `body` with the first place of every line, in row-major order.
    package func forEach(_ body: (Int) -> Void) {
        for block in 0..<outer {
            for line in 0..<stride { body(block * count * stride + line) }
        }
    }

    /// The places of the line that begins at `start`.
    package func places(from start: Int) -> [Int] {
        (0..<count).map { start + $0 * stride }
    }
}
