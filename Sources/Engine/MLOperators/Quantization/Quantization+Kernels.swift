package import MLGraph
import MLKernels
import MLNumerics

/// Scale and zero point as float32 vectors over [outer, channels, inner].
private struct QuantizationLine: Sendable {
    let outer: Int
    let channels: Int
    let inner: Int
    let scale: Tensor
    let zeroPoint: Tensor

    init?(_ request: KernelRequest, axis: Int?) {
        guard let shape = request.operand(0)?.logicalShape, let scale = request.operand(1)?.constant,
            request.operand(2) == nil || request.operand(2)?.constant != nil, shape.elementCount > 0
        else { return nil }
        let zeroPoint = request.operand(2)?.constant
        let isScalar = scale.count == 1 && (zeroPoint?.count ?? 1) == 1
        if isScalar {
            (outer, channels, inner) = (1, 1, shape.elementCount)
        } else {
            guard let axis, let place = try? normalizedAxis(axis, rank: shape.count) else { return nil }
            channels = shape[place]
            inner = shape.dropFirst(place + 1).reduce(1, *)
            outer = shape.elementCount / (channels * inner)
        }
        func filled(_ tensor: Tensor?, _ count: Int) -> Tensor {
            let values = tensor?.values ?? [0]
            let numbers = values.count == 1 ? [Double](repeating: values[0], count: count) : values
            return Tensor(values: numbers, scalarType: .float32, shape: [count])
        }
        self.scale = filled(scale, channels)
        self.zeroPoint = filled(zeroPoint, channels)
    }
}

extension ScalarType {
    /// The kernels' name for a quantised type.
    fileprivate var quantizedNumber: Conversion.Number? {
        switch self {
        case .int8: .int8
        case .uint8: .uint8
        default: nil
        }
    }
}

extension Dequantize {
    package var halfPrecisionOperands: [Int] { [] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let number = request.operand(0)?.scalarType.quantizedNumber, request.results[0].scalarType == .float32,
            request.operand(0)?.layout == .rowMajor, request.results[0].layout == .rowMajor,
            let line = QuantizationLine(request, axis: axis)
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
                    scale: UnsafePointer(line.scale.address.assumingMemoryBound(to: Float.self)),
                    shift: UnsafePointer(shift.address.assumingMemoryBound(to: Float.self))
                )
            }
        ]
    }
}

extension Quantize {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let number = request.results[0].scalarType.quantizedNumber, request.operand(0)?.scalarType == .float32,
            request.operand(0)?.layout == .rowMajor, request.results[0].layout == .rowMajor,
            let line = QuantizationLine(request, axis: axis)
        else { return [] }
        let count = request.results[0].count
        let sizes = [line.outer, line.channels, line.inner]
        let strides = sizes.rowMajorStrides
        return [
            Kernel("quantize", scratchByteCount: count * 4) { context in
                let y = context.scratch.assumingMemoryBound(to: Float.self)
                ElementwiseKernel.combine(
                    .divide,
                    sizes: sizes,
                    context.floats(0),
                    strides: strides,
                    UnsafePointer(line.scale.address.assumingMemoryBound(to: Float.self)),
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
                    shift: UnsafePointer(line.zeroPoint.address.assumingMemoryBound(to: Float.self))
                )
                Conversion.run(y, .float32, to: context.result(), number, count: count)
            }
        ]
    }
}
