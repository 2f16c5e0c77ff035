import MLKernels
package import MLGraph
package import MLNumerics

/// A convolution or linear layer of quantised integers with exact sums: f(round(sum · scale[o] + bias[o]) + residual),
/// where only products whose sums are rounded have `rounded`.
///
/// Operands: x of int16 or uint8, weight of int8 or uint8 as in the layer, scale [O], zero point [O]? of int16 for the
/// weight, bias [O]?, residual? of the result's shape: float32, or int16 or uint8 in multiples of `residualStep`.
/// Result: float32, or of the type of `grid`. An x of uint8 has numbers of 0...127. Only passes create it.
package struct IntegerProduct: Operator {
    /// The layer, without an activation of its own.
    package enum Layer: Hashable, Sendable, Codable {
        case convolution(Convolution)
        case linear(Linear)
    }

    package var layer: Layer
    /// The greatest magnitude of an element of x.
    package var reach: Int
    package var rounded: QuantizationGrid?
    package var residualStep: Double
    package var activation: Activation
    package var grid: QuantizationGrid?

    package init(_ layer: Layer, reach: Int, residualStep: Double = 1, activation: Activation = .none) {
        self.layer = layer
        self.reach = reach
        self.residualStep = residualStep
        self.activation = activation
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let weight = try operands.type(1)
        guard Self.isQuantized(x.scalarType), weight.scalarType == .int8 || weight.scalarType == .uint8 else {
            throw ModelError(.invalidModel, "an integer product of \(x) and \(weight)")
        }
        let result = try layerType(x.with(.float32), weight.with(.float32))
        let columns = result.shape[channelAxis(rank: result.rank)]
        try checkVector(operands, 2, columns, "scale")
        try checkVector(operands, 3, columns, "zero point")
        try checkVector(operands, 4, columns, "bias")
        if operands.has(5) {
            let residual = try operands.type(5)
            guard residual.shape.count == result.rank,
                Self.isQuantized(residual.scalarType) || residual.scalarType == .float32
            else { throw ModelError(.invalidModel, "an integer product of type \(result) plus \(residual)") }
            _ = try broadcast(residual.shape, result.shape)
        }
        return [result.with(grid?.scalarType ?? .float32)]
    }

    private static func isQuantized(_ type: ScalarType) -> Bool { type == .int16 || type == .uint8 }

    private func layerType(_ x: ValueType, _ weight: ValueType) throws(ModelError) -> ValueType {
        let operands = Operands([Operands.Operand(type: x), Operands.Operand(type: weight)])
        switch layer {
        case .convolution(let layer): return try layer.resultTypes(of: operands)[0]
        case .linear(let layer): return try layer.resultTypes(of: operands)[0]
        }
    }

    /// The axis of the results that scales and biases belong to.
    private func channelAxis(rank: Int) -> Int {
        switch layer {
        case .convolution: 1
        case .linear: rank - 1
        }
    }

    /// The axis of the weight that numbers the results.
    package var resultAxis: Int {
        switch layer {
        case .convolution: 0
        case .linear(let layer): layer.weightAxes.columns
        }
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = operands.shape()
        let weight = operands[1]
        let axis = channelAxis(rank: shape.count)
        let (count, inner) = (shape[axis], shape.dropFirst(axis + 1).reduce(1, *))
        let perResult = weight.shape.dropFirst(resultAxis + 1).reduce(1, *)
        var codes = weight.values
        if let zero = operands.optional(3)?.values {
            for index in codes.indices { codes[index] -= zero[index / perResult % count] }
        }
        let plain = ReferenceOperands(
            [
                Tensor(values: operands[0].values, scalarType: .float64, shape: operands[0].shape),
                Tensor(values: codes, scalarType: .float64, shape: weight.shape),
            ],
            resultTypes: [operands.resultTypes[0].with(.float64)]
        )
        var values: [Double]
        switch layer {
        case .convolution(let layer): values = try layer.reference(plain)[0].values
        case .linear(let layer): values = try layer.reference(plain)[0].values
        }
        let scale = operands[2].values
        let bias = operands.optional(4)?.values
        let residual = operands.optional(5)
        let addends = residual?.values
        let step = residual.map { Self.isQuantized($0.scalarType) } == true ? residualStep : 1
        for index in values.indices {
            let channel = index / inner % count
            var value = values[index] * scale[channel] + (bias?[channel] ?? 0)
            if let rounded { value = rounded.quantize(value) * rounded.step }
            if let addends { value += addends[index] * step }
            value = activation.apply(value)
            values[index] = grid.map { $0.quantize(value) } ?? value
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard case .convolution = layer, operands.constant(1) != nil else { return .rowMajor }
        return .channelsLast
    }
}

extension IntegerProduct {
    /// Whether kernels compute the product of `terms` terms for each of `taps` taps: pairs, whose sums stay within 32 bits.
    package static func isExact(terms: Int, taps: Int, reach: Int, weights: ClosedRange<Int>) -> Bool {
        guard terms % 2 == 0, terms > 0 else { return false }
        let weightReach = Swift.max(Swift.abs(weights.lowerBound), Swift.abs(weights.upperBound))
        let (product, isLarge) = (terms * taps).multipliedReportingOverflow(by: reach * weightReach)
        return !isLarge && product < 1 << 31
    }

    /// Whether bytes of 0...127 can be multiplied with weights of this range as they are.
    package static func takesBytes(terms: Int, weights: ClosedRange<Int>) -> Bool {
        terms % IntegerWeights.Form.bytes.unit == 0 && weights.lowerBound >= -128 && weights.upperBound <= 127
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), Self.isQuantized(x.scalarType), let weight = request.operand(1)?.constant,
            let scale = request.operand(2), scale.scalarType == .float32, scale.constant != nil,
            let bias = FloatSource(request, 4), let result = request.results.first, x.count > 0, result.count > 0
        else { return [] }
        if let residual = request.operand(5) {
            guard residual.logicalShape == result.logicalShape, residual.layout == result.layout else { return [] }
        }
        guard request.operand(3) == nil || request.operand(3)?.constant != nil else { return [] }
        let zero = request.operand(3)?.constant?.integers.map { Int16(clamping: $0) } ?? []
        let (terms, taps, isTermsFirst) = order(weight.shape)
        let range = IntegerMatrix.range(of: weight.scalarType, zeros: zero.map { Int($0) })
        let isBytes = x.scalarType == .uint8
        guard Self.isExact(terms: terms, taps: taps, reach: reach, weights: range),
            !isBytes || Self.takesBytes(terms: terms, weights: range)
        else { return [] }
        let shape = IntegerWeights.Shape(
            form: isBytes ? .bytes : .pairs,
            terms: terms,
            columns: weight.shape[resultAxis],
            taps: taps,
            isTermsFirst: isTermsFirst
        )
        let name = "\(isBytes ? "of bytes " : "")\(weight.scalarType)"
        let scratch = grid == nil ? 0 : result.count * 4
        let pipeline = pipeline(bias, residual: request.operand(5)?.scalarType)
        switch layer {
        case .linear:
            guard x.layout == .rowMajor, result.layout == .rowMajor else { return [] }
            let rows = x.count / terms
            return [
                Kernel("integer gemm \(name)", scratchByteCount: scratch, packedOperands: [1]) {
                    guard let weights = packedIntegers(weight, zero: zero, shape: shape) else { return nil }
                    return { context in
                        let (pipeline, y) = pipeline(context)
                        let x = QuantizedIntegers(context.operand(0), areBytes: isBytes)
                        IntegerKernel.multiply(x, rows: rows, by: weights, into: y, pipeline: pipeline)
                    }
                }
            ]
        case .convolution(let layer):
            guard x.layout == .channelsLast, result.layout == .channelsLast, layer.groups == 1 else { return [] }
            let window = layer.geometry(x.logicalShape, weight.shape, result.logicalShape)
            let geometry = window.kernelGeometry(batch: x.logicalShape[0])
            return [
                Kernel("integer convolution \(name)", scratchByteCount: scratch, packedOperands: [1]) {
                    guard let weights = packedIntegers(weight, zero: zero, shape: shape) else { return nil }
                    return { context in
                        let (pipeline, y) = pipeline(context)
                        let x = QuantizedIntegers(context.operand(0), areBytes: isBytes)
                        IntegerKernel.convolve(
                            x,
                            weights,
                            kernel: window.kernel,
                            geometry,
                            into: y,
                            pipeline: pipeline
                        )
                    }
                }
            ]
        }
    }

    /// Terms at each tap, taps, and whether the terms come first, of a weight's shape.
    package func order(_ weight: [Int]) -> (terms: Int, taps: Int, isTermsFirst: Bool) {
        switch layer {
        case .convolution: (weight[1], weight.dropFirst(2).reduce(1, *), false)
        case .linear(let layer): (weight[layer.weightAxes.terms], 1, layer.transposesWeight)
        }
    }

    /// The operations on the sums of a run, and their destination.
    private func pipeline(
        _ bias: FloatSource,
        residual: ScalarType?
    ) -> @Sendable (KernelContext) -> (IntegerKernel.OutputPipeline, UnsafeMutablePointer<Float>) {
        let (rounded, step) = (rounded?.quantizer, Float(residualStep))
        let (function, grid, type) = (activation.kernelFunction, grid?.quantizer, grid?.scalarType)
        return { context in
            let pipeline = IntegerKernel.OutputPipeline(
                scale: context.floats(2),
                bias: bias.pointer(context),
                rounded: rounded,
                residual: residual == .float32
                    ? nil : context.optionalOperand(5).map { QuantizedIntegers($0, areBytes: residual == .uint8) },
                residualStep: step,
                addend: residual == .float32 ? context.optionalFloats(5) : nil,
                function: function,
                codes: grid.map { (MutableQuantizedIntegers(context.result(), areBytes: type == .uint8), $0) }
            )
            return (pipeline, grid == nil ? context.resultFloats() : context.scratchFloats)
        }
    }
}

extension IntegerProduct {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 1 ? try context.rows(self, along: [0, 5]) : nil
    }
}
