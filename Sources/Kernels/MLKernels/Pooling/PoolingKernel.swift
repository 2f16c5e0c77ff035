import CMLKernels

/// Pooling over windows of one to three axes.
package enum PoolingKernel {
    package enum Operation: Hashable, Sendable {
        case maximum
        /// Divides by the elements inside the input.
        case mean
        /// Divides by the elements inside the input or its padding.
        case meanWithPadding
        /// √Σ x²
        case l2Norm

        var lowered: cml_pooling {
            switch self {
            case .maximum: CML_POOL_MAX
            case .mean: CML_POOL_MEAN
            case .meanWithPadding: CML_POOL_MEAN_PADDED
            case .l2Norm: CML_POOL_L2
            }
        }
    }

    /// Pools `x` of `[batch][spatial…][inner]` into `y`.
    ///
    /// Channels-last tensors have `inner` channels; channels-first tensors have `batch·channels` items and `inner` 1.
    /// `geometry.batch` counts the items; elements beyond the output size are not read.
    package static func pool(
        _ operation: Operation,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        _ geometry: ConvolutionGeometry,
        kernel: [Int],
        paddingAfter: [Int],
        inner: Int
    ) {
        var shape = cml_pool_shape()
        shape.batch = geometry.batch
        shape.inner = inner
        shape.in = tuple3(geometry.inputSize, filler: 1)
        shape.out = tuple3(geometry.outputSize, filler: 1)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.stride = tuple3(geometry.strides, filler: 1)
        shape.dilation = tuple3(geometry.dilations, filler: 1)
        shape.pad = tuple3(geometry.paddingBefore, filler: 0)
        shape.pad_after = tuple3(paddingAfter, filler: 0)
        cml_pool(cml_isa_current(), operation.lowered, &shape, x, y)
    }
}
