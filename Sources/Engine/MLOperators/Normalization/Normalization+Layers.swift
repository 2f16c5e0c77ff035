import MLGraph
import MLNumerics
import MLSpecification

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

extension LayerNorm: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("layerNormalization", \.layerNormalization) { parameters, context throws(ModelError) in
                let shape = try extents(integers(parameters.normalizedShape))
                guard !shape.isEmpty else {
                    throw ModelError(.invalidModel, "the layer states no normalised shape; give the last extents")
                }
                func scale(_ values: SpecWeightParams, _ name: String) throws(ModelError) -> ValueID? {
                    values.isEmpty ? nil : try context.weights(values, shape: shape, name: name)
                }
                let gamma = try scale(parameters.gamma, "gamma")
                let beta = try scale(parameters.beta, "beta")
                let norm = LayerNorm(axes: Array(-shape.count..<0), epsilon: Double(parameters.eps))
                try context.setOutputs([try context.add(norm, context.input(), gamma, beta)])
            },
            LayerRule("mvn", \.mvn) { parameters, context throws(ModelError) in
                let x = try context.input()
                let axes = parameters.acrossChannels ? [-3, -2, -1] : [-2, -1]
                guard parameters.normalizeVariance else {
                    let mean = try context.add(Reduction<MeanOfElements>(axes: axes, keepsDimensions: true), x)
                    try context.setOutputs([try context.add(Binary<Sub>(), x, mean)])
                    return
                }
                let norm = LayerNorm(axes: axes, epsilon: stated(parameters.epsilon, or: 1e-6))
                try context.setOutputs([try context.add(norm, x, nil, nil)])
            },
        ]
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
