package import MLGraph
package import MLNumerics

extension Convolution {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard activation == .none else { throw notDifferentiable("once a function is fused with it") }
        let (x, weight) = (try context.operand(0), try context.operand(1))
        let dy = try context.resultGradient()
        let (source, taps) = (try context.extents(x), try context.extents(weight))
        let window = geometry(source, taps, try context.extents(context.results[0]))
        if context.isNeeded(0) {
            let adjoint = ConvolutionTransposed(
                strides: strides,
                padding: .custom(before: window.before, after: window.before.map { _ in 0 }),
                dilations: dilations,
                groups: groups,
                outputExtents: window.input
            )
            context.setGradient(ofOperand: 0, to: try context.add(adjoint, dy, weight))
        }
        if context.isNeeded(1) {
            let gradient = ConvolutionWeightGradient(window, groups: groups)
            context.setGradient(ofOperand: 1, to: try context.add(gradient, x, dy))
        }
        try context.setChannelSums()
    }
}

extension ConvolutionTransposed {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard activation == .none else { throw notDifferentiable("once a function is fused with it") }
        let (x, weight) = (try context.operand(0), try context.operand(1))
        let dy = try context.resultGradient()
        let (source, taps) = (try context.extents(x), try context.extents(weight))
        let window = geometry(source, taps, try context.extents(context.results[0]))
        if context.isNeeded(0) {
            // The convolution whose adjoint this is; elements of its result beyond x are cut off.
            let after = window.input.indices.map { axis in
                let span = (window.output[axis] - 1) * strides[axis] + (window.kernel[axis] - 1) * dilations[axis] + 1
                return Swift.max(span - window.input[axis] - window.before[axis], 0)
            }
            let convolution = Convolution(
                strides: strides,
                padding: .custom(before: window.before, after: after),
                dilations: dilations,
                groups: groups
            )
            var dx = try context.add(convolution, dy, weight)
            if try context.extents(dx) != source {
                let origin = context.integers(source.map { _ in 0 })
                dx = try context.add(SliceBySize(), dx, origin, context.integers(source))
            }
            context.setGradient(ofOperand: 0, to: dx)
        }
        if context.isNeeded(1) {
            // The roles of input and output are exchanged.
            let gradient = ConvolutionWeightGradient(window, groups: groups)
            context.setGradient(ofOperand: 1, to: try context.add(gradient, dy, x))
        }
        try context.setChannelSums()
    }
}

extension GradientContext {
    /// Sets the gradients of bias (operand 2) and residual (operand 3) of a convolution.
    fileprivate mutating func setChannelSums() throws(ModelError) {
        let dy = try resultGradient()
        if isNeeded(2) {
            let axes = try extents(dy).indices.filter { $0 != 1 }
            setGradient(ofOperand: 2, to: try summed(dy, axes: axes, keepsDimensions: false))
        }
        if isNeeded(3) { try setBroadcastGradient(ofOperand: 3, to: dy) }
    }
}
