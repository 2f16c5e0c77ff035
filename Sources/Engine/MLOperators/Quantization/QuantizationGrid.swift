import MLKernels
package import MLGraph
package import MLNumerics

/// Linear quantisation without a zero point, to which a `quantize` and a `dequantize` are rewritten: x becomes the
/// integer clamp(round(x / scale), low, high), halves to even, which stands for that multiple of `step`.
package struct QuantizationGrid: Hashable, Sendable, Codable {
    /// The divisor of a number before rounding.
    package var scale: Double
    /// The value of the integer 1, usually the scale.
    package var step: Double
    package var low: Int
    package var high: Int

    /// `nil` for scales that are not positive normal numbers, and bounds that are not integers of 16 bits in order.
    package init?(scale: Double, step: Double, low: Int, high: Int) {
        guard Float(scale) > 0, Float(1 / scale).isNormal, Float(step).isFinite, low <= high,
            Int16(exactly: low) != nil, Int16(exactly: high) != nil
        else { return nil }
        self.scale = scale
        self.step = step
        self.low = low
        self.high = high
    }

    /// The greatest magnitude of a quantised integer.
    package var reach: Int { Swift.max(Swift.abs(low), Swift.abs(high)) }

    /// The type of the quantised integers: uint8 when all are in 0...127, as products of bytes require, otherwise
    /// int16.
    package var scalarType: ScalarType { low >= 0 && high <= 127 ? .uint8 : .int16 }

    /// The same with `low` at least 0; `nil` when there are no such integers.
    package var nonNegative: QuantizationGrid? {
        guard low < 0, high >= 0 else { return nil }
        return QuantizationGrid(scale: scale, step: step, low: 0, high: high)
    }

    /// The quantised integer for `x`.
    func quantize(_ x: Double) -> Double {
        let quotient = (x / scale).rounded(.toNearestOrEven)
        return quotient > Double(low) ? Swift.min(quotient, Double(high)) : Double(low)
    }

    var quantizer: LinearQuantizer {
        LinearQuantizer(inverse: Float(1 / scale), step: Float(step), low: Float(low), high: Float(high))
    }
}

/// Quantises numbers by a grid.
///
/// x [d…] of float32 → [d…] of the grid's type, int16 or uint8. Only passes create it.
package struct ToGrid: Operator {
    package var grid: QuantizationGrid

    package init(_ grid: QuantizationGrid) { self.grid = grid }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.type(0).with(grid.scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let values = operands[0].values.map { grid.quantize($0) }
        return [Tensor(values: values, scalarType: grid.scalarType, shape: operands[0].shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32, x.layout == request.results[0].layout else {
            return []
        }
        let (quantizer, count, type) = (grid.quantizer, x.count, grid.scalarType)
        return [
            Kernel("quantize to \(type)") { context in
                let y = MutableQuantizedIntegers(context.result(), areBytes: type == .uint8)
                quantizer.quantize(context.floats(0), into: y, count: count)
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

/// Dequantises integers: step · x.
///
/// x [d…] of int16 or uint8 → [d…] of float32. Only passes create it.
package struct FromGrid: Operator {
    package var step: Double

    package init(step: Double) { self.step = step }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.type(0).with(.float32)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let values = operands[0].values.map { $0 * step }
        return [Tensor(values: values, scalarType: .float32, shape: operands[0].shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .int16 || x.scalarType == .uint8,
            x.layout == request.results[0].layout
        else { return [] }
        let (step, count, type) = (Float(step), x.count, x.scalarType)
        return [
            Kernel("dequantize \(type)") { context in
                let x = QuantizedIntegers(context.operand(0), areBytes: type == .uint8)
                LinearQuantizer.dequantize(x, step: step, into: context.resultFloats(), count: count)
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

/// Fake quantisation: `ToGrid` and `FromGrid` in one step.
///
/// x [d…] of float32 → [d…] of float32. Only passes create it.
package struct OntoGrid: Operator {
    package var grid: QuantizationGrid

    package init(_ grid: QuantizationGrid) { self.grid = grid }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let values = operands[0].values.map { grid.quantize($0) * grid.step }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: operands[0].shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), request.isAll(.float32), x.layout == request.results[0].layout else {
            return []
        }
        let (quantizer, count) = (grid.quantizer, x.count)
        return [
            Kernel("round to quantized", inPlaceOperands: [0]) { context in
                quantizer.fakeQuantize(context.floats(0), into: context.resultFloats(), count: count)
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

extension ToGrid {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}

extension FromGrid {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}

extension OntoGrid {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}
