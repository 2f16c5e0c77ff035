package import MLGraph
import MLKernels
package import MLNumerics

/// A depthwise convolution between two 1×1 convolutions, the block of MobileNet and EfficientNet, in one step:
/// y = projection(depthwise(expansion(x))).
///
/// Operands: x [N, C, H, W], weight [E, C, 1, 1]? and bias [E]? of the expansion, weight [E, 1, kernel…] and bias [E]? of the
/// depthwise convolution, weight [O, E, 1, 1]? and bias [O]? of the projection, residual of the result's shape?. Result:
/// [N, O, H′, W′]. An expansion or projection that is missing has no weight, and then C = E or O = E. Only passes create it.
package struct ConvolutionSeparable: Operator {
    /// `nil` when the depthwise convolution reads x.
    package var expansion: Convolution?
    package var depthwise: Convolution
    /// `nil` when the depthwise convolution gives the result.
    package var projection: Convolution?

    package init(expansion: Convolution?, depthwise: Convolution, projection: Convolution?) {
        self.expansion = expansion
        self.depthwise = depthwise
        self.projection = projection
    }

    /// One of the three convolutions and the indices of its operands, besides the value that it reads.
    private struct Stage {
        let convolution: Convolution
        let weight: Int
        let bias: Int
        let residual: Int?
    }

    private var stages: [Stage] {
        [
            expansion.map { Stage(convolution: $0, weight: 1, bias: 2, residual: nil) },
            Stage(convolution: depthwise, weight: 3, bias: 4, residual: nil),
            projection.map { Stage(convolution: $0, weight: 5, bias: 6, residual: 7) },
        ].compactMap { $0 }
    }

    /// The types of the stages' results, the last one's included.
    private func types(of operands: Operands) throws(ModelError) -> [ValueType] {
        func operand(_ index: Int?) throws(ModelError) -> Operands.Operand? {
            guard let index, operands.has(index) else { return nil }
            return Operands.Operand(type: try operands.type(index))
        }
        var types: [ValueType] = []
        var x = try operands.type(0)
        for stage in stages {
            types += try stage.convolution.resultTypes(
                of: Operands([
                    Operands.Operand(type: x), try operand(stage.weight), try operand(stage.bias),
                    try operand(stage.residual),
                ])
            )
            x = types[types.count - 1]
        }
        return types
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        Array(try types(of: operands).suffix(1))
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let given = (0..<operands.count).map { index in
            operands.optional(index).map {
                Operands.Operand(type: ValueType($0.scalarType, Shape($0.shape.map { Dimension($0) })))
            }
        }
        var x = operands[0]
        for (stage, type) in zip(stages, try types(of: Operands(given))) {
            let inputs = [
                x, operands[stage.weight], operands.optional(stage.bias),
                stage.residual.flatMap { operands.optional($0) },
            ]
            x = try stage.convolution.reference(ReferenceOperands(inputs, resultTypes: [type]))[0]
        }
        return [x]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .channelsLast }

    package var halfPrecisionOperands: [Int] { [1, 3, 5] }
}

extension ConvolutionSeparable {
    /// A stage as the kernels see it.
    private struct Bound {
        let binding: ConvolutionBinding
        let weight: Tensor
        let weightIndex: Int
        let bias: FloatSource
        let residual: Int?
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let result = request.results.first, x.count > 0,
            result.count > 0, x.layout == .channelsLast, result.layout == .channelsLast, let bound = bound(request)
        else { return [] }
        if let residual = request.operand(7) {
            guard residual.scalarType == .float32, residual.logicalShape == result.logicalShape,
                residual.layout == result.layout
            else { return [] }
        }
        return [kernel(bound)]
    }

    private func bound(_ request: KernelRequest) -> [Bound]? {
        var bound: [Bound] = []
        guard var shape = request.operand(0)?.logicalShape else { return nil }
        for stage in stages {
            guard let weight = request.operand(stage.weight)?.constant, weight.isPackable,
                let bias = FloatSource(request, stage.bias)
            else { return nil }
            let operands = Operands(
                [shape, weight.shape].map { extents in
                    Operands.Operand(type: ValueType(.float32, Shape(extents.map { Dimension($0) })))
                }
            )
            guard let result = try? stage.convolution.resultTypes(of: operands)[0].shape.counts else { return nil }
            bound.append(
                Bound(
                    binding: stage.convolution.binding(shape, weight.shape, result),
                    weight: weight,
                    weightIndex: stage.weight,
                    bias: bias,
                    residual: stage.residual
                )
            )
            shape = result
        }
        return bound
    }

    private func epilogue(_ stage: Bound, _ context: KernelContext) -> Epilogue {
        Epilogue(
            bias: stage.bias.pointer(context),
            residual: stage.residual.flatMap { context.optionalFloats($0) },
            function: stage.binding.function
        )
    }

    /// The kernel that keeps the wide tensors in the L2 cache.
    private func kernel(_ bound: [Bound]) -> Kernel {
        let first = expansion == nil ? nil : bound.first
        let last = projection == nil ? nil : bound.last
        let middle = bound[expansion == nil ? 0 : 1]
        let name = "separable convolution \(middle.weight.scalarType.milName)"
        return Kernel(name, packedOperands: bound.map(\.weightIndex)) {
            // Rows in the cache are multiplied exactly, also where other products are in low precision.
            let weights = KernelTable.current.exact.perform { bound.map { $0.binding.packed($0.weight) } }
            guard let depthwise = weights[expansion == nil ? 0 : 1],
                let convolution = SeparableConvolution(
                    middle.binding.geometry,
                    expansion: first == nil ? nil : weights.first ?? nil,
                    depthwise: depthwise,
                    projection: last == nil ? nil : weights.last ?? nil
                )
            else { return nil }
            return { context in
                convolution.run(
                    context.floats(0),
                    into: context.resultFloats(),
                    epilogues: (
                        first.map { epilogue($0, context) } ?? Epilogue(), epilogue(middle, context),
                        last.map { epilogue($0, context) } ?? Epilogue()
                    )
                )
            }
        }
    }
}

extension ConvolutionSeparable {
    /// Whether one step is faster than three, for a depthwise convolution of these extents and weights.
    ///
    /// - Parameters:
    ///   - depthwise: The depthwise convolution.
    ///   - x: The shape of its operand.
    ///   - weight: Its weight.
    ///   - result: The shape of its result.
    ///   - neighbors: The weights of the 1×1 convolutions before and after it.
    ///   - isExpanded: Whether there is one before it.
    /// - Returns: Whether the kernel reads these weights and is faster.
    package static func isWorthwhile(
        _ depthwise: Convolution,
        x: [Int],
        weight: Tensor,
        result: [Int],
        neighbors: [Tensor],
        isExpanded: Bool
    ) -> Bool {
        let binding = depthwise.binding(x, weight.shape, result)
        return ([weight] + neighbors).allSatisfy { $0.isPackable && CompressedMatrix($0) == nil }
            && SeparableConvolution.isFaster(
                binding.geometry,
                channels: x[1],
                kernel: binding.kernel,
                isExpanded: isExpanded
            )
    }
}
