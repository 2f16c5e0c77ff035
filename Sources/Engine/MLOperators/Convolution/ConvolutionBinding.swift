package import MLGraph
import MLKernels
import MLNumerics

/// Binds a convolution, or a transposed one, to the channels-last kernels.
struct ConvolutionBinding: Sendable {
    let geometry: ConvolutionGeometry
    let inputChannels: Int
    let outputChannels: Int
    let kernel: [Int]
    let groups: Int
    let isTransposed: Bool
    let function: UnaryFunction

    /// The kernels for operands x, weight, bias?, residual?.
    func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let weight = request.operand(1),
            let bias = FloatSource(request, 2), let result = request.results.first, x.count > 0, result.count > 0
        else { return [] }
        if let residual = request.operand(3) {
            guard residual.scalarType == .float32, residual.logicalShape == result.logicalShape,
                residual.layout == result.layout
            else { return [] }
        }
        guard x.layout == result.layout else { return [] }
        guard let constant = weight.constant else {
            guard weight.scalarType == .float32, weight.layout == .rowMajor else { return [] }
            return [packedAtRunTime(request, bias)]
        }
        guard constant.isPackable else { return [] }
        let expanded = x.layout == .channelsLast ? channelsLast(constant, bias) : rowMajor(request, constant, bias)
        return [compressed(request, constant, bias), expanded].compactMap { $0 }
    }

    /// The packed form of a constant weight, which all plans with this form share; `nil` when it cannot be packed.
    func packed(_ weight: Tensor) -> ConvolutionWeights? {
        let form =
            "convolution \(inputChannels) \(outputChannels) \(groups) \(isTransposed) \(packing) \(KernelTable.current)"
        return PackedConstants.packed(weight, form: form) { memory in
            ConvolutionWeights(
                stored: memory,
                isHalf: weight.scalarType == .float16,
                inputChannels: inputChannels,
                outputChannels: outputChannels,
                kernel: kernel,
                groups: groups,
                isTransposed: isTransposed,
                geometry: geometry
            )
        } make: {
            weight.withFloatStorage(
                single: {
                    ConvolutionWeights(
                        $0,
                        inputChannels: inputChannels,
                        outputChannels: outputChannels,
                        kernel: kernel,
                        groups: groups,
                        isTransposed: isTransposed,
                        geometry: geometry
                    )
                },
                half: {
                    ConvolutionWeights(
                        half: $0,
                        inputChannels: inputChannels,
                        outputChannels: outputChannels,
                        kernel: kernel,
                        groups: groups,
                        isTransposed: isTransposed,
                        geometry: geometry
                    )
                }
            )
        }
    }

    /// The weights packed from operand 1's contents in this run.
    private func packed(_ context: KernelContext) -> ConvolutionWeights {
        ConvolutionWeights(
            context.floats(1),
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed,
            geometry: repaysTransforms ? geometry : nil
        )
    }

    /// The number of result positions from which on transforming weights in each run repays: this takes about the time of
    /// the direct convolution of 200.
    private static let transformedPositions = 1024

    private var repaysTransforms: Bool {
        geometry.outputSize.reduce(geometry.batch, *) >= Self.transformedPositions
    }

    /// Whether there is a faster method for these sizes (Winograd convolution) that repays transforming weights in each
    /// run.
    var isTransformedAtRunTime: Bool {
        repaysTransforms && packing != 0
    }

    /// Distinguishes the packed forms of weights for these sizes: 0 for the plain one.
    private var packing: Int {
        ConvolutionWeights.form(
            geometry,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed
        )
    }

    /// The operations on the result before it is stored.
    private func epilogue(_ bias: FloatSource, _ context: KernelContext) -> Epilogue {
        Epilogue(bias: bias.pointer(context), residual: context.optionalFloats(3), function: function)
    }

    private var name: String { isTransposed ? "transposed convolution" : "convolution" }

    private func channelsLast(_ weight: Tensor, _ bias: FloatSource) -> Kernel {
        Kernel("\(name) \(weight.scalarType.milName)", packedOperands: [1]) {
            guard let weights = packed(weight) else { return nil }
            return { context in
                ConvolutionKernel.convolve(
                    context.floats(0),
                    weights,
                    geometry,
                    into: context.resultFloats(),
                    epilogue: epilogue(bias, context)
                )
            }
        }
    }

    private func rowMajor(_ request: KernelRequest, _ weight: Tensor, _ bias: FloatSource) -> Kernel {
        if isFasterInPlanes { return planes(weight, bias) }
        let form = rowMajorForm(request)
        let name = "\(name) \(weight.scalarType.milName), transposing"
        return Kernel(name, scratchByteCount: form.scratchByteCount, packedOperands: [1]) {
            guard let weights = packed(weight) else { return nil }
            return { context in run(weights, bias, form, context) }
        }
    }

    /// Whether row-major operands need not be transposed.
    var isFasterInPlanes: Bool {
        !isTransposed
            && PlaneConvolution.isFaster(
                geometry,
                inputChannels: inputChannels,
                outputChannels: outputChannels,
                kernel: kernel,
                groups: groups
            )
    }

    /// The convolution with weights that stay compressed; `nil` for others.
    private func compressed(_ request: KernelRequest, _ weight: Tensor, _ bias: FloatSource) -> Kernel? {
        let isChannelsLast = request.operand(0)?.layout == .channelsLast
        let layout: PackedWeights.Layout = isTransposed ? .termsByColumns : .columnsByTerms
        guard groups == 1, isChannelsLast || !isFasterInPlanes, let matrix = CompressedMatrix(weight),
            CodedConvolution.isWorthwhile(
                geometry,
                inputChannels: inputChannels,
                outputChannels: outputChannels,
                kernel: kernel,
                isTransposed: isTransposed
            ), let form = matrix.form(layout: layout, rows: geometry.outputSize.reduce(geometry.batch, *))
        else { return nil }
        @Sendable func didPack() -> CodedConvolution? {
            matrix.packed(weight, form, layout: layout).map {
                CodedConvolution($0, kernel: kernel, inputChannels: inputChannels, isTransposed: isTransposed)
            }
        }
        if isChannelsLast {
            return Kernel("\(name) \(matrix.name)", packedOperands: [1]) {
                guard let weights = didPack() else { return nil }
                return { context in
                    weights.convolve(
                        context.floats(0),
                        geometry,
                        into: context.resultFloats(),
                        epilogue: epilogue(bias, context)
                    )
                }
            }
        }
        let rotated = rowMajorForm(request)
        let name = "\(name) \(matrix.name), transposing"
        return Kernel(name, scratchByteCount: rotated.scratchByteCount, packedOperands: [1]) {
            guard let weights = didPack() else { return nil }
            return { context in run(weights, bias, rotated, context) }
        }
    }

    private func planes(_ weight: Tensor, _ bias: FloatSource) -> Kernel {
        Kernel("\(name) \(weight.scalarType.milName) of planes", packedOperands: [1]) {
            let form = "planes \(inputChannels) \(outputChannels) \(groups) \(KernelTable.current)"
            let weights = PackedConstants.packed(weight, form: form) { memory in
                PlaneConvolution(
                    stored: memory,
                    inputChannels: inputChannels,
                    outputChannels: outputChannels,
                    kernel: kernel,
                    groups: groups
                )
            } make: {
                weight.withFloatStorage(
                    single: {
                        PlaneConvolution(
                            $0,
                            isHalf: false,
                            inputChannels: inputChannels,
                            outputChannels: outputChannels,
                            kernel: kernel,
                            groups: groups
                        )
                    },
                    half: {
                        PlaneConvolution(
                            $0,
                            isHalf: true,
                            inputChannels: inputChannels,
                            outputChannels: outputChannels,
                            kernel: kernel,
                            groups: groups
                        )
                    }
                )
            }
            guard let weights else { return nil }
            return { context in
                weights.run(
                    context.floats(0),
                    geometry,
                    into: context.resultFloats(),
                    epilogue: epilogue(bias, context)
                )
            }
        }
    }

    private func packedAtRunTime(_ request: KernelRequest, _ bias: FloatSource) -> Kernel {
        let form = rowMajorForm(request)
        if request.operand(0)?.layout == .channelsLast {
            return Kernel("\(name), packing") { context in
                ConvolutionKernel.convolve(
                    context.floats(0),
                    packed(context),
                    geometry,
                    into: context.resultFloats(),
                    epilogue: epilogue(bias, context)
                )
            }
        }
        return Kernel("\(name), packing and transposing", scratchByteCount: form.scratchByteCount) { context in
            run(packed(context), bias, form, context)
        }
    }

    private func run(
        _ weights: some ConvolvingWeights,
        _ bias: FloatSource,
        _ form: RowMajorConvolution,
        _ context: KernelContext
    ) {
        form.run(
            context.floats(0),
            weights,
            into: context.resultFloats(),
            epilogue: epilogue(bias, context),
            scratch: context.scratch
        )
    }

    private func rowMajorForm(_ request: KernelRequest) -> RowMajorConvolution {
        RowMajorConvolution(
            geometry,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            hasResidual: request.operand(3) != nil
        )
    }
}

extension Convolution {
    package var halfPrecisionOperands: [Int] { [1] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0)?.logicalShape, let weight = request.operand(1)?.logicalShape else { return [] }
        return binding(x, weight, request.results[0].logicalShape).kernels(for: request)
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard operands.constant(1) != nil else { return .rowMajor }
        guard let x = try? operands.shape(0).counts, let weight = try? operands.shape(1).counts,
            let result = try? resultTypes(of: operands).first?.shape.counts,
            binding(x, weight, result).isFasterInPlanes
        else { return .channelsLast }
        return .channelsLastIfAdjacent
    }

    /// The kernels' view of the convolution, for concrete logical shapes.
    func binding(_ x: [Int], _ weight: [Int], _ result: [Int]) -> ConvolutionBinding {
        let window = geometry(x, weight, result)
        return ConvolutionBinding(
            geometry: window.kernelGeometry(batch: x[0]),
            inputChannels: x[1],
            outputChannels: result[1],
            kernel: window.kernel,
            groups: groups,
            isTransposed: false,
            function: activation.kernelFunction
        )
    }
}

extension ConvolutionTransposed {
    package var halfPrecisionOperands: [Int] { [1] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0)?.logicalShape, let weight = request.operand(1)?.logicalShape else { return [] }
        let result = request.results[0].logicalShape
        let window = geometry(x, weight, result)
        return ConvolutionBinding(
            geometry: ConvolutionGeometry(
                batch: x[0],
                inputSize: window.output,
                outputSize: window.input,
                strides: strides,
                dilations: dilations,
                paddingBefore: window.before
            ),
            inputChannels: x[1],
            outputChannels: result[1],
            kernel: window.kernel,
            groups: groups,
            isTransposed: true,
            function: activation.kernelFunction
        ).kernels(for: request)
    }
}
