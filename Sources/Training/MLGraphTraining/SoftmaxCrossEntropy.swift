import Glibc
package import MLGraph
package import MLNumerics
import MLOperators

/// Softmax cross-entropy with target probabilities: l[n] = −Σ t[n, k] · log max(p[n, k], 10⁻³⁷), where p is the softmax
/// of x along k.
///
/// Operands: x [N, K], t [N, K], whose rows sum to 1. Result: [N]. The gradient with respect to x is (p − t) · dl.
package struct SoftmaxCrossEntropy: DifferentiableOperator {
    package init() {}

    package var displayName: String { "softmax_cross_entropy" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank == 2, try operands.shape(1) == x.shape else {
            throw ModelError(.invalidModel, "\(displayName) needs two matrices of one shape, not \(x.shape)")
        }
        return [x.with([x.shape[0]])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = operands[0].shape
        let x = operands[0].values
        let t = operands[1].values
        let losses = (0..<shape[0]).map { row in
            let range = row * shape[1]..<(row + 1) * shape[1]
            let greatest = x[range].max() ?? 0
            let total = range.reduce(0) { $0 + exp(x[$1] - greatest) }
            return -range.reduce(0) { $0 + (t[$1] == 0 ? 0 : t[$1] * log(max(exp(x[$1] - greatest) / total, 1e-37))) }
        }
        return [Tensor(values: losses, scalarType: operands.scalarType(), shape: [shape[0]])]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let shape = request.operand(0)?.logicalShape else { return [] }
        return [
            Kernel("cross-entropy") { context in
                let (x, t) = (context.floats(0), context.floats(1))
                let losses = context.resultFloats()
                for row in 0..<shape[0] {
                    let range = row * shape[1]..<(row + 1) * shape[1]
                    var greatest = -Float.infinity
                    for place in range { greatest = max(greatest, x[place]) }
                    var total = 0.0
                    for place in range { total += exp(Double(x[place] - greatest)) }
                    var loss = 0.0
                    for place in range where t[place] != 0 {
                        loss -= Double(t[place]) * log(max(exp(Double(x[place] - greatest)) / total, 1e-37))
                    }
                    losses[row] = Float(loss)
                }
            }
        ]
    }

    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand(0)
        let rows = try context.extents(x)[0]
        let p = try context.add(Softmax(axis: 1), x)
        let flow = try context.reshaped(context.resultGradient(), to: [rows, 1])
        let dx = try context.product(context.difference(p, context.operand(1)), flow)
        context.setGradient(ofOperand: 0, to: dx)
        if context.isNeeded(1) {
            throw ModelError(.unsupported, "'\(displayName)' has no gradient by the targets; make them data")
        }
    }
}

extension GraphBuilder {
    /// The mean cross-entropy of the rows of `logits` [N, K], whose softmax is the prediction, with `targets` [N, K].
    package mutating func crossEntropy(_ logits: ValueID, _ targets: ValueID) throws(ModelError) -> ValueID {
        let losses = try add(SoftmaxCrossEntropy(), logits, targets)
        return try add(Reduction<MeanOfElements>(axes: nil, keepsDimensions: false), losses)
    }

    /// The mean squared error over all elements of two tensors of the same shape.
    package mutating func meanSquaredError(_ prediction: ValueID, _ targets: ValueID) throws(ModelError) -> ValueID {
        let squares = try add(Unary(Square()), add(Binary<Sub>(), prediction, targets))
        return try add(Reduction<MeanOfElements>(axes: nil, keepsDimensions: false), squares)
    }
}
