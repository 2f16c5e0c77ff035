package import MLGraph
import MLKernels
import MLNumerics

extension Pooling {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let y = request.results.first,
            x.layout == y.layout, x.count > 0, y.count > 0, let operation
        else { return [] }
        let window = geometry(x.logicalShape, y.logicalShape)
        let (batch, channels) = (x.logicalShape[0], x.logicalShape[1])
        let isLast = x.layout == .channelsLast
        if coversAll(window.input) {
            let space = window.input.reduce(1, *)
            return [
                Kernel("mean") { context in
                    ReductionKernel.reduce(
                        .mean,
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: isLast ? batch : batch * channels,
                        axis: space,
                        inner: isLast ? channels : 1
                    )
                }
            ]
        }
        let geometry = ConvolutionGeometry(
            batch: isLast ? batch : batch * channels,
            inputSize: window.input,
            outputSize: window.output,
            strides: window.strides,
            dilations: window.dilations,
            paddingBefore: window.before
        )
        let after = window.input.indices.map { axis in
            kernel == nil
                ? 0
                : padding.amounts(
                    axis: axis,
                    extent: window.input[axis],
                    window: window.kernel[axis],
                    stride: window.strides[axis]
                ).after
        }
        return [
            Kernel("pool") { context in
                PoolingKernel.pool(
                    operation,
                    context.floats(0),
                    into: context.resultFloats(),
                    geometry,
                    kernel: window.kernel,
                    paddingAfter: after,
                    inner: isLast ? channels : 1
                )
            }
        ]
    }

    private var operation: PoolingKernel.Operation? {
        if Function.self == Maximum.self { return .maximum }
        if Function.self == EuclideanLength.self { return .l2Norm }
        if Function.self == Average.self { return excludesPadding ? .mean : .meanWithPadding }
        return nil
    }
}
