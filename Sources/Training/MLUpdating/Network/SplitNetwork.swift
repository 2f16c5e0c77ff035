import MLEngine
import MLFeatures
import MLGraph
import MLGraphTraining
import MLLowering
import MLNumerics
import MLOperators
import MLSpecification

/// An updatable network for a number of examples at once, split in two: the frozen part, which depends on no updatable
/// layer, and the rest.
///
/// The values at the split are the *features*, which stay the same from step to step.
struct SplitNetwork: Sendable {
    /// Computes the features of one example from the network's inputs; `nil` when the network was built for several.
    let frozen: GraphEngine?
    /// The whole graph, before splitting.
    private let graph: Graph
    /// The features, in the order in which the rest uses them.
    private let cut: [ValueID]
    private let head: [Operation]
    private let lossInput: ValueID

    /// Splits a network before its first updatable layer.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - batch: The number of examples in each sequence; more than one only with the legacy mapping.
    ///   - catalogue: The operators that the network may use.
    ///   - precision: The scalar type of all computations.
    /// - Throws: An error when the network's layers cannot be computed.
    init(
        _ network: UpdatableNetwork,
        batch: Int,
        catalogue: Catalogue,
        precision: ScalarType
    ) throws(ModelError) {
        var shapes = NeuralNetworkReader.InputShapes()
        if batch > 1 {
            for feature in network.specification.description_p.input {
                if case .multiArrayType? = feature.type.type { shapes.batches[feature.name] = batch }
            }
        }
        var lowered = try NeuralNetworkReader.read(network.specification, catalogue: catalogue, shapes: shapes)
        let output = lowered.graph.body.outputs[0]
        var parameters: [String: ValueID] = [:]
        for (name, id) in lowered.graph.namedConstants(network.layers.flatMap(\.parameters)) { parameters[name] = id }
        var reached = Set(parameters.values)
        var head: [Operation] = []
        var rest: [Operation] = []
        for operation in lowered.graph.body.operations {
            if operation.operands.contains(where: { $0.map(reached.contains) ?? false }) {
                reached.formUnion(operation.results)
                head.append(operation)
            } else {
                rest.append(operation)
            }
        }
        head = Block(operations: head, outputs: [output]).withoutDeadOperations().operations
        var cut: [ValueID] = []
        for operation in head {
            for case let operand? in operation.operands
            where !reached.contains(operand) && lowered.graph.constant(operand) == nil && !cut.contains(operand) {
                cut.append(operand)
            }
        }
        graph = lowered.graph
        self.cut = cut
        self.head = head
        lossInput = output
        guard batch == 1 else {
            frozen = nil
            return
        }
        lowered.graph.replaceBody(
            Block(inputs: lowered.graph.inputs, operations: rest, outputs: cut).withoutDeadOperations()
        )
        lowered.outputs = []
        if precision == .float64 {
            lowered.graph = try lowered.graph.inDoublePrecision()
            for index in lowered.inputs.indices { lowered.inputs[index].value = lowered.graph.inputs[index] }
        }
        frozen = try GraphEngine(lowered, interface: network.specification.description_p)
    }

    /// The parameters from the file, in the order of `names`.
    func parameters(_ names: [String]) throws(ModelError) -> [Tensor] {
        let constants = graph.namedConstants(names)
        var result: [Tensor] = []
        for name in names {
            guard let tensor = constants[name].flatMap({ graph.constant($0) }) else {
                throw ModelError(.invalidModel, "the network has no '\(name)'; the layer that holds it does nothing")
            }
            result.append(tensor)
        }
        return result
    }

    /// The shape of the blob that is the loss's input, for features of these shapes.
    func predictionShape(_ features: [[Int]], _ precision: ScalarType) throws(ModelError) -> [Int] {
        var builder = GraphBuilder()
        let map = try append(features, precision, to: &builder)
        guard let id = map[lossInput], let shape = builder.shape(of: id).counts else {
            throw ModelError(.unsupported, "the shape of the network's output depends on data; it cannot be trained")
        }
        return shape
    }

    /// The loss as a graph of features of these shapes and of targets.
    func objective(
        _ loss: Loss,
        features: [[Int]],
        batch: Int,
        parameters: [String],
        precision: ScalarType
    ) throws(ModelError) -> Objective {
        var builder = GraphBuilder()
        let map = try append(features, precision, to: &builder)
        builder.location = "loss"
        guard var prediction = map[lossInput], let shape = builder.shape(of: prediction).counts else {
            throw ModelError(.unsupported, "the shape of the network's output depends on data; it cannot be trained")
        }
        let value: ValueID
        switch loss {
        case .meanSquaredError:
            let targets = builder.input("targets", ValueType(precision, Shape(shape)))
            value = try builder.meanSquaredError(prediction, targets)
        case .categoricalCrossEntropy:
            let (operand, classes) = try logits(map, builder)
            guard classes * batch == shape.elementCount else {
                throw ModelError(
                    .unsupported,
                    "the softmax gives \(shape.elementCount / max(batch, 1)) numbers for an example, of \(classes) classes; "
                        + "a cross-entropy takes one set of probabilities for each example"
                )
            }
            let rows = builder.constant(Tensor([Int32(clamping: batch), Int32(clamping: classes)], shape: [2]))
            prediction = try builder.add(Reshape(), operand, rows)
            let targets = builder.input("targets", ValueType(precision, [Dimension(batch), Dimension(classes)]))
            value = try builder.crossEntropy(prediction, targets)
        }
        return Objective(builder.finished(outputs: [("loss", value)]), parameters: parameters)
    }

    /// Appends the rest of the network, with an input for each feature; gives the new names of values.
    private func append(
        _ features: [[Int]],
        _ precision: ScalarType,
        to builder: inout GraphBuilder
    ) throws(ModelError) -> [ValueID: ValueID] {
        var map: [ValueID: ValueID] = [:]
        for (id, shape) in zip(cut, features) {
            let type = graph.type(of: id)
            let scalarType = type.scalarType == .float32 ? precision : type.scalarType
            map[id] = builder.input("feature \(id.index)", ValueType(scalarType, Shape(shape)))
        }
        for operation in head {
            var operands: [ValueID?] = []
            for operand in operation.operands {
                guard let operand else {
                    operands.append(nil)
                    continue
                }
                if map[operand] == nil, let tensor = graph.constant(operand) {
                    let isFloat = tensor.scalarType == .float32 || tensor.scalarType == .float16
                    map[operand] = builder.constant(
                        isFloat ? tensor.converted(to: precision) : tensor,
                        name: graph[operand].name
                    )
                }
                guard let known = map[operand] else {
                    throw ModelError(.invalidModel, "value '\(graph.label(operand))' is used before it is defined")
                }
                operands.append(known)
            }
            builder.location = operation.location
            var results = try operation.op.expansion(operands, in: &builder) ?? []
            if results.isEmpty { results = try builder.append(operation.op, operands, blocks: operation.blocks) }
            for (old, new) in zip(operation.results, results) { map[old] = new }
        }
        return map
    }

    /// The operand of the softmax that gives the probabilities, and the number of classes.
    private func logits(
        _ map: [ValueID: ValueID],
        _ builder: GraphBuilder
    ) throws(ModelError) -> (operand: ValueID, classes: Int) {
        var value = lossInput
        while let operation = head.last(where: { $0.results.contains(value) }) {
            guard let operand = operation.operands.first ?? nil else { break }
            if let softmax = operation.op as? Softmax, let id = map[operand] {
                let shape = builder.shape(of: id).counts ?? []
                return (id, shape[try normalizedAxis(softmax.axis, rank: shape.count)])
            }
            guard operation.op is Regroup || operation.op is Reshape || operation.op is ExpandDims else { break }
            value = operand
        }
        throw ModelError(.invalidModel, "the cross-entropy is not computed from the output of a softmax")
    }
}

extension Graph {
    /// The graph with double precision in place of single precision: a reference for the kernels' arithmetic.
    func inDoublePrecision() throws(ModelError) -> Graph {
        try rebuilt { (id, builder) throws(ModelError) in
            builder.input(self[id].name, type(of: id))
        } output: { (_, new, builder) throws(ModelError) in
            builder.type(of: new).scalarType == .float32 ? try builder.add(Cast(to: .float64), new) : new
        } operation: { (operation, operands, builder) throws(ModelError) in
            var wide: [ValueID?] = []
            for operand in operands {
                if let operand, builder.type(of: operand).scalarType == .float32 {
                    wide.append(try builder.add(Cast(to: .float64), operand))
                } else {
                    wide.append(operand)
                }
            }
            return try builder.append(operation.op, wide)
        }
    }
}
