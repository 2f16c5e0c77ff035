package import MLGraph
package import MLNumerics
import MLKernels

/// The gradient of a convolution's weights: dw[o, i, t] = Σ x[n, i, p · stride − pad + t · dilation] · dy[n, o, p] over
/// n and p, where o and i are in the same group.
///
/// Operands: x [N, C, spatial…] of rank 3 to 5, dy [N, O, positions…]. Result: [O, C / groups, kernel…]. For a
/// transposed convolution x is the gradient of its result and dy its input.
package struct ConvolutionWeightGradient: Operator {
    package var kernel: [Int]
    package var strides: [Int]
    package var dilations: [Int]
    package var before: [Int]
    package var groups: Int

    package init(_ window: WindowGeometry, groups: Int) {
        kernel = window.kernel
        strides = window.strides
        dilations = window.dilations
        before = window.before
        self.groups = groups
    }

    package var displayName: String { "conv_weight_gradient" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let dy = try operands.type(1)
        let spatialRank = kernel.count
        guard x.rank == spatialRank + 2, dy.rank == x.rank, strides.count == spatialRank,
            dilations.count == spatialRank, before.count == spatialRank, groups > 0,
            (kernel + strides + dilations).allSatisfy({ $0 > 0 }),
            (x.shape[1].count ?? 0) % groups == 0, (dy.shape[1].count ?? 0) % groups == 0
        else {
            throw ModelError(.invalidModel, "x \(x) and dy \(dy) do not fit a window of \(kernel) in \(groups) groups")
        }
        _ = try unified(x.shape[0], dy.shape[0])
        return [x.with([dy.shape[1], x.shape[1].map { $0 / groups }] + Shape(kernel))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (x, dy) = (operands[0], operands[1])
        let window = geometry(x.shape, dy.shape).volumetric
        let (input, flow) = (x.values, dy.values)
        let shape = operands.shape()
        let perGroup = shape[1]
        let outputs = shape[0] / groups
        var result = [Double](repeating: 0, count: shape.elementCount)
        for n in 0..<x.shape[0] {
            for o in 0..<shape[0] {
                for d in 0..<window.output[0] {
                    for h in 0..<window.output[1] {
                        for w in 0..<window.output[2] {
                            let position = (d * window.output[1] + h) * window.output[2] + w
                            let value = flow[(n * shape[0] + o) * window.outputCount + position]
                            for i in 0..<perGroup {
                                let channel = n * x.shape[1] + o / outputs * perGroup + i
                                window.forEachTap(d, h, w) { position, tap in
                                    result[(o * perGroup + i) * window.kernelCount + tap] +=
                                        input[channel * window.inputCount + position] * value
                                }
                            }
                        }
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    func geometry(_ x: [Int], _ dy: [Int]) -> WindowGeometry {
        WindowGeometry(
            input: Array(x.dropFirst(2)),
            kernel: kernel,
            strides: strides,
            dilations: dilations,
            before: before,
            output: Array(dy.dropFirst(2))
        )
    }
}

extension ConvolutionWeightGradient {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0), let dy = request.operand(1),
            x.count > 0,
            dy.count > 0, x.layout == .rowMajor, dy.layout == .rowMajor
        else { return [] }
        let window = geometry(x.logicalShape, dy.logicalShape).volumetric
        let geometry = window.kernelGeometry(batch: x.logicalShape[0])
        if let transformed = WinogradWeightGradient(
            geometry,
            kernel: window.kernel,
            inputChannels: x.logicalShape[1],
            outputChannels: dy.logicalShape[1],
            groups: groups
        ) {
            return [
                Kernel("winograd", scratchByteCount: transformed.scratchByteCount) { context in
                    transformed.run(
                        context.floats(0),
                        context.floats(1),
                        into: context.resultFloats(),
                        scratch: context.scratch
                    )
                }
            ]
        }
        let product = WeightGradientKernel(
            geometry,
            kernel: window.kernel,
            inputChannels: x.logicalShape[1],
            outputChannels: dy.logicalShape[1],
            groups: groups
        )
        return [
            Kernel("gemm of patches", scratchByteCount: product.scratchByteCount) { context in
                product.run(
                    context.floats(0),
                    context.floats(1),
                    into: context.resultFloats(),
                    scratch: context.scratchFloats
                )
            }
        ]
    }
}
