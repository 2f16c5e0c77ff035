import MLGraph
import MLKernels
import MLNumerics

/// Scale and zero point as float32 vectors over [outer, channels, inner].
struct ChannelQuantization: Sendable {
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
            guard let axis, let position = try? normalizedAxis(axis, rank: shape.count) else { return nil }
            channels = shape[position]
            inner = shape.dropFirst(position + 1).reduce(1, *)
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
    var quantizedNumber: Conversion.Number? {
        switch self {
        case .int8: .int8
        case .uint8: .uint8
        default: nil
        }
    }
}
