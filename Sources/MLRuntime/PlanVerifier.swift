import MLGraph
import MLNumerics

/// Checks a memory plan by following its steps: no step may write where a value lies that is still read later.
///
/// It knows the graph and where values lie, and nothing of how the planner decided; the planner's lifetimes and aliases
/// are what it judges.
struct PlanVerifier {
    /// Where a value lies, in bytes from the start of an arena, input, output or constant.
    struct Place: Equatable {
        let base: Plan.Base
        let bytes: Range<Int>

        func overlaps(_ other: Place) -> Bool { base == other.base && bytes.overlaps(other.bytes) }
    }

    let graph: Graph
    /// The place of every value that a step reads or writes, or that is an output.
    let places: [ValueID: Place]
    /// The operations that became steps; the others name memory that is there already.
    let steps: Set<Int>

    /// - Throws: `.invalidModel` naming the step and the value that it would destroy.
    func verify() throws(ModelError) {
        let operations = graph.body.operations
        var lastUses: [ValueID: Int] = [:]
        for (index, operation) in operations.enumerated() {
            for case let operand? in operation.operands { lastUses[operand] = index }
        }
        for output in graph.body.outputs { lastUses[output] = operations.count }
        var alive = graph.inputs
        for (index, operation) in operations.enumerated() {
            if steps.contains(index) {
                let results = operation.results.filter { places[$0] != nil }
                for (number, result) in results.enumerated() {
                    try verify(result, of: operation, at: index, leaves: alive, lastUses)
                    for other in results[..<number] where places[other]!.overlaps(places[result]!) {
                        throw fault(
                            operation,
                            "writes two results, '\(graph.label(other))' and '\(graph.label(result))', to one place"
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
        guard let written = places[result], !written.bytes.isEmpty else { return }
        if case .constant = written.base { throw fault(operation, "writes to a constant") }
        for value in alive {
            guard let place = places[value], place.overlaps(written) else { continue }
            let isLastUse = lastUses[value] ?? -1 <= index
            let isInPlace = operation.operands.contains(value) && place.bytes.lowerBound == written.bytes.lowerBound
            guard isLastUse, isInPlace else {
                throw fault(operation, "writes over '\(graph.label(value))', which is still needed")
            }
        }
    }

    private func fault(_ operation: Operation, _ text: String) -> ModelError {
        ModelError(.invalidModel, "the plan is wrong: '\(operation.op.displayName)' \(text)", at: operation.location)
    }
}
