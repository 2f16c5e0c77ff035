package import MLGraph
package import MLNumerics
import MLOperators

/// A differentiable objective: a graph that computes a loss, and the values in it that a step may change.
///
/// To train a graph of your own, build one with known extents: data and parameters as inputs, the loss, a tensor of one
/// element, as the first output. Each step returns further outputs, too.
package struct Objective: Sendable {
    package let graph: Graph
    /// The names of the parameters, each an input of the graph or a named constant in it.
    package let parameters: [String]

    package init(_ graph: Graph, parameters: [String]) {
        self.graph = graph
        self.parameters = parameters
    }

    /// The graph with gradients: its inputs are the data, in their order, followed by the parameters; its outputs are
    /// those of this graph followed by the gradient of the loss with respect to each parameter.
    ///
    /// Only what some gradient needs is computed. An operation without a gradient on the path from a parameter to the
    /// loss is an error that names it.
    package func differentiated() throws(ModelError) -> Graph {
        var differentiation = try Differentiation(graph.bound(), parameters)
        return try differentiation.finished()
    }
}

/// Rewrites a graph with its parameters as inputs and appends its backward pass, operation by operation.
private struct Differentiation {
    private var builder = GraphBuilder()
    private var parameters: [ValueID] = []
    private var outputs: [(name: String, value: ValueID)] = []
    /// The values that depend on parameters.
    private var reached: Set<ValueID> = []
    /// The operations that depend on parameters, in order.
    private var tape: [Operation] = []
    private var gradients: [ValueID: ValueID] = [:]

    init(_ graph: Graph, _ names: [String]) throws(ModelError) {
        var map: [ValueID: ValueID] = [:]
        var found: [String: ValueID] = [:]
        let constants = graph.namedConstants(names)
        for id in graph.inputs where !names.contains(graph[id].name) {
            map[id] = builder.input(graph[id].name, graph.type(of: id))
        }
        for name in names {
            guard let id = graph.inputs.first(where: { graph[$0].name == name }) ?? constants[name],
                graph.type(of: id).scalarType.isFloat
            else {
                throw ModelError(.invalidModel, "the graph has no parameter '\(name)' of floating-point numbers")
            }
            let input = builder.input(name, graph.type(of: id))
            map[id] = input
            found[name] = input
            parameters.append(input)
            reached.insert(input)
        }
        for operation in graph.body.operations { try copy(operation, of: graph, &map) }
        for (name, id) in zip(graph.outputNames, graph.body.outputs) {
            outputs.append((name, map[id] ?? builder.constant(graph.constant(id) ?? Tensor([0 as Float], shape: []))))
        }
    }

    private mutating func copy(
        _ operation: Operation,
        of graph: Graph,
        _ map: inout [ValueID: ValueID]
    ) throws(ModelError) {
        var operands: [ValueID?] = []
        for operand in operation.operands {
            guard let operand else {
                operands.append(nil)
                continue
            }
            if map[operand] == nil {
                guard let tensor = graph.constant(operand) else {
                    throw ModelError(.invalidModel, "value '\(graph.label(operand))' is used before it is defined")
                }
                map[operand] = builder.constant(tensor, name: graph[operand].name)
            }
            operands.append(map[operand])
        }
        guard operation.blocks.isEmpty else {
            throw ModelError(
                .unsupported,
                "'\(operation.op.displayName)' runs other operations, which has no gradient; "
                    + "leave it out of the updatable part of the model",
                at: operation.location
            )
        }
        let isReached = operands.contains { $0.map(reached.contains) ?? false }
        var op = operation.op
        if isReached, let differentiable = op as? any DifferentiableOperator { op = differentiable.recording }
        builder.location = operation.location
        let results = try builder.append(op, operands, names: operation.results.map { graph[$0].name })
        for (old, new) in zip(operation.results, results) { map[old] = new }
        guard isReached else { return }
        for result in results where builder.type(of: result).scalarType.isFloat { reached.insert(result) }
        tape.append(Operation(op, operands: operands, results: results, location: operation.location))
    }

    mutating func finished() throws(ModelError) -> Graph {
        guard let loss = outputs.first?.value, builder.shape(of: loss).elementCount == 1 else {
            throw ModelError(.invalidModel, "the first output of a graph to train must be the loss, one number")
        }
        guard reached.contains(loss) else {
            throw ModelError(.invalidModel, "the loss does not depend on any parameter; there is nothing to train")
        }
        let type = builder.type(of: loss)
        gradients[loss] = builder.constant(
            Tensor(repeating: 1, type.scalarType, shape: type.shape.counts ?? [])
        )
        for operation in tape.reversed() {
            try withErrorContext("gradient of \(operation.location)") { () throws(ModelError) in
                try propagate(operation)
            }
        }
        for parameter in parameters {
            guard let gradient = gradients[parameter] else {
                throw ModelError(
                    .invalidModel,
                    "the loss does not depend on '\(builder.graph[parameter].name)'; mark it as not updatable"
                )
            }
            outputs.append(("gradient of " + builder.graph[parameter].name, gradient))
        }
        return builder.finished(outputs: outputs)
    }

    /// Propagates the gradient of an operation's results to its operands.
    private mutating func propagate(_ operation: Operation) throws(ModelError) {
        let resultGradients = operation.results.map { gradients[$0] }
        guard resultGradients.contains(where: { $0 != nil }) else { return }
        let needed = operation.operands.indices.filter { index in
            operation.operands[index].map { reached.contains($0) } ?? false
        }
        var context = GradientContext(
            builder: builder,
            operands: operation.operands,
            results: operation.results,
            resultGradients: resultGradients,
            needed: Set(needed)
        )
        builder = GraphBuilder()
        context.builder.location = "gradient of \(operation.location)"
        try operation.op.addGradient(&context)
        builder = context.builder
        for index in needed {
            guard let operand = operation.operands[index], let gradient = context.operandGradients[index] else {
                continue
            }
            guard builder.type(of: gradient) == builder.type(of: operand) else {
                throw ModelError(
                    .invalidModel,
                    "the gradient of '\(operation.op.displayName)' by operand \(index) is \(builder.type(of: gradient)), "
                        + "the operand \(builder.type(of: operand))"
                )
            }
            if let known = gradients[operand] {
                gradients[operand] = try builder.add(Binary<Add>(), known, gradient)
            } else {
                gradients[operand] = gradient
            }
        }
    }
}

extension Graph {
    /// The constants with one of `names` that operations use.
    package func namedConstants(_ names: [String]) -> [String: ValueID] {
        let requested = Set(names)
        var result: [String: ValueID] = [:]
        for operation in body.operations {
            for case let operand? in operation.operands
            where constant(operand) != nil && requested.contains(self[operand].name)
                && result[self[operand].name] == nil
            {
                result[self[operand].name] = operand
            }
        }
        return result
    }
}
