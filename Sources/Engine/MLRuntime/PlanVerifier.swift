package import MLGraph
package import MLNumerics

/// Checks a memory plan by following its steps: no step may overwrite a value that is still read later, a
/// constant, nor to an input that its caller keeps.
///
/// It knows the graph and the locations of values, but not the planner's lifetimes and aliases, which it checks.
package struct PlanVerifier {
    /// The location of a value, in bytes from the start of an arena, input, output or constant.
    package struct BufferRange: Equatable, Sendable {
        package let base: Plan.Base
        package let bytes: Range<Int>

        package init(_ base: Plan.Base, _ bytes: Range<Int>) {
            self.base = base
            self.bytes = bytes
        }

        func overlaps(_ other: BufferRange) -> Bool { base == other.base && bytes.overlaps(other.bytes) }
    }

    private let graph: Graph
    private let positions: [ValueID: BufferRange]
    private let overwrittenInputs: Set<Int>
    private let steps: Set<Int>

    /// Prepares the verification of a plan.
    ///
    /// - Parameters:
    ///   - graph: The planned graph.
    ///   - positions: The locations of values; constants that no step reads have none.
    ///   - steps: The operations that became steps; the others refer to memory that already exists.
    ///   - overwrittenInputs: The inputs whose memory the plan may overwrite, by index.
    package init(graph: Graph, positions: [ValueID: BufferRange], steps: Set<Int>, overwrittenInputs: Set<Int> = []) {
        self.graph = graph
        self.positions = positions
        self.steps = steps
        self.overwrittenInputs = overwrittenInputs
    }

    /// - Throws: `.invalidModel` naming the step and the value that it would destroy.
    package func verify() throws(ModelError) {
        let operations = graph.body.operations
        var lastUses: [ValueID: Int] = [:]
        for (index, operation) in operations.enumerated() {
            for case let operand? in operation.operands { lastUses[operand] = index }
        }
        for output in graph.body.outputs { lastUses[output] = operations.count }
        var alive = graph.inputs
        for (index, operation) in operations.enumerated() {
            if steps.contains(index) {
                let results = operation.results.filter { positions[$0] != nil }
                for (number, result) in results.enumerated() {
                    try verify(result, of: operation, at: index, leaves: alive, lastUses)
                    for other in results[..<number] where positions[other]!.overlaps(positions[result]!) {
                        throw invalid(
                            operation,
                            "writes two results, '\(graph.label(other))' and '\(graph.label(result))', to one location"
                        )
                    }
                }
            }
            alive.append(contentsOf: operation.results)
            alive.removeAll { lastUses[$0] ?? -1 <= index }
        }
    }

    private func verify(
        _ result: ValueID,
        of operation: Operation,
        at index: Int,
        leaves alive: [ValueID],
        _ lastUses: [ValueID: Int]
    ) throws(ModelError) {
        guard let written = positions[result], !written.bytes.isEmpty else { return }
        switch written.base {
        case .constant: throw invalid(operation, "writes to a constant")
        case .input(let position) where !overwrittenInputs.contains(position):
            throw invalid(operation, "writes to the input '\(graph.label(graph.inputs[position]))'")
        default: break
        }
        for value in alive {
            guard let position = positions[value], position.overlaps(written) else { continue }
            let isLastUse = lastUses[value] ?? -1 <= index
            let isInPlace = operation.operands.contains(value) && position.bytes.lowerBound == written.bytes.lowerBound
            guard isLastUse, isInPlace else {
                throw invalid(operation, "writes over '\(graph.label(value))', which is still needed")
            }
        }
    }

    private func invalid(_ operation: Operation, _ text: String) -> ModelError {
        ModelError(.invalidModel, "the plan is wrong: '\(operation.op.displayName)' \(text)", at: operation.location)
    }
}
