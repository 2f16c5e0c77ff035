import MLNumerics

/// The context of an operator's batch rule: one operation of a graph for one example, and the builder of the graph for
/// several.
///
/// A value that differs between examples is *batched*: in row-major order its elements are those of the first example,
/// then those of the second, and so on. `BatchedGraph` gives every batched value its *joined* shape, in which the examples
/// follow each other on the first axis: [count · d0, d1…] for [d0, d1…], and [count] for a scalar. Reshaping is free, so a
/// rule may also work on the *stacked* shape, [count, d0, d1…].
package struct BatchContext {
    /// An operand as the operation has it, and the value of the new graph.
    package struct Operand: Sendable {
        package let value: ValueID
        /// The extents for one example.
        package let shape: [Int]
        /// Whether the examples differ; otherwise the value is the same for all.
        package let isBatched: Bool

        package init(value: ValueID, shape: [Int], isBatched: Bool) {
            self.value = value
            self.shape = shape
            self.isBatched = isBatched
        }
    }

    package var builder: GraphBuilder
    /// The number of examples.
    package let count: Int
    package let operands: [Operand?]
    /// The results' types for one example.
    package let resultTypes: [ValueType]

    package init(builder: GraphBuilder, count: Int, operands: [Operand?], resultTypes: [ValueType]) {
        self.builder = builder
        self.count = count
        self.operands = operands
        self.resultTypes = resultTypes
    }

    /// The extents of a batched value whose extents for one example are `shape`.
    package func joinedShape(_ shape: [Int]) -> [Int] {
        shape.isEmpty ? [count] : [count * shape[0]] + shape.dropFirst()
    }
}
