package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Normalisation over `axes`: y = (x − E[x]) / √(Var[x] + epsilon) · gamma + beta.
///
/// Operands: x, gamma?, beta?; the last two have the extents of x at `axes`, in the order of x's axes.
/// Result: like x.
package struct LayerNorm: Operator {
    package static let names: [MILName] = ["layer_norm"]

    /// Negative axes count from the end; `nil` means all.
    package var axes: [Int]?
    package var epsilon: Double

    package init(axes: [Int]?, epsilon: Double = 1e-5) {
        self.axes = axes
        self.epsilon = epsilon
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        arguments.optionalOperand("gamma")
        arguments.optionalOperand("beta")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
        epsilon = try arguments.float("epsilon", default: 1e-5)
    }

    /// The normalised axes of a tensor of rank `rank`, ascending.
    package func normalizedAxes(rank: Int) throws(ModelError) -> [Int] {
        guard let axes else { return Array(0..<rank) }
        var result: Set<Int> = []
        for axis in axes { result.insert(try normalizedAxis(axis, rank: rank)) }
        return result.sorted()
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let extents = try normalizedAxes(rank: x.rank).map { x.shape[$0] }
        for (index, name) in [(1, "gamma"), (2, "beta")] where operands.has(index) {
            let shape = try operands.shape(index)
            let fits = zip(shape, extents).allSatisfy { $0 == $1 || !$0.isKnown || !$1.isKnown }
            guard shape.count == extents.count, fits else {
                throw ModelError(.invalidModel, "\(name) of layer_norm has shape \(shape), but \(extents) is needed")
            }
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let inside = try normalizedAxes(rank: x.shape.count)
        let outside = x.shape.indices.filter { !inside.contains($0) }
        let strides = x.shape.rowMajorStrides
        func offsets(_ axes: [Int]) -> [Int] {
            axes.reduce([0]) { offsets, axis in
                offsets.flatMap { offset in (0..<x.shape[axis]).map { offset + $0 * strides[axis] } }
            }
        }
        let positions = offsets(inside)
        let gamma = operands.optional(1)?.values
        let beta = operands.optional(2)?.values
        let values = x.values
        var result = values
        for start in offsets(outside) {
            let line = meanAndInverseDeviation(positions.map { values[start + $0] }, epsilon: epsilon)
            for (index, position) in positions.enumerated() {
                let standard = (values[start + position] - line.mean) * line.scale
                result[start + position] = standard * (gamma?[index] ?? 1) + (beta?[index] ?? 0)
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: x.shape)]
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

extension LayerNorm {
    /// Normalising the channels of images processes contiguous rows when the channels come last.
    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard let rank = try? operands.rank(0), (3...5).contains(rank), let axes = try? normalizedAxes(rank: rank)
        else {
            return .rowMajor
        }
        return axes == [1] ? .channelsLast : .rowMajor
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let gamma = FloatSource(request, 1), let beta = FloatSource(request, 2),
            let axes = try? normalizedAxes(rank: x.logicalShape.count)
        else { return [] }
        let positions = axes.map { x.layout.physicalAxis($0, rank: x.shape.count) }.sorted()
        let length = positions.reduce(1) { $0 * x.shape[$1] }
        let epsilon = Float(epsilon)
        if positions == Array(x.shape.count - positions.count..<x.shape.count) {
            return [
                Kernel("layer norm", inPlaceOperands: [0]) { context in
                    NormalizationKernel.layerNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        rows: x.count / length,
                        length: length,
                        epsilon: epsilon,
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            ]
        }
        guard x.layout == .rowMajor else { return [] }
        if let first = positions.first, let last = positions.last, last - first + 1 == positions.count {
            let (outer, inner) = (x.shape[..<first].reduce(1, *), x.shape[(last + 1)...].reduce(1, *))
            return [
                Kernel("layer norm down columns", inPlaceOperands: [0]) { context in
                    NormalizationKernel.columnNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: outer,
                        axis: length,
                        inner: inner,
                        epsilon: epsilon,
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            ]
        }
        // The axes are not adjacent: they are moved together and back.
        let gathered = StridedView(dense: x.shape)
            .transposed(x.shape.indices.filter { !positions.contains($0) } + positions)
        let dense = StridedView(dense: gathered.shape)
        guard let together = StridedCopy(gathered, dense, width: 4),
            let back = StridedCopy(dense, gathered, width: 4)
        else { return [] }
        return [
            Kernel("permute and layer norm", scratchByteCount: x.byteCount, inPlaceOperands: [0]) { context in
                let rows = context.scratchFloats
                together.run(context.operand(0), rows)
                NormalizationKernel.layerNorm(
                    rows,
                    into: rows,
                    rows: x.count / length,
                    length: length,
                    epsilon: epsilon,
                    gamma: gamma.pointer(context),
                    beta: beta.pointer(context)
                )
                back.run(rows, context.result())
            }
        ]
    }
}

extension LayerNorm: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let axes = try normalizedAxes(rank: context.extents(context.operand()).count)
        try context.setStandardizedGradients(axes: axes, parameterAxes: axes, epsilon: epsilon)
    }
}

extension LayerNorm {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxes(axes) { LayerNorm(axes: $0, epsilon: epsilon) }
    }
}
