import MLGraph
import MLKernels
package import MLNumerics

/// A graph bound to one set of input shapes: a plan, and, where extents depend on data, the remainder, which is bound
/// after the plan has run.
package final class BoundProgram: Sendable {
    /// The rest of a program after the first operation whose results' extents are only known at run time.
    struct Tail: Sendable {
        /// The operation to evaluate between the plan and the rest; `nil` when the rest only needs values of the plan.
        let operation: DynamicOperation?
        let rest: GraphExecutable
        /// For each input of `rest` the source of its value.
        let restInputs: [Source]
    }

    /// An operation evaluated on whole tensors.
    struct DynamicOperation: Sendable {
        let operation: Operation
        let operands: [Source?]
        let bodies: [GraphExecutable]
        /// For each body the outer values that it uses, appended to its own inputs.
        let captures: [[Source]]
        let resultTypes: [ValueType]
    }

    enum Source: Sendable {
        case plan(Int)
        case input(Int)
        case constant(Tensor)
        case dynamic(Int)
    }

    package let plan: Plan
    let tail: Tail?
    private let outputSources: [Source]

    /// Plans a graph.
    ///
    /// - Parameters:
    ///   - graph: The bound and optimised graph, without memory layouts.
    ///   - pipeline: Chooses the memory layouts.
    ///   - kernels: The kernels of all plans.
    ///   - overwrites: Inputs whose memory an output may reuse.
    /// - Throws: Errors of the planner, such as an operator that has no kernel for its types.
    init(
        optimized graph: Graph,
        pipeline: GraphExecutable.Pipeline,
        kernels: KernelTable,
        overwrites: [GraphExecutable.Overwrite]
    ) throws(ModelError) {
        let operations = graph.body.operations
        guard let cut = operations.firstIndex(where: { graph.isDynamic($0) }) else {
            plan = try Planner.plan(try pipeline.layOut(graph), kernels: kernels, overwrites: overwrites)
            tail = nil
            outputSources = graph.body.outputs.indices.map { .plan($0) }
            return
        }
        let operation = operations[cut]
        let waits = graph.runtimeShapeOperands(operation)
        let restOperations = Array(operations[(waits.isEmpty ? cut + 1 : cut)...])
        var rest = Block(operations: restOperations, outputs: graph.body.outputs)
        let needed = rest.usedValues.union(operation.operands.compactMap { $0 })
            .union(operation.blocks.reduce(into: Set()) { $0.formUnion($1.usedValues) })
        var sources: [ValueID: Source] = [:]
        for (index, input) in graph.inputs.enumerated() { sources[input] = .input(index) }
        var head = Block(inputs: graph.inputs, operations: Array(operations[..<cut]))
        for value in head.operations.flatMap(\.results) where needed.contains(value) {
            sources[value] = .plan(head.outputs.count)
            head.outputs.append(value)
        }
        plan = try Planner.plan(try pipeline.layOut(graph.part(head)), kernels: kernels)
        func source(_ id: ValueID) -> Source? { graph.constant(id).map { .constant($0) } ?? sources[id] }

        var dynamic: DynamicOperation?
        if waits.isEmpty {
            var bodies: [GraphExecutable] = []
            var captures: [[Source]] = []
            for block in operation.blocks {
                let defined = block.definedValues
                let captured = block.usedValues.filter { !defined.contains($0) && graph.constant($0) == nil }
                    .sorted { $0.index < $1.index }
                var body = block
                body.inputs += captured
                bodies.append(
                    try GraphExecutable(
                        graph.part(body).withUnknownExtents(block.inputs.count),
                        pipeline: pipeline,
                        kernels: kernels
                    )
                )
                captures.append(captured.compactMap(source))
            }
            dynamic = DynamicOperation(
                operation: operation,
                operands: operation.operands.map { $0.flatMap(source) },
                bodies: bodies,
                captures: captures,
                resultTypes: operation.results.map(graph.type(of:))
            )
            for (index, result) in operation.results.enumerated() { sources[result] = .dynamic(index) }
        }
        rest.inputs = rest.usedValues.filter { sources[$0] != nil && graph.constant($0) == nil }
            .sorted { $0.index < $1.index }
        let contentInputs = Set(rest.inputs.indices.filter { waits.contains(rest.inputs[$0]) })
        // The operands of the dynamic operation may share memory with its results.
        let visited = waits.isEmpty ? Block(operations: [operation]).usedValues : []
        let kept = overwrites.compactMap { pair -> GraphExecutable.Overwrite? in
            let input = graph.inputs[pair.input]
            guard !visited.contains(input), let position = rest.inputs.firstIndex(of: input) else { return nil }
            return GraphExecutable.Overwrite(input: position, output: pair.output)
        }
        tail = Tail(
            operation: dynamic,
            rest: try GraphExecutable(
                graph.part(rest),
                pipeline: pipeline,
                contentInputs: contentInputs,
                overwrites: kept,
                kernels: kernels
            ),
            restInputs: rest.inputs.compactMap(source)
        )
        outputSources = []
    }

    /// Throws unless `inputs` match the plan; `name` returns the model's name for an input.
    func check(_ inputs: [Tensor], name: (Int) -> String) throws(ModelError) {
        guard inputs.count == plan.inputTypes.count else {
            throw ModelError(.invalidInput, "\(inputs.count) inputs for a graph that takes \(plan.inputTypes.count)")
        }
        for (index, tensor) in inputs.enumerated() {
            guard tensor.scalarType == plan.inputTypes[index].scalarType, tensor.shape == plan.inputShapes[index] else {
                throw ModelError(
                    .invalidInput,
                    "input '\(name(index))' is \(tensor.scalarType.milName) \(tensor.shape), the model takes "
                        + "\(plan.inputTypes[index])"
                )
            }
        }
    }

    package func run(
        _ inputs: [Tensor],
        backings: [Tensor?],
        observer: (any StepObserver)?
    ) throws(ModelError) -> [Tensor] {
        guard let tail else { return try plan.run(inputs, backings: backings, observer: observer) }
        var values = Values(inputs: inputs, results: try plan.run(inputs, backings: [], observer: observer))
        try Cancellation.forSteps?.check()
        if let dynamic = tail.operation { values.dynamic = try evaluate(dynamic, values, observer: observer) }
        return try tail.rest.run(tail.restInputs.map { values[$0] }, backings: backings, observer: observer)
    }

    /// The values known after the plan has run: its inputs and results, and those of the operation after it.
    struct Values {
        let inputs: [Tensor]
        let results: [Tensor]
        var dynamic: [Tensor] = []

        subscript(source: Source) -> Tensor {
            switch source {
            case .plan(let index): results[index]
            case .input(let index): inputs[index]
            case .constant(let tensor): tensor
            case .dynamic(let index): dynamic[index]
            }
        }
    }

    /// Evaluates an operation that runs between plans.
    ///
    /// - Parameters:
    ///   - dynamic: The operation, with its operands and the plans of its bodies.
    ///   - values: The values that are known at this point.
    ///   - observer: Is notified of every step of the bodies.
    ///   - visits: Records every run of a body.
    /// - Returns: The operation's results.
    /// - Throws: `.invalidInput` for operands out of range, and errors of the bodies.
    func evaluate(
        _ dynamic: DynamicOperation,
        _ values: Values,
        observer: (any StepObserver)? = nil,
        visits: BodyRunCounts? = nil
    ) throws(ModelError) -> [Tensor] {
        let operands = dynamic.operands.map { $0.map { values[$0] } }
        let previous = plan.kernels.enter()
        defer { KernelTable.leave(to: previous) }
        return try withErrorContext(dynamic.operation.location) { () throws(ModelError) in
            guard let control = dynamic.operation.op as? any ControlFlowOperator else {
                return try dynamic.operation.op.reference(
                    ReferenceOperands(operands, resultTypes: dynamic.resultTypes)
                )
            }
            let captured = dynamic.captures.map { $0.map { values[$0] } }
            let bodies: [BlockBody] = dynamic.bodies.enumerated().map { index, executable in
                { (inputs) throws(ModelError) in
                    visits?.add(index, inputs)
                    return try executable.run(inputs + captured[index], observer: observer)
                }
            }
            return try control.evaluate(operands.compactMap { $0 }, bodies: bodies)
        }
    }
}

extension Graph {
    /// Whether the extents of some result are only known at run time, or the operation has bodies.
    func isDynamic(_ operation: Operation) -> Bool {
        !operation.blocks.isEmpty
            || operation.results.contains {
                let type = type(of: $0)
                return !type.isBound || type.kind != .tensor || type.scalarType == .string
            }
    }

    /// Operands whose contents determine the extents of the results and are computed by the model.
    func runtimeShapeOperands(_ operation: Operation) -> Set<ValueID> {
        guard operation.results.contains(where: { !type(of: $0).isBound }) else { return [] }
        let waiting = operation.op.shapeOperands.compactMap { index -> ValueID? in
            guard index < operation.operands.count, let id = operation.operands[index], constant(id) == nil else {
                return nil
            }
            return id
        }
        return Set(waiting)
    }

    /// A separate graph with `block` as its body, over the same values.
    func part(_ block: Block) -> Graph {
        var graph = self
        graph.replaceBody(block)
        return graph
    }

    /// The graph with the extents of its first `count` inputs unknown: a loop may change them in each iteration.
    func withUnknownExtents(_ count: Int) -> Graph {
        var graph = self
        for id in inputs.prefix(count) { graph.clearExtents(id) }
        return graph
    }
}

extension Block {
    /// Inputs and results of this block and of nested ones.
    var definedValues: Set<ValueID> {
        var result = Set(inputs)
        for operation in operations {
            result.formUnion(operation.results)
            for block in operation.blocks { result.formUnion(block.definedValues) }
        }
        return result
    }
}
