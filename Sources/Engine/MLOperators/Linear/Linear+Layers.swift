import MLGraph
import MLNumerics
import MLSpecification

extension Linear: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("innerProduct", \.innerProduct) { parameters, context throws(ModelError) in
                let x = try context.input()
                let rank = context.rank(of: x)
                let inputs = Int(clamping: parameters.inputChannels)
                let outputs = Int(clamping: parameters.outputChannels)
                let shape = context.shape(of: x)
                // From rank 4 on the channels are spread over the last three axes; there are also files with the
                // channels on the last axis of four.
                let product = Array(shape.suffix(3)).elementCount.count
                let channelsFirst =
                    rank >= 4
                    && (context.usesRank5Mapping || product == inputs
                        || product == nil && shape[rank - 1].count != inputs)
                var rows = x
                if channelsFirst {
                    let lead = (0..<(rank - 3)).map { Regroup.Axis.axis($0) }
                    rows = try context.add(Regroup(lead + [.merged(rank - 3..<rank)]), x)
                }
                let weight = try context.weights(parameters.weights, shape: [outputs, inputs], name: "weights")
                let bias =
                    parameters.hasBias_p
                    ? try context.weights(parameters.bias, shape: [outputs], name: "bias") : nil
                var y = try context.add(Linear(), rows, weight, bias)
                if channelsFirst {
                    let axes = (0..<(rank - 2)).map { Regroup.Axis.axis($0) }
                    y = try context.add(Regroup(axes + [.one, .one]), y)
                }
                try context.setOutputs([y])
            },
            LayerRule("batchedMatmul", \.batchedMatmul) { parameters, context throws(ModelError) in
                let x = try context.input()
                guard context.inputs.count == 1 else {
                    // Vectors become a row on the left and a column on the right, and the result keeps both axes.
                    let y = try context.input(1)
                    let left = context.rank(of: x) == 1 ? try context.add(ExpandDims(axes: [0]), x) : x
                    let right = context.rank(of: y) == 1 ? try context.add(ExpandDims(axes: [1]), y) : y
                    let product = MatMul(transposeX: parameters.transposeA, transposeY: parameters.transposeB)
                    try context.setOutputs([try context.add(product, left, right)])
                    return
                }
                let inputs = Int(clamping: parameters.weightMatrixFirstDimension)
                let outputs = Int(clamping: parameters.weightMatrixSecondDimension)
                // The file stores the matrix column by column.
                let weight = try context.weights(parameters.weights, shape: [outputs, inputs], name: "weights")
                let bias =
                    parameters.hasBias_p
                    ? try context.weights(parameters.bias, shape: [outputs], name: "bias") : nil
                try context.setOutputs([try context.add(Linear(), x, weight, bias)])
            },
        ] + embeddingLayers
    }
}
