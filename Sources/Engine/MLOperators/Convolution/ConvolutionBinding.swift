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
            return [atRunTime(request, bias)]
        }
        guard constant.isPackable else { return [] }
        return [x.layout == .channelsLast ? channelsLast(constant, bias) : rowMajor(request, constant, bias)]
    }

    private func packed(_ weight: Tensor) -> ConvolutionWeights? {
        let packing = ConvolutionWeights.form(
            geometry,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed
        )
        let form =
            "convolution \(inputChannels) \(outputChannels) \(groups) \(isTransposed) \(packing) \(InstructionSet.current)"
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
                single: { weights($0, geometry: geometry) },
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

    private func weights(
        _ source: UnsafePointer<Float>,
        geometry: ConvolutionGeometry? = nil
    ) -> ConvolutionWeights {
        ConvolutionWeights(
            source,
            inputChannels: inputChannels,
            outputChannels: outputChannels,
            kernel: kernel,
            groups: groups,
            isTransposed: isTransposed,
            geometry: geometry
        )
    }

    private var name: String { isTransposed ? "transposed convolution" : "convolution" }

    private func channelsLast(_ weight: Tensor, _ bias: FloatSource) -> Kernel {
        Kernel("\(name) \(weight.scalarType.milName)", packedOperands: [1]) {
            guard let weights = packed(weight) else { return nil }
            return { context in
                let epilogue = Epilogue(
                    bias: bias.pointer(context),
                    residual: context.optionalFloats(3),
                    function: function
                )
                ConvolutionKernel.convolve(
                    context.floats(0),
                    weights,
                    geometry,
                    into: context.resultFloats(),
                    epilogue: epilogue
                )
            }
        }
    }

    private func rowMajor(_ request: KernelRequest, _ weight: Tensor, _ bias: FloatSource) -> Kernel {
        if isFasterInPlanes { return planes(weight, bias) }
        let space = TransposedSpace(request)
        let name = "\(name) \(weight.scalarType.milName), transposing"
        return Kernel(name, scratchByteCount: space.byteCount, packedOperands: [1]) {
            guard let weights = packed(weight) else { return nil }
            return { context in run(weights, bias, space, context) }
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

    private func planes(_ weight: Tensor, _ bias: FloatSource) -> Kernel {
        Kernel("\(name) \(weight.scalarType.milName) of planes", packedOperands: [1]) {
            let form = "planes \(inputChannels) \(outputChannels) \(groups) \(InstructionSet.current)"
            let weights = PackedConstants.packed(weight, form: form) { memory in
                PlaneConvolution(
                    stored: memory,
                    inputChannels: inputChannels,
                    outputChannels: outputChannels,
                    kernel: kernel,
                    groups: groups
                )
            } make: {
                func packed(_ source: UnsafeRawPointer, isHalf: Bool) -> PlaneConvolution {
                    PlaneConvolution(
                        source,
                        isHalf: isHalf,
                        inputChannels: inputChannels,
                        outputChannels: outputChannels,
                        kernel: kernel,
                        groups: groups
                    )
                }
                return weight.withFloatStorage(
                    single: { packed($0, isHalf: false) },
                    half: { packed($0, isHalf: true) }
                )
            }
            guard let weights else { return nil }
            return { context in
                let epilogue = Epilogue(
                    bias: bias.pointer(context),
                    residual: context.optionalFloats(3),
                    function: function
                )
                weights.run(context.floats(0), geometry, into: context.resultFloats(), epilogue: epilogue)
            }
        }
    }

    private func atRunTime(_ request: KernelRequest, _ bias: FloatSource) -> Kernel {
        let space = TransposedSpace(request)
        if request.operand(0)?.layout == .channelsLast {
            return Kernel("\(name), packing") { context in
                let epilogue = Epilogue(
                    bias: bias.pointer(context),
                    residual: context.optionalFloats(3),
                    function: function
                )
                ConvolutionKernel.convolve(
                    context.floats(0),
                    weights(context.floats(1)),
                    geometry,
                    into: context.resultFloats(),
                    epilogue: epilogue
                )
            }
        }
        return Kernel("\(name), packing and transposing", scratchByteCount: space.byteCount) { context in
            run(weights(context.floats(1)), bias, space, context)
        }
    }

    /// Row-major operands and result, transposed to channels-last and back in scratch memory.
    private func run(
        _ weights: ConvolutionWeights,
        _ bias: FloatSource,
        _ space: TransposedSpace,
        _ context: KernelContext
    ) {
        let x = context.scratchFloats
        let y = (context.scratch + space.resultOffset).assumingMemoryBound(to: Float.self)
        Transposition.run(
            context.floats(0),
            x,
            batch: geometry.batch,
            rows: inputChannels,
            columns: space.inputCount
        )
        let turned = (context.scratch + space.residualOffset).assumingMemoryBound(to: Float.self)
        let residual = context.optionalFloats(3)
        if let residual {
            Transposition.run(
                residual,
                turned,
                batch: geometry.batch,
                rows: outputChannels,
                columns: space.outputCount
            )
        }
        let epilogue = Epilogue(
            bias: bias.pointer(context),
            residual: residual == nil ? nil : UnsafePointer(turned),
            function: function
        )
        ConvolutionKernel.convolve(x, weights, geometry, into: y, epilogue: epilogue)
        Transposition.run(
            y,
            context.resultFloats(),
            batch: geometry.batch,
            rows: space.outputCount,
            columns: outputChannels
        )
    }
}

/// Scratch for channels-last copies of x, the result and the residual.
private struct TransposedSpace: Sendable {
    let inputCount: Int
    let outputCount: Int
    let resultOffset: Int
    let residualOffset: Int
    let byteCount: Int

    init(_ request: KernelRequest) {
        let x = request.operands[0]?.logicalShape ?? []
        let y = request.results[0].logicalShape
        inputCount = x.dropFirst(2).reduce(1, *)
        outputCount = y.dropFirst(2).reduce(1, *)
        resultOffset = (x.elementCount * 4 + 63) / 64 * 64
        residualOffset = resultOffset + (y.elementCount * 4 + 63) / 64 * 64
        byteCount = request.operand(3) == nil ? residualOffset : residualOffset + y.elementCount * 4
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
        return .channelsLastInCompany
    }

    private func binding(_ x: [Int], _ weight: [Int], _ result: [Int]) -> ConvolutionBinding {
        let window = geometry(x, weight, result)
        return ConvolutionBinding(
            geometry: ConvolutionGeometry(
                batch: x[0],
                inputSize: window.input,
                outputSize: window.output,
                strides: strides,
                dilations: dilations,
                paddingBefore: window.before
            ),
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
