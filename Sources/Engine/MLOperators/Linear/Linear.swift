package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// A dense layer: y[…, n] = f(bias[n] + Σ x[…, k] · weight[n, k] + residual[…, n]).
///
/// Operands: x […, K], weight [N, K], bias [N]?, residual of the result's shape?. Result: […, N] of x's scalar type.
/// With `transposesWeight` the weight is [K, N], as in `matmul`.
package struct Linear: Operator {
    package static let names: [MILName] = ["linear"]

    /// Applied to the sum, including the residual.
    package var activation: Activation

    /// Whether the weight is [K, N].
    package var transposesWeight: Bool

    package init(activation: Activation = .none, transposesWeight: Bool = false) {
        self.activation = activation
        self.transposesWeight = transposesWeight
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("weight")
        arguments.optionalOperand("bias")
        activation = .none
        transposesWeight = false
    }

    /// The axes of the weight for the results and for the terms of their sums.
    var weightAxes: (columns: Int, terms: Int) { transposesWeight ? (1, 0) : (0, 1) }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let weight = try operands.type(1)
        guard let depth = x.shape.last, weight.rank == 2 else {
            throw ModelError(
                .invalidModel,
                "linear needs x of rank 1 or more and a weight of rank 2, not \(x), \(weight)"
            )
        }
        let axes = weightAxes
        if let depth = depth.count, let terms = weight.shape[axes.terms].count, depth != terms {
            throw ModelError(
                .invalidModel,
                "the last axis of x has \(depth) elements, the weight of shape \(weight.shape) needs \(terms)"
            )
        }
        try checkVector(operands, 2, weight.shape[axes.columns], "bias")
        let shape = x.shape.dropLast() + [weight.shape[axes.columns]]
        if operands.has(3) { _ = try broadcast(operands.shape(3), Array(shape)) }
        return [x.with(Array(shape))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let depth = operands[1].shape[weightAxes.terms]
        let columns = operands[1].shape[weightAxes.columns]
        let strides = transposesWeight ? (column: 1, term: columns) : (column: depth, term: 1)
        let rows = depth == 0 ? operands.shape().dropLast().reduce(1, *) : x.count / depth
        let input = x.values
        let weight = operands[1].values
        let bias = operands.optional(2)?.values
        let residual = operands.optional(3)?.values
        var result = [Double](repeating: 0, count: rows * columns)
        for row in 0..<rows {
            for column in 0..<columns {
                var sum = bias?[column] ?? 0
                for k in 0..<depth {
                    sum += input[row * depth + k] * weight[column * strides.column + k * strides.term]
                }
                let position = row * columns + column
                result[position] = activation.apply(sum + (residual?[position] ?? 0))
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}

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
                var y = try context.dense(rows, weight, bias, roundsInput: parameters.int8DynamicQuantize)
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
                let y = try context.dense(x, weight, bias, roundsInput: parameters.int8DynamicQuantize)
                try context.setOutputs([y])
            },
        ] + embeddingLayers
    }
}

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
    /// x · weightᵀ + bias, where x is rounded to 8 bits first if the layer asks for it.
    fileprivate mutating func dense(
        _ x: ValueID,
        _ weight: ValueID,
        _ bias: ValueID?,
        roundsInput: Bool
    ) throws(ModelError) -> ValueID {
        guard roundsInput else { return try add(Linear(), x, weight, bias) }
        let y = try add(DynamicLinear(), x, weight)
        return try bias.map { (bias) throws(ModelError) in try add(Binary<Add>(), y, bias) } ?? y
    }

    /// Rows of a table: [..., 1] → [..., channels].
    ///
    /// The file stores the table as [channels, vocabulary].
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
            try weightTensor(table, shape: [channels, vocabulary], isTransposed: true)
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

extension Linear {
    package var halfPrecisionOperands: [Int] { [1] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let weight = request.operand(1),
            let bias = FloatSource(request, 2), let result = request.results.first, x.count > 0, result.count > 0,
            x.layout == .rowMajor, result.layout == .rowMajor
        else { return [] }
        if let residual = request.operand(3) {
            guard residual.scalarType == .float32, residual.logicalShape == result.logicalShape else { return [] }
        }
        let terms = weight.logicalShape[weightAxes.terms]
        let columns = weight.logicalShape[weightAxes.columns]
        let strides = transposesWeight ? (term: columns, column: 1) : (term: 1, column: terms)
        let layout: PackedWeights.Layout = transposesWeight ? .termsByColumns : .columnsByTerms
        let rows = x.count / terms
        let function = activation.kernelFunction
        guard let constant = weight.constant else {
            guard weight.scalarType == .float32 else { return [] }
            return [
                Kernel("gemm, packing") { context in
                    MatMulKernel.multiply(
                        context.floats(0),
                        MatMulKernel.RightHandSide(
                            address: context.floats(1),
                            termStride: strides.term,
                            columnStride: strides.column
                        ),
                        into: context.resultFloats(),
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        epilogue: Epilogue(
                            bias: bias.pointer(context),
                            residual: context.optionalFloats(3),
                            function: function
                        )
                    )
                }
            ]
        }
        guard constant.isPackable else { return [] }
        let compressed = compressedKernel(constant, rows: rows, layout: layout, bias)
        return (compressed.map { [$0] } ?? []) + [
            Kernel("gemm \(constant.scalarType.milName)", packedOperands: [1]) {
                guard let weights = packedMatrix(constant, terms: terms, columns: columns, layout: layout) else {
                    return nil
                }
                return { context in
                    MatMulKernel.multiply(
                        context.floats(0),
                        rows: rows,
                        by: weights,
                        into: context.resultFloats(),
                        epilogue: Epilogue(
                            bias: bias.pointer(context),
                            residual: context.optionalFloats(3),
                            function: function
                        )
                    )
                }
            }
        ]
    }
}

extension Linear {
    /// The product with a weight that stays compressed; `nil` for other weights.
    private func compressedKernel(
        _ weight: Tensor,
        rows: Int,
        layout: PackedWeights.Layout,
        _ bias: FloatSource
    ) -> Kernel? {
        guard let matrix = CompressedMatrix(weight), matrix.taps == 1,
            let form = matrix.form(layout: layout, rows: rows)
        else { return nil }
        let function = activation.kernelFunction
        return Kernel("gemm \(matrix.name)", packedOperands: [1]) {
            guard let weights = matrix.packed(weight, form, layout: layout) else { return nil }
            return { context in
                MatMulKernel.multiply(
                    context.floats(0),
                    rows: rows,
                    by: weights,
                    into: context.resultFloats(),
                    epilogue: Epilogue(
                        bias: bias.pointer(context),
                        residual: context.optionalFloats(3),
                        function: function
                    )
                )
            }
        }
    }
}

extension Linear: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard activation == .none else { throw notDifferentiable("once a function is fused with it") }
        let x = try context.operand(0)
        let weight = try context.operand(1)
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let extents = try context.extents(weight)
        let (columns, depth) = (extents[weightAxes.columns], extents[weightAxes.terms])
        let rows = depth == 0 ? 0 : shape.elementCount / depth
        let flat = try context.reshaped(dy, to: [rows, columns])
        if context.isNeeded(0) {
            let dx = try context.add(MatMul(transposeY: transposesWeight), flat, weight)
            context.setGradient(ofOperand: 0, to: try context.reshaped(dx, to: shape))
        }
        if context.isNeeded(1) {
            let matrix = try context.reshaped(x, to: [rows, depth])
            let factors = transposesWeight ? (matrix, flat) : (flat, matrix)
            context.setGradient(
                ofOperand: 1,
                to: try context.add(MatMul(transposeX: true), factors.0, factors.1)
            )
        }
        if context.isNeeded(2) {
            context.setGradient(ofOperand: 2, to: try context.summed(flat, axes: [0], keepsDimensions: false))
        }
        if context.isNeeded(3) { try context.setBroadcastGradient(ofOperand: 3, to: dy) }
    }
}

extension Linear {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        // The weight belongs to all examples, and a vector becomes one row of a matrix.
        if context.rank() == 1 { return try context.shifted(self, along: context.has(3) ? [0, 3] : [0]) }
        guard context.has(3), context.rank(3) < context.rank() else {
            return try context.rows(self, along: [0, 3])
        }
        return try context.rows(self)
    }
}
