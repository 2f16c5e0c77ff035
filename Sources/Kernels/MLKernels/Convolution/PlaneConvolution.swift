import CMLKernels

/// A convolution of row-major tensors, `[batch, channels, spatial…]`, with its weights.
///
/// Immutable.
///
/// It avoids the conversion to channels-last and back for a single convolution; among other convolutions channels-last
/// kernels are faster.
package final class PlaneConvolution: PackedForm {
    private let inputChannels: Int
    private let outputChannels: Int
    private let kernel: [Int]
    private let groups: Int
    package let memory: AlignedMemory
    // A table of the C kernels, which is immutable.
    private nonisolated(unsafe) let instructionSet: OpaquePointer

    /// Packs `source`, `[outputChannels, inputChannels/groups, kernel…]`: floats, or bit patterns of half floats.
    package init(
        _ source: UnsafeRawPointer,
        isHalf: Bool,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int
    ) {
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.kernel = kernel
        self.groups = groups
        instructionSet = cml_isa_current()
        memory = AlignedMemory(byteCount: Self.byteCount(inputChannels, outputChannels, kernel, groups))
        var shape = cml_conv_shape()
        shape.setChannels(inputChannels, outputChannels, kernel: kernel, groups: groups)
        cml_conv_planes_pack(
            instructionSet,
            &shape,
            source,
            isHalf ? CML_F16 : CML_F32,
            memory.address.assumingMemoryBound(to: Float.self)
        )
    }

    /// Weights that were packed before, for the current instruction set; `nil` when `memory` has the wrong size.
    package init?(stored memory: AlignedMemory, inputChannels: Int, outputChannels: Int, kernel: [Int], groups: Int) {
        guard memory.byteCount == Self.byteCount(inputChannels, outputChannels, kernel, groups) else { return nil }
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.kernel = kernel
        self.groups = groups
        self.memory = memory
        instructionSet = cml_isa_current()
    }

    private static func byteCount(_ inputChannels: Int, _ outputChannels: Int, _ kernel: [Int], _ groups: Int) -> Int {
        max(4, inputChannels / groups * outputChannels * kernel.reduce(1, *) * 4)
    }

    /// Whether a convolution between row-major neighbours is faster than transposing its operands: it has few products
    /// per transposed element, and no faster method applies, or only one that gains little with the few channels of
    /// groups.
    package static func isFaster(
        _ geometry: ConvolutionGeometry,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int
    ) -> Bool {
        guard Backend.current == .native, groups > 0, geometry.strides.allSatisfy({ $0 == 1 }) else { return false }
        let form = ConvolutionWeights.form(
            geometry,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: false
        )
        let weights = kernel.reduce(outputChannels * (inputChannels / groups), *)
        let outputs = geometry.outputSize.reduce(1, *)
        let rotated = inputChannels * geometry.inputSize.reduce(1, *) + outputChannels * outputs
        return (form == 0 || groups > 1) && weights <= 1 << 18 && weights * outputs < 240 * rotated
    }

    /// `y = epilogue(convolution(x))`; the epilogue's residual has the layout of `y` and may be `y`.
    package func run(
        _ x: UnsafePointer<Float>,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue
    ) {
        var lowered = epilogue.lowered(rowStride: outputChannels)
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.setChannels(inputChannels, outputChannels, kernel: kernel, groups: groups)
        cml_conv_planes(
            instructionSet,
            &shape,
            x,
            memory.address.assumingMemoryBound(to: Float.self),
            y,
            &lowered
        )
    }
}

extension cml_conv_shape {
    fileprivate mutating func setChannels(_ inputs: Int, _ outputs: Int, kernel: [Int], groups: Int) {
        self.kernel = tuple3(kernel, filler: 1)
        in_channels = inputs
        out_channels = outputs
        self.groups = groups
    }
}
