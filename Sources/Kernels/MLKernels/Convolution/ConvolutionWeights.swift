import CMLKernels

/// The packed weights of a convolution or transposed convolution.
///
/// Immutable.
package final class ConvolutionWeights: PackedForm {
    package let inputChannels: Int
    package let outputChannels: Int
    package let groups: Int
    /// Window size, outermost axis first.
    package let kernel: [Int]
    package let isTransposed: Bool
    /// Whether the source has half floats; see `PackedWeights.isHalf`.
    package let isHalf: Bool

    let method: cml_conv_method
    let plain: OneDNNWeights<ConvolutionGeometry>?
    package let memory: AlignedMemory
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) let instructionSet: OpaquePointer

    /// The size of the packed form in bytes.
    package var byteCount: Int { memory.byteCount }

    /// Packs `source`: `[outputChannels, inputChannels/groups, kernel…]`, or, for a transposed convolution,
    /// `[inputChannels, outputChannels/groups, kernel…]`, contiguous, as in MIL's `conv` and `conv_transpose`.
    ///
    /// With the `geometry` they will be used with, weights may be packed for a faster method (Winograd convolution for
    /// windows of three elements along one or two axes), which makes them larger; they can then be used with every
    /// input size, but only with strides of 1 and, of three axes, a dilation of 1 along the first.
    package convenience init(
        _ source: UnsafePointer<Float>,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int = 1,
        isTransposed: Bool = false,
        geometry: ConvolutionGeometry? = nil
    ) {
        self.init(
            raw: source,
            storage: CML_F32,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed,
            geometry: geometry
        )
    }

    /// The same from half-precision bit patterns; dense weights stay half floats.
    package convenience init(
        half source: UnsafePointer<UInt16>,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int = 1,
        isTransposed: Bool = false,
        geometry: ConvolutionGeometry? = nil
    ) {
        self.init(
            raw: source,
            storage: CML_F16,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed,
            geometry: geometry
        )
    }

    /// Distinguishes the packed forms for different geometries: 0 for the plain one.
    package static func form(
        _ geometry: ConvolutionGeometry,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int,
        isTransposed: Bool
    ) -> Int {
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.in_channels = inputChannels
        shape.out_channels = outputChannels
        shape.groups = groups
        shape.transposed = isTransposed ? 1 : 0
        return Int(cml_conv_choose(&shape).rawValue)
    }

    /// Weights that were packed before, for the current instruction set and this geometry; `nil` when `memory` has the
    /// wrong size, or the backend needs the source.
    package init?(
        stored memory: AlignedMemory,
        isHalf: Bool,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int = 1,
        isTransposed: Bool = false,
        geometry: ConvolutionGeometry? = nil
    ) {
        let isa: OpaquePointer = cml_isa_current()
        var shape = Self.shape(inputChannels, outputChannels, kernel, groups, isTransposed, geometry)
        guard Backend.current == .native,
            memory.byteCount == cml_conv_packed_bytes(isa, &shape, isHalf ? CML_F16 : CML_F32)
        else { return nil }
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.groups = groups
        self.kernel = kernel
        self.isTransposed = isTransposed
        self.isHalf = isHalf
        self.memory = memory
        method = shape.method
        plain = nil
        instructionSet = isa
    }

    private static func shape(
        _ inputChannels: Int,
        _ outputChannels: Int,
        _ kernel: [Int],
        _ groups: Int,
        _ isTransposed: Bool,
        _ geometry: ConvolutionGeometry?
    ) -> cml_conv_shape {
        var shape = cml_conv_shape()
        shape.kernel = tuple3(kernel, filler: 1)
        shape.in_channels = inputChannels
        shape.out_channels = outputChannels
        shape.groups = groups
        shape.transposed = isTransposed ? 1 : 0
        if let geometry {
            shape.setGeometry(geometry)
            shape.method = cml_conv_choose(&shape)
        }
        return shape
    }

    private init(
        raw source: UnsafeRawPointer,
        storage: cml_storage,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        groups: Int,
        isTransposed: Bool,
        geometry: ConvolutionGeometry?
    ) {
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        self.groups = groups
        self.kernel = kernel
        self.isTransposed = isTransposed
        isHalf = storage == CML_F16
        instructionSet = cml_isa_current()
        let taps = kernel.reduce(1, *)
        plain =
            isTransposed
            ? nil : OneDNNWeights(source, storage: storage, count: outputChannels * (inputChannels / groups) * taps)
        let groupInputs = inputChannels / groups
        let groupOutputs = outputChannels / groups
        var shape = Self.shape(inputChannels, outputChannels, kernel, groups, isTransposed, geometry)
        method = shape.method
        memory = AlignedMemory(byteCount: cml_conv_packed_bytes(instructionSet, &shape, storage))
        if isTransposed {
            cml_conv_pack(
                instructionSet,
                &shape,
                source,
                storage,
                groupInputs * groupOutputs * taps,
                taps,
                groupOutputs * taps,
                memory.address
            )
        } else {
            cml_conv_pack(
                instructionSet,
                &shape,
                source,
                storage,
                groupOutputs * groupInputs * taps,
                groupInputs * taps,
                taps,
                memory.address
            )
        }
    }
}
