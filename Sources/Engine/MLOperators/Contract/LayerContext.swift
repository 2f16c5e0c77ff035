package import MLGraph
package import MLNumerics
package import MLSpecification

/// The context in which a layer's rule converts it to operations.
///
/// **Values.** Every blob of a neural network is a float32 tensor, including masks, indices and shapes. Rules convert
/// where an operator needs integers (`integers(_:)`); results of other types are converted by `setOutputs`.
///
/// **Ranks.** With the exact mapping a blob has the rank that it has in the model, and layers that work on the last `n`
/// axes accept any rank: use `merged(_:keeping:)` and `restored(_:like:keeping:)` around operators of a fixed rank.
/// With the legacy mapping (`usesRank5Mapping`) blobs are [Sequence, Batch, C, H, W] in the model; the layers that the
/// specification had before version 4 then see rank 4, [Sequence·Batch, C, H, W], and count axes from the end.
/// Recurrent layers and others that need the sequence axis use `sequence(_:)`. Layers of later versions see all five
/// axes and `usesRank5Mapping` is false.
package struct LayerContext {
    package var builder: GraphBuilder
    package let layer: SpecNeuralNetworkLayer
    /// The values of the layer's input blobs, in the layer's order.
    package let inputs: [ValueID]
    /// Whether blobs are [Sequence·Batch, C, H, W] in place of the model's [Sequence, Batch, C, H, W].
    package let usesRank5Mapping: Bool
    /// With the legacy mapping: the batch size in axis 0, by input.
    package let batches: [Int]
    /// With the legacy mapping: the batch size in axis 0 of the outputs; the greatest of the inputs unless a rule sets
    /// another one.
    package var outputBatch: Int
    /// Whether an output is a scalar, to which `finish` added an axis.
    package var givesScalars = false
    /// The values of the layer's output blobs, once the rule has set them.
    package private(set) var outputs: [ValueID] = []

    package init(
        builder: GraphBuilder,
        layer: SpecNeuralNetworkLayer,
        inputs: [ValueID],
        usesRank5Mapping: Bool,
        batches: [Int]? = nil
    ) {
        self.builder = builder
        self.layer = layer
        self.inputs = inputs
        self.usesRank5Mapping = usesRank5Mapping
        self.batches = batches ?? inputs.map { _ in 1 }
        outputBatch = self.batches.max() ?? 1
    }

    /// Input `index`, which the layer must have.
    package func input(_ index: Int = 0) throws(ModelError) -> ValueID {
        guard index < inputs.count else {
            throw ModelError(.invalidModel, "the layer has \(inputs.count) inputs and needs input \(index)")
        }
        return inputs[index]
    }

    package func type(of id: ValueID) -> ValueType { builder.type(of: id) }
    package func shape(of id: ValueID) -> Shape { builder.shape(of: id) }
    package func rank(of id: ValueID) -> Int { builder.shape(of: id).count }

    /// The rank that the file declares for an output, `nil` when it declares none.
    package func declaredOutputRank(_ index: Int = 0) -> Int? {
        index < layer.outputTensor.count ? Int(layer.outputTensor[index].rank) : nil
    }

    /// The shape that the file declares for an output, unknown where it has −1; `nil` when it declares none.
    package func declaredOutputShape(_ index: Int = 0) -> Shape? {
        guard index < layer.outputTensor.count else { return nil }
        let tensor = layer.outputTensor[index]
        guard tensor.dimValue.count == Int(tensor.rank) else { return nil }
        return tensor.dimValue.map { $0 < 0 ? .unknown : Dimension(Int(truncatingIfNeeded: $0)) }
    }

    // MARK: Appending

    /// Appends an operation with one result.
    package mutating func add(_ op: some Operator, _ operands: ValueID?...) throws(ModelError) -> ValueID {
        try builder.append(op, operands)[0]
    }

    /// Appends an operation with any number of operands and results.
    @discardableResult
    package mutating func append(
        _ op: some Operator,
        _ operands: [ValueID?],
        blocks: [Block] = []
    ) throws(ModelError) -> [ValueID] {
        try builder.append(op, operands, blocks: blocks)
    }

    /// A constant float32 tensor.
    package mutating func constant(_ values: [Float], shape: [Int]) -> ValueID {
        builder.constant(Tensor(values, shape: shape))
    }

    /// A constant float32 scalar.
    package mutating func constant(_ value: Float) -> ValueID { builder.constant(Tensor([value], shape: [])) }

    /// A constant int32 vector.
    package mutating func constant(integers: [Int]) -> ValueID {
        builder.constant(Tensor(integers.map { Int32(clamping: $0) }, shape: [integers.count]))
    }

    /// A blob as int32, truncated toward zero: indices, shapes.
    package mutating func integers(_ id: ValueID) throws(ModelError) -> ValueID { try converted(id, to: .int32) }

    /// A blob as Booleans: whether elements differ from 0.
    package mutating func booleans(_ id: ValueID) throws(ModelError) -> ValueID { try converted(id, to: .bool) }

    /// A value as another scalar type.
    package mutating func converted(_ id: ValueID, to scalarType: ScalarType) throws(ModelError) -> ValueID {
        builder.type(of: id).scalarType == scalarType ? id : try add(Cast(to: scalarType), id)
    }

    /// Sets the values of the layer's outputs, in the layer's order.
    ///
    /// Every rule calls it once.
    ///
    /// Trailing values that the layer has no name for may be left out.
    package mutating func setOutputs(_ values: [ValueID]) throws(ModelError) {
        guard values.count >= layer.output.count else {
            throw ModelError(.invalidModel, "the layer names \(layer.output.count) outputs but has \(values.count)")
        }
        outputs = []
        for (value, name) in zip(values, layer.output) {
            let isFloat = builder.type(of: value).scalarType == .float32
            let output = isFloat ? value : try converted(value, to: .float32)
            if builder.graph[output].name.isEmpty { builder.name(output, name) }
            outputs.append(output)
        }
    }

    // MARK: Ranks

    /// The value with all axes but the last `count` merged into one in front: [d0, …, C, H, W] → [d0·…, C, H, W].
    ///
    /// A value that already has rank `count` + 1 is returned unchanged.
    package mutating func merged(_ id: ValueID, keeping count: Int) throws(ModelError) -> ValueID {
        let rank = rank(of: id)
        guard rank != count + 1 else { return id }
        guard rank >= count else {
            throw ModelError(.invalidModel, "the input has rank \(rank), the layer needs at least \(count)")
        }
        let lead: Regroup.Axis = rank == count ? .one : .merged(0..<(rank - count))
        return try add(Regroup([lead] + (rank - count..<rank).map { .axis($0) }), id)
    }

    /// Reverses `merged`: replaces axis 0 of `id` by the leading axes of `original`.
    package mutating func restored(_ id: ValueID, like original: ValueID, keeping count: Int) throws(ModelError)
        -> ValueID
    {
        let lead = rank(of: original) - count
        guard lead != 1 else { return id }
        let kept = (1..<rank(of: id)).map { Regroup.Axis.axis($0) }
        return try add(Regroup((0..<lead).map { .like($0) } + kept), id, original)
    }

    /// Input `index` as [Sequence, Batch, C, H, W] with either mapping; recurrent layers compute on this.
    package mutating func sequence(_ index: Int) throws(ModelError) -> ValueID {
        let id = try input(index)
        if usesRank5Mapping { return try builder.unfolded(id, batch: batches[index]) }
        switch rank(of: id) {
        case 5: return id
        case 3: return try add(Regroup([.axis(0), .axis(1), .axis(2), .one, .one]), id)
        default:
            throw ModelError(.invalidModel, "the layer needs [Sequence, Batch, C, 1, 1], not rank \(rank(of: id))")
        }
    }

    /// Reverses `sequence`: converts [Sequence, Batch, C, H, W] to the form of this layer's blobs, which is the form of
    /// `original`.
    package mutating func blob(fromSequence id: ValueID, like original: ValueID) throws(ModelError) -> ValueID {
        if usesRank5Mapping { return try add(Regroup.droppingBatch, id) }
        return rank(of: original) == 3 ? try add(Regroup([.axis(0), .axis(1), .merged(2..<5)]), id) : id
    }

    // MARK: Weights

    /// The values of a weight field as a constant named "<layer>.<name>"; see `weightTensor` for the forms.
    ///
    /// - Parameters:
    ///   - parameters: The weight field.
    ///   - shape: The extents in the order in which the file stores the values.
    ///   - name: The name of the field, for the constant and for errors.
    ///   - channelAxis: The axis of `shape` that per-channel scales of quantised weights belong to.
    /// - Returns: The constant.
    /// - Throws: `.invalidModel` when the field does not hold the values of `shape`.
    package mutating func weights(
        _ parameters: SpecWeightParams,
        shape: [Int],
        name: String,
        channelAxis: Int = 0
    ) throws(ModelError) -> ValueID {
        let tensor = try withErrorContext(name) { () throws(ModelError) in
            try weightTensor(parameters, shape: shape, channelAxis: channelAxis)
        }
        return builder.constant(tensor, name: layer.name + "." + name)
    }
}

extension GraphBuilder {
    /// Divides the first axis: [Sequence·Batch, C, H, W] → [Sequence, Batch, C, H, W].
    package mutating func unfolded(_ id: ValueID, batch: Int) throws(ModelError) -> ValueID {
        // A value with a single step, such as a constant, belongs to every item of the batch.
        guard batch > 1, shape(of: id).first != 1 else { return try add(Regroup.insertingBatch, id) }
        let shape = constant(Tensor([-1, Int32(clamping: batch), 0, 0, 0], shape: [5]))
        return try add(Reshape(), id, shape)
    }
}
