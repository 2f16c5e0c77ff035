import Glibc
package import MLGraph
import MLKernels
package import MLNumerics
import MLOperators

/// Softmax cross-entropy with target probabilities: l[n] = −Σ t[n, k] · log max(p[n, k], 10⁻³⁷), where p is the softmax
/// of x along k.
///
/// Operands: x [N, K], t [N, K], whose rows sum to 1. Result: [N]. The gradient with respect to x is (p − t) · dl, that
/// of the loss without the lower bound of p, so that it does not vanish for confident wrong predictions. The targets
/// have none.
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
            let maximum = x[range].max() ?? 0
            let total = range.reduce(0) { $0 + exp(x[$1] - maximum) }
            return -range.reduce(0) { sum, index in
                guard t[index] != 0 else { return sum }
                let probability = exp(x[index] - maximum) / total
                return sum + t[index] * log(max(probability, CrossEntropyKernel.minimumProbability))
            }
        }
        return [Tensor(values: losses, scalarType: operands.scalarType(), shape: [shape[0]])]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let shape = request.operand(0)?.logicalShape else { return [] }
        return [
            Kernel("cross-entropy") { context in
                CrossEntropyKernel.softmaxCrossEntropy(
                    context.floats(0),
                    targets: context.floats(1),
                    into: context.resultFloats(),
                    rows: shape[0],
                    length: shape[1]
                )
            }
        ]
    }

    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        if context.isNeeded(1) {
            throw ModelError(.unsupported, "'\(displayName)' has no gradient by the targets; make them data")
        }
        let x = try context.operand(0)
        let rows = try context.extents(x)[0]
        let p = try context.add(Softmax(axis: 1), x)
        let resultGradient = try context.reshaped(context.resultGradient(), to: [rows, 1])
        let dx = try context.product(context.difference(p, context.operand(1)), resultGradient)
        context.setGradient(ofOperand: 0, to: dx)
    }
}
