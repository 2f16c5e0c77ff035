package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Division by the Euclidean length: y = x / √(Σ x² + epsilon), summed over the last three axes.
///
/// Operand: x of rank 3 or more. Result: like x.
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

extension L2Norm: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("l2normalize", \.l2Normalize) { parameters, context throws(ModelError) in
                let norm = L2Norm(epsilon: stated(parameters.epsilon, or: 1e-6))
                try context.setOutputs([try context.add(norm, context.input())])
            }
        ]
    }
}

extension L2Norm {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, x.layout == .rowMajor else { return [] }
        let length = x.logicalShape.suffix(3).reduce(1, *)
        let n = Double(length)
        if x.count / length < 8, length > 1 << 14 {
            let rows = x.count / length
            let scale = BinaryKernel(.multiply, [length], [1])
            let epsilon = Float(epsilon)
            return [
                Kernel("length norm of long rows", inPlaceOperands: [0]) { context in
                    for row in 0..<rows {
                        let (x, y) = (context.floats(0) + row * length, context.resultFloats() + row * length)
                        var factor: Float = 0
                        ReductionKernel.reduce(.sumOfSquares, x, into: &factor, outer: 1, axis: length, inner: 1)
                        factor = 1 / (factor + epsilon).squareRoot()
                        scale.run(x, &factor, y)
                    }
                }
            ]
        }
        // x / √(Σ x² + ε) is x / √(mean x² + ε / n) · 1 / √n.
        let gamma = Tensor(
            values: [Double](repeating: 1 / n.squareRoot(), count: length),
            scalarType: .float32,
            shape: [length]
        )
        return [
            Kernel("length norm", inPlaceOperands: [0]) { context in
                NormalizationKernel.rootMeanSquareNorm(
                    context.floats(0),
                    into: context.resultFloats(),
                    rows: x.count / length,
                    length: length,
                    epsilon: Float(epsilon / n),
                    gamma: gamma.floats
                )
            }
        ]
    }
}

extension L2Norm: DifferentiableOperator {
    /// The gradient is dx = (dy − y · Σ dy · y) / length.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let y = context.results[0]
        let dy = try context.resultGradient()
        let axes = [-3, -2, -1]
        let squares = try context.add(Reduction<SumOfSquares>(axes: axes, keepsDimensions: true), x)
        let scale = try context.add(Unary(Rsqrt(epsilon: epsilon)), squares)
        let along = try context.summed(context.product(dy, y), axes: axes, keepsDimensions: true)
        let across = try context.difference(dy, context.product(y, along))
        context.setGradient(ofOperand: 0, to: try context.product(across, scale))
    }
}

extension L2Norm {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 3 ? try context.rows(self) : try context.shifted(self)
    }
}
