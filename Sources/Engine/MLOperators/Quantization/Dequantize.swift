package import MLGraph
package import MLNumerics
import MLKernels

/// Scale and zero point along one axis of a quantised tensor, as plain numbers.
struct AxisQuantization {
    private let scale: [Double]
    private let zeroPoint: [Double]
    private let inner: Int
    private let extent: Int

    /// Reads scale and zero point.
    ///
    /// - Parameters:
    ///   - shape: The shape of the data.
    ///   - scale: The scale, a scalar or a vector.
    ///   - zeroPoint: The zero point, a scalar or a vector; `nil` for 0.
    ///   - axis: The axis of vectors; ignored when scale and zero point are scalars.
    init(shape: [Int], scale: Tensor, zeroPoint: Tensor?, axis: Int) {
        self.scale = scale.values
        self.zeroPoint = zeroPoint?.values ?? [0]
        guard self.scale.count > 1 || self.zeroPoint.count > 1 else {
            (inner, extent) = (1, 1)
            return
        }
        let axis = axis < 0 ? axis + shape.count : axis
        inner = Swift.max(shape.dropFirst(axis + 1).reduce(1, *), 1)
        extent = shape.isEmpty ? 1 : Swift.max(shape[axis], 1)
    }

    func scale(at index: Int) -> Double { scale.count == 1 ? scale[0] : scale[index / inner % extent] }
    func zeroPoint(at index: Int) -> Double { zeroPoint.count == 1 ? zeroPoint[0] : zeroPoint[index / inner % extent] }

    /// Throws unless scale and zero point are scalars or vectors along `axis` of `data`.
    static func check(_ operands: Operands, scale: Int, zeroPoint: Int, axis: Int?) throws(ModelError) {
        let data = try operands.type(0)
        for index in [scale, zeroPoint] where operands.has(index) {
            let shape = try operands.shape(index)
            if shape.elementCount.count == 1 { continue }
            guard let axis, shape.count == 1 else {
                throw ModelError(
                    .invalidModel,
                    "scale and zero point must be scalars, or vectors together with an axis, not \(shape)"
                )
            }
            let extent = data.shape[try normalizedAxis(axis, rank: data.rank)]
            guard shape[0] == extent || !extent.isKnown || !shape[0].isKnown else {
                throw ModelError(.invalidModel, "\(shape[0]) scales or zero points for an axis of \(extent) elements")
            }
        }
    }
}

/// Dequantises integers: y = scale · (x − zeroPoint), with one scale and zero point for all or for each index of
/// `axis`.
///
/// Operands: x, scale, zero point?. Result: of the scale's type.
package struct Dequantize: Operator {
    package static let names: [MILName] = [MILName("dequantize", .iOS17 ... .newest)]

    package var axis: Int?

    package init(axis: Int? = nil) { self.axis = axis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("input")
        try arguments.operand("scale")
        arguments.optionalOperand("zero_point")
        axis = arguments.has("axis") ? try arguments.int("axis") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try AxisQuantization.check(operands, scale: 1, zeroPoint: 2, axis: axis)
        return [try operands.type(0).with(operands.type(1).scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [dequantized(operands[0], operands[1], operands.optional(2), axis ?? 0, as: operands.scalarType())]
    }
}

extension Dequantize {
    package var halfPrecisionOperands: [Int] { [] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let number = request.operand(0)?.scalarType.quantizedNumber, request.results[0].scalarType == .float32,
            request.operand(0)?.layout == .rowMajor, request.results[0].layout == .rowMajor,
            let line = ChannelQuantization(request, axis: axis)
        else { return [] }
        let offsets = zip(line.scale.values, line.zeroPoint.values).map { -$0 * $1 }
        let shift = Tensor(values: offsets, scalarType: .float32, shape: [line.channels])
        let count = request.results[0].count
        return [
            Kernel("dequantize") { context in
                let y = context.resultFloats()
                Conversion.run(context.operand(0), number, to: y, .float32, count: count)
                ElementwiseKernel.scaleShift(
                    y,
                    into: y,
                    outer: line.outer,
                    channels: line.channels,
                    inner: line.inner,
                    scale: line.scale.floats,
                    shift: shift.floats
                )
            }
        ]
    }
}

/// Dequantises constant integers; the form of weights in opset iOS16.
///
/// Operands: quantised data, zero point, scale. Result: of the scale's type.
package struct ConstexprAffineDequantize: Operator {
    package static let names: [MILName] = [MILName("constexpr_affine_dequantize", .iOS16 ... .newest)]

    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("quantized_data")
        try arguments.operand("zero_point")
        try arguments.operand("scale")
        axis = try arguments.int("axis", default: 0)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try AxisQuantization.check(operands, scale: 2, zeroPoint: 1, axis: axis)
        return [try operands.type(0).with(operands.type(2).scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [dequantized(operands[0], operands[2], operands[1], axis, as: operands.scalarType())]
    }

    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        let type = operands[0].scalarType
        return (type == .int8 || type == .uint8) && operands[1].scalarType == type
            && staysCompressed(operands[0].count, operands[0], operands[2])
    }
}

private func dequantized(
    _ data: Tensor,
    _ scale: Tensor,
    _ zeroPoint: Tensor?,
    _ axis: Int,
    as scalarType: ScalarType
) -> Tensor {
    let position = axis < 0 ? axis + data.shape.count : axis
    let count = Swift.max(scale.count, zeroPoint?.count ?? 1)
    let blocks = data.shape.indices.map { $0 == position ? count : 1 }
    if let decoded = WeightDecoding.dequantize(data, scale: scale, offset: zeroPoint, blocks: blocks, as: scalarType) {
        return decoded
    }
    let line = AxisQuantization(shape: data.shape, scale: scale, zeroPoint: zeroPoint, axis: axis)
    var values = data.values
    for index in values.indices {
        values[index] = line.scale(at: index) * (values[index] - line.zeroPoint(at: index))
    }
    return Tensor(values: values, scalarType: scalarType, shape: data.shape)
}

extension Dequantize {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard let axis else { return try context.elements(self) }
        var shifted = self
        return try context.overAxis(axis) { position in
            shifted.axis = position
            return shifted
        }
    }
}
