package import MLGraph
package import MLNumerics

extension BatchNorm {
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

extension InstanceNorm {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        try context.setStandardizedGradients(
            axes: Array(2..<shape.count),
            parameterAxes: [1],
            epsilon: epsilon
        )
    }
}

extension LayerNorm {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let axes = try normalizedAxes(rank: context.extents(context.operand()).count)
        try context.setStandardizedGradients(axes: axes, parameterAxes: axes, epsilon: epsilon)
    }
}

extension L2Norm {
    /// dx = (dy − y · Σ dy · y) / length
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

extension GradientContext {
    /// Gradients of x (operand 0), gamma (1) and beta (2) of y = (x − E[x]) / √(Var[x] + epsilon) · gamma + beta, with
    /// statistics over `axes` and one gamma and beta for each index of `parameterAxes`:
    /// with s the standardised x and g = dy · gamma, dx = (g − E[g] − s · E[g · s]) / √(Var[x] + epsilon).
    fileprivate mutating func setStandardizedGradients(
        axes: [Int],
        parameterAxes: [Int],
        epsilon: Double
    ) throws(ModelError) {
        let x = try operand()
        let dy = try resultGradient()
        let shape = try extents(x)
        let others = shape.indices.filter { !parameterAxes.contains($0) }
        let centred = try difference(x, mean(x, axes: axes, keepsDimensions: true))
        let variance = try mean(product(centred, centred), axes: axes, keepsDimensions: true)
        let scale = try add(Unary(Rsqrt(epsilon: epsilon)), variance)
        let standard = try product(centred, scale)
        if isNeeded(0) {
            var flow = dy
            if has(1) {
                let spread = shape.indices.map { parameterAxes.contains($0) ? shape[$0] : 1 }
                flow = try product(dy, reshaped(operand(1), to: spread))
            }
            let level = try mean(flow, axes: axes, keepsDimensions: true)
            let slope = try mean(product(flow, standard), axes: axes, keepsDimensions: true)
            let rest = try difference(difference(flow, level), product(standard, slope))
            setGradient(ofOperand: 0, to: try product(rest, scale))
        }
        if isNeeded(1) {
            setGradient(
                ofOperand: 1,
                to: try summed(product(dy, standard), axes: others, keepsDimensions: false)
            )
        }
        if isNeeded(2) { setGradient(ofOperand: 2, to: try summed(dy, axes: others, keepsDimensions: false)) }
    }
}

extension LocalResponseNorm {
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
