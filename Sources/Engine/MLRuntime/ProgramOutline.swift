import MLGraph
package import MLNumerics

/// A readable outline of a program for given inputs: its plans, the operations between them, and the plans of the
/// bodies of branches and loops.
package struct ProgramOutline: Sendable {
    package enum Part: Sendable {
        case plan(Plan)
        case operation(Operation)
    }

    /// An operation that is evaluated on whole tensors, because extents of its results are only known at run time, or
    /// because it has bodies.
    package struct Operation: Sendable {
        package let name: String
        package let location: String
        /// The shapes of its results for these inputs.
        package let shapes: [[Int]]
        package let bodies: [Body]
    }

    /// A body of a branch or a loop.
    package struct Body: Sendable {
        /// The number of its runs for these inputs.
        package let runs: Int
        /// Its parts for the values of its first run, or for those before the operation when it does not run; the error
        /// when a body that does not run cannot be outlined with these.
        package let outline: Result<ProgramOutline, ModelError>
    }

    package let parts: [Part]

    /// Every plan, including those of bodies that could be outlined.
    package var plans: [Plan] {
        parts.flatMap { part -> [Plan] in
            switch part {
            case .plan(let plan): [plan]
            case .operation(let operation): operation.bodies.flatMap { (try? $0.outline.get().plans) ?? [] }
            }
        }
    }
}

extension GraphExecutable {
    /// The outline of a run on `inputs`.
    ///
    /// Whatever is bound at run time is determined by running it.
    package func outline(for inputs: [Tensor]) throws(ModelError) -> ProgramOutline {
        ProgramOutline(parts: try program(for: inputs).parts(for: inputs))
    }
}

extension BoundProgram {
    fileprivate func parts(for inputs: [Tensor]) throws(ModelError) -> [ProgramOutline.Part] {
        guard let tail else { return [.plan(plan)] }
        var values = Values(inputs: inputs, results: try plan.run(inputs, backings: [], observer: nil))
        var parts = [ProgramOutline.Part.plan(plan)]
        if let dynamic = tail.operation {
            let visits = BodyRunCounts(count: dynamic.bodies.count)
            values.dynamic = try evaluate(dynamic, values, visits: visits)
            parts.append(.operation(operation(dynamic, values, visits)))
        }
        let rest = tail.restInputs.map { values[$0] }
        return parts + (try tail.rest.program(for: rest).parts(for: rest))
    }

    private func operation(_ dynamic: DynamicOperation, _ values: Values, _ visits: BodyRunCounts)
        -> ProgramOutline.Operation
    {
        let operands = dynamic.operands.compactMap { $0.map { values[$0] } }
        let bodies = dynamic.bodies.enumerated().map { index, executable in
            let isWithoutInputs = dynamic.operation.blocks[index].inputs.isEmpty
            let inputs = visits.first[index] ?? (isWithoutInputs ? [] : operands)
            let captured = dynamic.captures[index].map { values[$0] }
            return ProgramOutline.Body(
                runs: visits.counts[index],
                outline: Result { () throws(ModelError) in try executable.outline(for: inputs + captured) }
            )
        }
        return ProgramOutline.Operation(
            name: dynamic.operation.op.displayName,
            location: dynamic.operation.location,
            shapes: values.dynamic.map(\.shape),
            bodies: bodies
        )
    }
}

/// The number of runs of each body of an operation, and the inputs of the first run.
final class BodyRunCounts {
    private(set) var counts: [Int]
    private(set) var first: [[Tensor]?]

    init(count: Int) {
        counts = [Int](repeating: 0, count: count)
        first = [[Tensor]?](repeating: nil, count: count)
    }

    func add(_ body: Int, _ inputs: [Tensor]) {
        if counts[body] == 0 { first[body] = inputs }
        counts[body] += 1
    }
}
