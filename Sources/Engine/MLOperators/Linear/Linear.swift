package import MLGraph
package import MLNumerics

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
                let place = row * columns + column
                result[place] = activation.apply(sum + (residual?[place] ?? 0))
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}
