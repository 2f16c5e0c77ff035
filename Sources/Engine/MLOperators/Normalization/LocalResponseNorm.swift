#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Local response normalisation: y = x / (k + alpha / size · Σ x²) ^ beta, summed over the `size` channels around each
/// one; of an even number the extra one is in front.
///
/// Operand: x [N, C, …], or [C, H, W] of rank 3. Result: like x.
package struct LocalResponseNorm: Operator {
    package static let names: [MILName] = ["local_response_norm"]

    package var size: Int
    package var alpha: Double
    package var beta: Double
    package var k: Double

    package init(size: Int, alpha: Double = 1e-4, beta: Double = 0.75, k: Double = 1) {
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        size = try arguments.int("size")
        alpha = try arguments.float("alpha", default: 1e-4)
        beta = try arguments.float("beta", default: 0.75)
        k = try arguments.float("k", default: 1)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 2, size > 0 else {
            throw ModelError(
                .invalidModel,
                "local_response_norm needs x of rank 2 or more and size > 0, not \(x), \(size)"
            )
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let axis = channelAxis(rank: x.shape.count)
        let channels = x.shape[axis]
        let inner = x.shape.dropFirst(axis + 1).reduce(1, *)
        let values = x.values
        var result = values
        for index in values.indices {
            let channel = index / inner % channels
            var energy = 0.0
            for other in Swift.max(channel - size / 2, 0)...Swift.min(channel + (size - 1) / 2, channels - 1) {
                let value = values[index + (other - channel) * inner]
                energy += value * value
            }
            result[index] = values[index] / pow(k + alpha / Double(size) * energy, beta)
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: x.shape)]
    }

    func channelAxis(rank: Int) -> Int { rank == 3 ? 0 : 1 }
}

extension LocalResponseNorm: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("lrn", \.lrn) { parameters, context throws(ModelError) in
                let x = try context.input()
                let norm = LocalResponseNorm(
                    size: Int(clamping: parameters.localSize),
                    alpha: Double(parameters.alpha),
                    beta: Double(parameters.beta),
                    k: stated(parameters.k, or: 1)
                )
                let y = try context.add(norm, try context.merged(x, keeping: 3))
                try context.setOutputs([try context.restored(y, like: x, keeping: 3)])
            }
        ]
    }
}

extension LocalResponseNorm {
    package func layoutRole(_ operands: Operands) -> LayoutRole {
        (try? operands.rank(0)) == 3 ? .rowMajor : .agnostic
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair else { return [] }
        let axis = channelAxis(rank: x.logicalShape.count)
        let channels = x.logicalShape[axis]
        let step = x.layout == .channelsLast ? 1 : x.logicalShape.dropFirst(axis + 1).reduce(1, *)
        let slices = x.count / (channels * step)
        let (before, after) = (size / 2, (size - 1) / 2)
        let (factor, bias, exponent) = (Float(alpha / Double(size)), Float(k), Float(beta))
        return [
            Kernel("local response norm") { context in
                if step >= 16 {
                    NormalizationKernel.localResponseNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: slices,
                        channels: channels,
                        inner: step,
                        before: before,
                        after: after,
                        factor: factor,
                        bias: bias,
                        exponent: exponent
                    )
                    return
                }
                NormalizationKernel.runningLocalResponseNorm(
                    context.floats(0),
                    into: context.resultFloats(),
                    outer: slices,
                    channels: channels,
                    inner: step,
                    before: before,
                    after: after,
                    factor: factor,
                    bias: bias,
                    exponent: exponent
                )
            }
        ]
    }
}

extension LocalResponseNorm: DifferentiableOperator {
    /// With e = k + alpha / size · Σ x² around each channel: dx = dy / eᵝ − 2 alpha · beta / size · x · Σ dy · x /
    /// eᵝ⁺¹, where the last sum is over the channels whose windows contain this one.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let axis = channelAxis(rank: shape.count)
        let channels = shape[axis]
        // Row c has ones for the channels in the window of c.
        let sees = (0..<channels * channels).map { index in
            let (channel, other) = index.quotientAndRemainder(dividingBy: channels)
            return other >= channel - size / 2 && other <= channel + (size - 1) / 2 ? 1.0 : 0
        }
        let window = context.builder.constant(
            Tensor(values: sees, scalarType: context.scalarType(x), shape: [channels, channels])
        )
        let columns = [
            shape[..<axis].reduce(1, *), channels, shape[(axis + 1)...].reduce(1, *),
        ]
        let squares = try context.reshaped(context.product(x, x), to: columns)
        let energy = try context.reshaped(context.add(MatMul(), window, squares), to: shape)
        let share = try context.scaled(energy, by: alpha / Double(size))
        let base = try context.sum(share, context.scalar(k, like: x))
        let power = try context.add(Binary<Pow>(), base, context.scalar(-beta, like: x))
        let direct = try context.product(dy, power)
        let flow = try context.quotient(context.product(direct, x), base)
        let gathered = try context.add(MatMul(transposeX: true), window, context.reshaped(flow, to: columns))
        let indirect = try context.product(x, context.reshaped(gathered, to: shape))
        let scaled = try context.scaled(indirect, by: -2 * alpha * beta / Double(size))
        context.setGradient(ofOperand: 0, to: try context.sum(direct, scaled))
    }
}

extension LocalResponseNorm {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 3 ? try context.rows(self) : try context.shifted(self)
    }
}
