package import MLGraph
package import MLNumerics
import MLKernels

/// Quantises numbers: y = clamp(round(x / scale) + zeroPoint), halves to even, with one scale and zero point for all or
/// for each index of `axis`.
///
/// Operands: x, scale, zero point?. Result: int8 or uint8.
package struct Quantize: Operator {
    package static let names: [MILName] = [MILName("quantize", .iOS17 ... .newest)]

    package var scalarType: ScalarType
    package var axis: Int?

    package init(to scalarType: ScalarType, axis: Int? = nil) {
        self.scalarType = scalarType
        self.axis = axis
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("input")
        try arguments.operand("scale")
        arguments.optionalOperand("zero_point")
        let name = try arguments.string("output_dtype")
        guard let type = ScalarType(milName: name), type == .int8 || type == .uint8 else {
            throw ModelError(.invalidModel, "output_dtype '\(name)' of quantize is neither int8 nor uint8")
        }
        scalarType = type
        axis = arguments.has("axis") ? try arguments.int("axis") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try AxisQuantization.check(operands, scale: 1, zeroPoint: 2, axis: axis)
        return [try operands.type(0).with(scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let line = AxisQuantization(
            shape: x.shape,
            scale: operands[1],
            zeroPoint: operands.optional(2),
            axis: axis ?? 0
        )
        var values = x.values
        for index in values.indices {
            values[index] =
                (values[index] / line.scale(at: index)).rounded(.toNearestOrEven) + line.zeroPoint(at: index)
        }
        return [Tensor(values: values, scalarType: scalarType, shape: x.shape)]
    }
}

extension Quantize {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let number = request.results[0].scalarType.quantizedNumber, request.operand(0)?.scalarType == .float32,
            request.operand(0)?.layout == .rowMajor, request.results[0].layout == .rowMajor,
            let line = ChannelQuantization(request, axis: axis)
        else { return [] }
        let count = request.results[0].count
        let sizes = [line.outer, line.channels, line.inner]
        let strides = sizes.rowMajorStrides
        return [
            Kernel("quantize", scratchByteCount: count * 4) { context in
                let y = context.scratchFloats
                ElementwiseKernel.binary(
                    .divide,
                    sizes: sizes,
                    context.floats(0),
                    strides: strides,
                    line.scale.floats,
                    strides: [0, 1, 0],
                    into: y
                )
                ElementwiseKernel.map(.round, y, into: y, count: count)
                ElementwiseKernel.scaleShift(
                    y,
                    into: y,
                    outer: line.outer,
                    channels: line.channels,
                    inner: line.inner,
                    scale: nil,
                    shift: line.zeroPoint.floats
                )
                Conversion.run(y, .float32, to: context.result(), number, count: count)
            }
        ]
    }
}

extension Quantize {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard let axis else { return try context.elements(self) }
        var shifted = self
        return try context.overAxis(axis) { position in
            shifted.axis = position
            return shifted
        }
    }
}
