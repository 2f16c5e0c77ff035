package import MLGraph
package import MLNumerics

/// The adjoint of a convolution, which spreads every input element over a window of the output:
/// y[n, o, q] = f(bias[o] + Σ x[n, i, p] · weight[i, o, t] + residual[n, o, q]) over p · stride + t · dilation − pad =
/// q, where o and i run inside one group.
///
/// Operands: x [N, C, spatial…] of rank 3 to 5, weight [C, O / groups, kernel…], bias [O]?, residual of the result's
/// shape?.  Result: [N, O, (spatial − 1) · stride + window − padding …], or `outputExtents`, of x's scalar type.
package struct ConvolutionTransposed: Operator {
    package static let names: [MILName] = ["conv_transpose"]

    package var strides: [Int]
    /// The amount that is cut off the full output; `same` gives spatial · stride.
    package var padding: WindowPadding
    package var dilations: [Int]
    package var groups: Int
    /// The explicit spatial extents of the result.
    package var outputExtents: [Int]?
    /// Applied to the sum, including the residual.
    package var activation: Activation

    package init(
        strides: [Int],
        padding: WindowPadding = .valid,
        dilations: [Int]? = nil,
        groups: Int = 1,
        outputExtents: [Int]? = nil,
        activation: Activation = .none
    ) {
        self.strides = strides
        self.padding = padding
        self.dilations = dilations ?? strides.map { _ in 1 }
        self.groups = groups
        self.outputExtents = outputExtents
        self.activation = activation
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("weight")
        arguments.optionalOperand("bias")
        let window = try Convolution(window: &arguments)
        self.init(
            strides: window.strides,
            padding: window.padding,
            dilations: window.dilations,
            groups: window.groups,
            outputExtents: arguments.has("output_shape") ? Array(try arguments.ints("output_shape").dropFirst(2)) : nil
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let weight = try operands.type(1)
        guard (3...5).contains(x.rank), weight.rank == x.rank else {
            throw ModelError(
                .invalidModel,
                "x \(x) and weight \(weight) of a transposed convolution must have the same rank, from 3 to 5"
            )
        }
        let spatialRank = x.rank - 2
        guard strides.count == spatialRank, dilations.count == spatialRank,
            (strides + dilations + [groups]).allSatisfy({ $0 > 0 })
        else {
            throw ModelError(
                .invalidModel,
                "strides \(strides), dilations \(dilations) and groups \(groups) must be positive, one for each of "
                    + "\(spatialRank) spatial axes"
            )
        }
        try padding.check(spatialRank: spatialRank)
        if let channels = x.shape[1].count, let inputs = weight.shape[0].count,
            channels != inputs || channels % groups != 0
        {
            throw ModelError(
                .invalidModel,
                "x has \(channels) channels, but the weight of shape \(weight.shape) in \(groups) groups needs \(inputs)"
            )
        }
        let outputs = weight.shape[1].map { $0 * groups }
        try checkVector(operands, 2, outputs, "bias")
        if let outputExtents, outputExtents.count != spatialRank {
            throw ModelError(.invalidModel, "output extents \(outputExtents) for \(spatialRank) spatial axes")
        }
        var shape: Shape = [x.shape[0], outputs]
        for axis in 0..<spatialRank {
            if let outputExtents {
                shape.append(Dimension(outputExtents[axis]))
                continue
            }
            guard let extent = x.shape[axis + 2].count, let kernel = weight.shape[axis + 2].count else {
                shape.append(.unknown)
                continue
            }
            let result = self.extent(axis, input: extent, kernel: kernel)
            guard result > 0 else {
                throw ModelError(.invalidModel, "padding removes all elements of spatial axis \(axis)")
            }
            shape.append(Dimension(result))
        }
        if operands.has(3) { _ = try broadcast(operands.shape(3), shape) }
        return [ValueType(x.scalarType, shape)]
    }

    private func extent(_ axis: Int, input: Int, kernel: Int) -> Int {
        let full = (input - 1) * strides[axis] + (kernel - 1) * dilations[axis] + 1
        return switch padding {
        case .valid: full
        case .same, .sameLower: input * strides[axis]
        case .custom(let before, let after): full - before[axis] - after[axis]
        }
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let weight = operands[1]
        let shape = operands.shape()
        let window = geometry(x.shape, weight.shape, shape).volumetric
        let input = x.values
        let taps = weight.values
        let bias = operands.optional(2)?.values
        let residual = operands.optional(3)?.values
        let outputs = weight.shape[1]
        let perGroup = x.shape[1] / groups
        var result = [Double](repeating: 0, count: shape.elementCount)
        for n in 0..<shape[0] {
            for i in 0..<x.shape[1] {
                for o in 0..<outputs {
                    let channel = n * shape[1] + i / perGroup * outputs + o
                    for d in 0..<window.output[0] {
                        for h in 0..<window.output[1] {
                            for w in 0..<window.output[2] {
                                let position = (d * window.output[1] + h) * window.output[2] + w
                                let value = input[(n * x.shape[1] + i) * window.outputCount + position]
                                window.forEachTap(d, h, w) { position, tap in
                                    result[channel * window.inputCount + position] +=
                                        value * taps[(i * outputs + o) * window.kernelCount + tap]
                                }
                            }
                        }
                    }
                }
            }
        }
        for index in result.indices {
            let channel = index / Swift.max(window.inputCount, 1) % shape[1]
            result[index] = activation.apply(result[index] + (bias?[channel] ?? 0) + (residual?[index] ?? 0))
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    /// The window of the convolution whose adjoint this is: its input is the result, its output is `x`.
    package func geometry(_ x: [Int], _ weight: [Int], _ result: [Int]) -> WindowGeometry {
        let input = Array(x.dropFirst(2))
        let kernel = Array(weight.dropFirst(2))
        let output = Array(result.dropFirst(2))
        let before = input.indices.map { axis in
            let full = (input[axis] - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1
            let total = Swift.max(full - output[axis], 0)
            return switch padding {
            case .valid: 0
            case .same: total / 2
            case .sameLower: total - total / 2
            case .custom(let before, _): before[axis]
            }
        }
        return WindowGeometry(
            input: output,
            kernel: kernel,
            strides: strides,
            dilations: dilations,
            before: before,
            output: input
        )
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        operands.constant(1) == nil ? .rowMajor : .channelsLast
    }
}

extension ConvolutionTransposed: DifferentiableOperator {
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

extension ConvolutionTransposed {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self, along: [0, 3])
    }
}
