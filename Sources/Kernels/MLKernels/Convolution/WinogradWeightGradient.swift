import CMLKernels

/// The gradient of a convolution's weights by Winograd's method: a quarter of the multiplications of `WeightGradientKernel`.
///
/// The order of sums depends on the shapes and the instruction set only, so that the result does not depend on the number of
/// threads.
package struct WinogradWeightGradient: Sendable {
    private let geometry: ConvolutionGeometry
    private let inputChannels: Int
    private let outputChannels: Int
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) private let instructionSet: OpaquePointer
    /// The size of the scratch memory that `run` needs.
    package let scratchByteCount: Int

    /// `nil` where other methods are faster, or the window is not of 3 × 3 elements without strides or dilation in one group.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of x and of the result, strides, dilations and padding.
    ///   - kernel: The size of the window.
    ///   - inputChannels: The number of channels of x.
    ///   - outputChannels: The number of channels of the result.
    ///   - groups: The number of groups.
    package init?(
        _ geometry: ConvolutionGeometry,
        kernel: [Int],
        inputChannels: Int,
        outputChannels: Int,
        groups: Int
    ) {
        self.geometry = geometry
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        instructionSet = cml_isa_current()
        var shape = Self.shape(geometry, inputChannels, outputChannels)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.groups = groups
        guard cml_winograd_gradient_suits(&shape) != 0 else { return nil }
        scratchByteCount = cml_winograd_gradient_bytes(instructionSet, &shape)
    }

    private static func shape(
        _ geometry: ConvolutionGeometry,
        _ inputChannels: Int,
        _ outputChannels: Int
    ) -> cml_conv_shape {
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3([3, 3], filler: 1)
        shape.in_channels = inputChannels
        shape.out_channels = outputChannels
        shape.groups = 1
        return shape
    }

    /// `dw[o, i, t] = Σ x[n, i, p − pad + t] · dy[n, o, p]` over n and p.
    ///
    /// - Parameters:
    ///   - x: The convolution's operand [batch, inputs, height, width].
    ///   - dy: The gradient of its result [batch, outputs, height, width].
    ///   - result: The gradient of its weights [outputs, inputs, 3, 3].
    ///   - scratch: Memory of `scratchByteCount` bytes, aligned to 64.
    package func run(
        _ x: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into result: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutableRawPointer
    ) {
        var shape = Self.shape(geometry, inputChannels, outputChannels)
        cml_winograd_gradient(instructionSet, &shape, x, dy, result, scratch)
    }
}
