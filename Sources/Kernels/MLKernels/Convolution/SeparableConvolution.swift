import CMLKernels

/// A depthwise convolution of two axes between two 1×1 convolutions, of which either may be missing, over channels-last
/// tensors.
///
/// The wide tensors between the three are computed some rows at a time and stay in the processor's L2 cache; the
/// results are those of the three convolutions one after the other.
package struct SeparableConvolution: Sendable {
    private let geometry: ConvolutionGeometry
    private let expansion: ConvolutionWeights?
    private let depthwise: ConvolutionWeights
    private let projection: ConvolutionWeights?

    /// `nil` for weights of other shapes, and for those that another backend reads.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of the depthwise convolution.
    ///   - expansion: The weights of the 1×1 convolution before it.
    ///   - depthwise: Its weights.
    ///   - projection: The weights of the 1×1 convolution after it.
    package init?(
        _ geometry: ConvolutionGeometry,
        expansion: ConvolutionWeights?,
        depthwise: ConvolutionWeights,
        projection: ConvolutionWeights?
    ) {
        let channels = depthwise.inputChannels
        let products = [expansion, projection].compactMap { $0 }
        guard geometry.inputSize.count == 2, depthwise.groups == channels, depthwise.outputChannels == channels,
            channels > 1, !depthwise.isTransposed, depthwise.method == CML_CONV_DIRECT, !products.isEmpty,
            depthwise.kernel[0] <= CML_DEPTHWISE_ROWS, depthwise.kernel[1] <= CML_DEPTHWISE_ROWS,
            expansion.map({ $0.outputChannels == channels }) ?? true,
            projection.map({ $0.inputChannels == channels }) ?? true,
            products.allSatisfy({ weights in
                weights.groups == 1 && !weights.isTransposed && weights.kernel.allSatisfy { $0 == 1 }
                    && weights.method == CML_CONV_DIRECT && weights.plain == nil
            }), depthwise.plain == nil
        else { return nil }
        self.geometry = geometry
        self.expansion = expansion
        self.depthwise = depthwise
        self.projection = projection
    }

    /// Whether the three convolutions in one step take less time than one after the other: where the wide tensors do not
    /// fit the L2 cache, and the rows that neighbouring threads both compute are few.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of the depthwise convolution.
    ///   - channels: The number of its channels.
    ///   - kernel: Its window.
    ///   - isExpanded: Whether a 1×1 convolution precedes it.
    /// - Returns: Whether `run` is expected to be faster.
    package static func isFaster(
        _ geometry: ConvolutionGeometry,
        channels: Int,
        kernel: [Int],
        isExpanded: Bool
    ) -> Bool {
        guard Backend.current == .native, geometry.inputSize.count == 2, kernel.count == 2 else { return false }
        let wide = geometry.inputSize.reduce(channels * MemoryLayout<Float>.size, *)
        let shared = isExpanded ? (kernel[0] - 1) * geometry.dilations[0] + 1 - geometry.strides[0] : 0
        let parts = (Workers.count + geometry.batch - 1) / max(geometry.batch, 1)
        let fewShared = parts == 1 || shared <= 0 || geometry.outputSize[0] * geometry.strides[0] >= 4 * shared * parts
        return wide >= wideByteCount && fewShared
    }

    /// The size in bytes from which a wide tensor is not written to memory: twice the L2 cache of usual processors.
    private static let wideByteCount = 1 << 20

    /// `y = projection(depthwise(expansion(x)))` for `x` of `[batch, height, width, channels]` and `y` likewise, both
    /// contiguous.
    ///
    /// - Parameters:
    ///   - x: The operand.
    ///   - y: The result.
    ///   - epilogues: What is applied to the results of the three convolutions; only that of the last one may have a
    ///     residual, of the layout of `y`, and only that of the projection `y` itself.
    package func run(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        epilogues: (expansion: Epilogue, depthwise: Epilogue, projection: Epilogue)
    ) {
        let channels = depthwise.inputChannels
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(depthwise.kernel, filler: 1)
        shape.method = CML_CONV_DIRECT
        shape.in_channels = channels
        shape.out_channels = channels
        shape.groups = channels
        var call = cml_conv_separable()
        call.depthwise = shape
        call.weights = UnsafeRawPointer(depthwise.memory.address).assumingMemoryBound(to: Float.self)
        call.epilogue = epilogues.depthwise.lowered(rowStride: channels)
        call.in_channels = expansion?.inputChannels ?? channels
        if let expansion {
            call.expand = UnsafeRawPointer(expansion.memory.address)
            call.expand_storage = expansion.isHalf ? CML_F16 : CML_F32
            call.expand_epilogue = epilogues.expansion.lowered(rowStride: channels)
        }
        call.out_channels = projection?.outputChannels ?? channels
        if let projection {
            call.project = UnsafeRawPointer(projection.memory.address)
            call.project_storage = projection.isHalf ? CML_F16 : CML_F32
            call.project_epilogue = epilogues.projection.lowered(rowStride: projection.outputChannels)
        }
        cml_conv_separable_run(depthwise.instructionSet, &call, x, y)
    }
}
