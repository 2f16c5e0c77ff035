import MLGraph
import MLNumerics
import MLSpecification

extension Linear {
    /// Embeddings: rows of a table by index, which is a dense layer on one-hot vectors.
    static var embeddingLayers: [LayerRule] {
        [
            LayerRule("embedding", \.embedding) { parameters, context throws(ModelError) in
                // [..., 1, 1, 1] → [..., C, 1, 1]
                let x = try context.input()
                let rank = context.rank(of: x)
                guard rank >= 3 else {
                    throw ModelError(.invalidModel, "the input has rank \(rank), the layer needs [..., 1, 1, 1]")
                }
                let lead = (0..<(rank - 3)).map { Regroup.Axis.axis($0) }
                let indices = try context.add(Regroup(lead + [.merged(rank - 3..<rank)]), x)
                let rows = try context.embedding(
                    of: indices,
                    table: parameters.weights,
                    bias: parameters.hasBias_p ? parameters.bias : nil,
                    vocabulary: Int(clamping: parameters.inputDim),
                    channels: Int(clamping: parameters.outputChannels)
                )
                let axes = (0..<(rank - 2)).map { Regroup.Axis.axis($0) }
                try context.setOutputs([try context.add(Regroup(axes + [.one, .one]), rows)])
            },
            LayerRule("embeddingND", \.embeddingNd) { parameters, context throws(ModelError) in
                let rows = try context.embedding(
                    of: try context.input(),
                    table: parameters.weights,
                    bias: parameters.hasBias_p ? parameters.bias : nil,
                    vocabulary: Int(clamping: parameters.vocabSize),
                    channels: Int(clamping: parameters.embeddingSize)
                )
                try context.setOutputs([rows])
            },
        ]
    }
}

extension LayerContext {
    /// Rows of a table: [..., 1] → [..., channels]. The file stores the table as [channels, vocabulary].
    fileprivate mutating func embedding(
        of indices: ValueID,
        table: SpecWeightParams,
        bias: SpecWeightParams?,
        vocabulary: Int,
        channels: Int
    ) throws(ModelError) -> ValueID {
        let rank = rank(of: indices)
        guard rank >= 1 else { throw ModelError(.invalidModel, "the input has no axis; the layer needs [..., 1]") }
        let tensor = try withErrorContext("weights") { () throws(ModelError) in
            try weightTensor(table, shape: [channels, vocabulary]).permuted([1, 0])
        }
        let rows = builder.constant(tensor, name: layer.name + ".weights")
        let flat = rank == 1 ? indices : try add(Squeeze(axes: [-1]), indices)
        var y = try add(Gather(axis: 0), rows, try integers(flat))
        if let bias {
            y = try add(Binary<Add>(), y, try weights(bias, shape: [channels], name: "bias"))
        }
        return y
    }
}
