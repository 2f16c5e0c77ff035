package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Normalisation by stored statistics: y = (x − mean) / √(variance + epsilon) · gamma + beta, one value for each
/// index of axis 1.
///
/// Operands: x [N, C, …], mean [C], variance [C], gamma [C]?, beta [C]?.  Result: like x.
package struct BatchNorm: Operator {
    package static let names: [MILName] = ["batch_norm"]

    package var epsilon: Double

    package init(epsilon: Double = 1e-5) { self.epsilon = epsilon }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("mean")
        try arguments.operand("variance")
        arguments.optionalOperand("gamma")
        arguments.optionalOperand("beta")
        epsilon = try arguments.float("epsilon", default: 1e-5)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 2 else { throw ModelError(.invalidModel, "batch_norm needs x of rank 2 or more, not \(x)") }
        for (index, name) in ["x", "mean", "variance", "gamma", "beta"].enumerated().dropFirst() {
            try checkVector(operands, index, x.shape[1], name)
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let affine = Self.scaleAndOffset(
            mean: operands[1],
            variance: operands[2],
            gamma: operands.optional(3),
            beta: operands.optional(4),
            epsilon: epsilon
        )
        let inner = x.shape.dropFirst(2).reduce(1, *)
        var values = x.values
        for index in values.indices {
            let channel = index / inner % x.shape[1]
            values[index] = values[index] * affine.scale[channel] + affine.offset[channel]
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: x.shape)]
    }

    /// The linear function x · scale + offset of each channel.
    package static func scaleAndOffset(
        mean: Tensor,
        variance: Tensor,
        gamma: Tensor?,
        beta: Tensor?,
        epsilon: Double
    ) -> (scale: [Double], offset: [Double]) {
        let gammas = gamma?.values
        let betas = beta?.values
        var scale = variance.values
        var offset = mean.values
        for channel in scale.indices {
            scale[channel] = (gammas?[channel] ?? 1) / (scale[channel] + epsilon).squareRoot()
            offset[channel] = (betas?[channel] ?? 0) - offset[channel] * scale[channel]
        }
        return (scale, offset)
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

extension BatchNorm: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("batchnorm", \.batchnorm) { parameters, context throws(ModelError) in
                let x = try context.input()
                let images = try context.merged(x, keeping: 3)
                let channels = [Int(clamping: parameters.channels)]
                func vector(_ values: SpecWeightParams, _ name: String) throws(ModelError) -> ValueID? {
                    values.isEmpty ? nil : try context.weights(values, shape: channels, name: name)
                }
                let gamma = try vector(parameters.gamma, "gamma")
                let beta = try vector(parameters.beta, "beta")
                let epsilon = stated(parameters.epsilon, or: 1e-5)
                let y: ValueID
                if parameters.computeMeanVar, parameters.instanceNormalization {
                    y = try context.add(InstanceNorm(epsilon: epsilon), images, gamma, beta)
                } else if parameters.computeMeanVar {
                    y = try context.normalizedByBatch(images, gamma, beta, epsilon: epsilon)
                } else {
                    guard let mean = try vector(parameters.mean, "mean"),
                        let variance = try vector(parameters.variance, "variance")
                    else { throw ModelError(.invalidModel, "the layer stores no mean and variance") }
                    y = try context.add(BatchNorm(epsilon: epsilon), images, mean, variance, gamma, beta)
                }
                try context.setOutputs([try context.restored(y, like: x, keeping: 3)])
            }
        ]
    }
}

extension LayerContext {
    /// [B, C, H, W] normalised by the statistics of each channel over the whole batch, then scaled.
    fileprivate mutating func normalizedByBatch(
        _ x: ValueID,
        _ gamma: ValueID?,
        _ beta: ValueID?,
        epsilon: Double
    ) throws(ModelError) -> ValueID {
        let mean = Reduction<MeanOfElements>(axes: [0, 2, 3], keepsDimensions: true)
        let centred = try add(Binary<Sub>(), x, add(mean, x))
        let variance = try add(mean, add(Unary(Square()), centred))
        var result = try add(Binary<Mul>(), centred, add(Unary(Rsqrt(epsilon: epsilon)), variance))
        let channels: [Regroup.Axis] = [.axis(0), .one, .one]
        if let gamma { result = try add(Binary<Mul>(), result, add(Regroup(channels), gamma)) }
        if let beta { result = try add(Binary<Add>(), result, add(Regroup(channels), beta)) }
        return result
    }
}

extension BatchNorm {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let mean = request.operand(1)?.constant,
            let variance = request.operand(2)?.constant,
            [3, 4].allSatisfy({ request.operand($0) == nil || request.operand($0)?.constant != nil })
        else { return [] }
        let channels = x.logicalShape[1]
        let inner = x.layout == .channelsLast ? 1 : x.logicalShape.dropFirst(2).reduce(1, *)
        return [
            Kernel("scale and shift", inPlaceOperands: [0]) {
                let affine = Self.scaleAndOffset(
                    mean: mean,
                    variance: variance,
                    gamma: request.operand(3)?.constant,
                    beta: request.operand(4)?.constant,
                    epsilon: epsilon
                )
                let scale = Tensor(values: affine.scale, scalarType: .float32, shape: [channels])
                let offset = Tensor(values: affine.offset, scalarType: .float32, shape: [channels])
                return { context in
                    ElementwiseKernel.scaleShift(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: x.count / (channels * inner),
                        channels: channels,
                        inner: inner,
                        scale: scale.floats,
                        shift: offset.floats
                    )
                }
            }
        ]
    }
}

extension BatchNorm: DifferentiableOperator {
    /// The statistics are stored, so that the operation is linear: x · scale + offset.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand(0)
        let (mean, variance) = (try context.operand(1), try context.operand(2))
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let zeros = try context.difference(mean, mean)
        let gamma = context.has(3) ? try context.operand(3) : nil
        if context.isNeeded(0) {
            let dx = try context.add(self, dy, zeros, variance, gamma, nil)
            context.setGradient(ofOperand: 0, to: dx)
        }
        guard (1...4).contains(where: context.isNeeded) else { return }
        let axes = shape.indices.filter { $0 != 1 }
        let total = try context.summed(dy, axes: axes, keepsDimensions: false)
        if context.isNeeded(4) { context.setGradient(ofOperand: 4, to: total) }
        let scale = try context.add(Unary(Rsqrt(epsilon: epsilon)), variance)
        if context.isNeeded(1) {
            let slope = try gamma.map { gamma throws(ModelError) in try context.product(scale, gamma) } ?? scale
            context.setGradient(ofOperand: 1, to: try context.negated(context.product(total, slope)))
        }
        guard context.isNeeded(2) || context.isNeeded(3) else { return }
        let standard = try context.add(self, x, mean, variance, nil, nil)
        let each = try context.summed(context.product(dy, standard), axes: axes, keepsDimensions: false)
        if context.isNeeded(3) { context.setGradient(ofOperand: 3, to: each) }
        if context.isNeeded(2) {
            let slope = try gamma.map { gamma throws(ModelError) in try context.product(each, gamma) } ?? each
            let scaled = try context.scaled(context.product(scale, scale), by: -0.5)
            context.setGradient(ofOperand: 2, to: try context.product(slope, scaled))
        }
    }
}

extension BatchNorm {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self)
    }
}
