package import MLGraph
package import MLNumerics

/// Division by the Euclidean length: y = x / √(Σ x² + epsilon), summed over the last three axes.
///
/// Operand: x of rank 3 or more.  Result: like x.
package struct L2Norm: Operator {
    package static let names: [MILName] = ["l2_norm"]

    package var epsilon: Double

    package init(epsilon: Double = 1e-6) { self.epsilon = epsilon }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        epsilon = try arguments.float("epsilon", default: 1e-6)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 3 else { throw ModelError(.invalidModel, "l2_norm needs x of rank 3 or more, not \(x)") }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let inner = x.shape.suffix(3).reduce(1, *)
        var values = x.values
        for slice in 0..<(inner == 0 ? 0 : values.count / inner) {
            let range = slice * inner..<(slice + 1) * inner
            let length = (values[range].reduce(0) { $0 + $1 * $1 } + epsilon).squareRoot()
            for index in range { values[index] /= length }
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: x.shape)]
    }
}
