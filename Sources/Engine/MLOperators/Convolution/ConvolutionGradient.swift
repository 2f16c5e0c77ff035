package import MLGraph
package import MLNumerics

extension Convolution: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard activation == .none else { throw notDifferentiable("once a function is fused with it") }
        let (x, weight) = (try context.operand(0), try context.operand(1))
        let dy = try context.resultGradient()
        let (source, taps) = (try context.extents(x), try context.extents(weight))
        let result = try context.extents(context.results[0])
        let window = geometry(source, taps, result)
        if context.isNeeded(0) {
            let gradient: ValueID
            let axes = Array(2..<source.count)
            let isDepthwise = source[1] == groups && taps[0] == groups
            if let adjoint = adjointByReversal(window),
                isDepthwise || adjoint.isTransformedAtRunTime(result, taps, source)
            {
                var reversed = try context.add(Reverse(axes: axes), weight)
                if groups == 1 {
                    reversed = try context.add(Transpose([1, 0] + axes), reversed)
                }
                gradient = try context.add(adjoint, dy, reversed)
            } else {
                let adjoint = ConvolutionTransposed(
                    strides: strides,
                    padding: .custom(before: window.before, after: window.before.map { _ in 0 }),
                    dilations: dilations,
                    groups: groups,
                    outputExtents: window.input
                )
                gradient = try context.add(adjoint, dy, weight)
            }
            context.setGradient(ofOperand: 0, to: gradient)
        }
        if context.isNeeded(1) {
            let gradient = ConvolutionWeightGradient(window, groups: groups)
            context.setGradient(ofOperand: 1, to: try context.add(gradient, x, dy))
        }
        try context.setChannelSums()
    }

    /// The convolution with reversed windows that takes the results' gradient to that of x, where windows move by single
    /// steps and cover the results from outside; `nil` for others.
    ///
    /// With one channel in each group there are faster kernels for it than for the transposed convolution, and in one
    /// group a faster method for many positions. In one group its weights have the axes of channels exchanged.
    private func adjointByReversal(_ window: WindowGeometry) -> Convolution? {
        guard strides.allSatisfy({ $0 == 1 }) else { return nil }
        var (before, after): ([Int], [Int]) = ([], [])
        for axis in dilations.indices {
            let reach = (window.kernel[axis] - 1) * dilations[axis]
            before.append(reach - window.before[axis])
            after.append(window.input[axis] + reach - window.output[axis] - before[axis])
        }
        guard (before + after).allSatisfy({ $0 >= 0 }) else { return nil }
        return Convolution(
            strides: strides,
            padding: .custom(before: before, after: after),
            dilations: dilations,
            groups: groups
        )
    }

    /// Whether this convolution takes the gradient of a result, of shape `dy`, to that of the operand, of shape `x`, by a
    /// faster method than the transposed convolution; `weight` is the shape before the axes of channels are exchanged.
    private func isTransformedAtRunTime(_ dy: [Int], _ weight: [Int], _ x: [Int]) -> Bool {
        groups == 1 && binding(dy, [weight[1], weight[0]] + weight[2...], x).isTransformedAtRunTime
    }
}
