import MLGraph
package import MLNumerics

/// All that a program does for given inputs, for people to read: its plans, the operations between them, and the plans of
/// the bodies of branches and loops.
package struct ProgramOutline: Sendable {
    package enum Part: Sendable {
        case plan(Plan)
        case operation(Operation)
    }

    /// An operation that is evaluated on whole tensors, because extents of its results are known only while running, or
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
        /// How often it runs for these inputs.
        package let runs: Int
        /// Its parts for the values of its first run, and for those before the operation when it does not run; the
        /// failure when a body that does not run cannot be followed with these.
        package let outline: Result<ProgramOutline, ModelError>
    }

    package let parts: [Part]

    /// Every plan, those of bodies that could be followed too.
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
    /// What running the graph on `inputs` does.  Whatever is bound only while running is found by running it.
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
            let visits = BodyVisits(count: dynamic.bodies.count)
            values.dynamic = try evaluate(dynamic, values, visits: visits)
            parts.append(.operation(operation(dynamic, values, visits)))
        }
        let rest = tail.restInputs.map { values[$0] }
        return parts + (try tail.rest.program(for: rest).parts(for: rest))
    }

    private func operation(_ dynamic: DynamicOperation, _ values: Values, _ visits: BodyVisits)
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

/// How often each body of an operation ran, and on what the first time.
final class BodyVisits {
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
