package import MLNumerics

/// The source of a kernel's optional float32 operand: its buffer, or a widened copy of a half-precision constant.
package enum FloatSource: Sendable {
    case absent
    case operand(Int)
    case copy(Tensor)

    /// `nil` when the operand is given but cannot be read as float32.
    package init?(_ request: KernelRequest, _ index: Int) {
        guard let buffer = request.operand(index) else {
            self = .absent
            return
        }
        if buffer.scalarType == .float32 {
            self = .operand(index)
        } else if let constant = buffer.constant, buffer.scalarType == .float16 {
            self = .copy(constant.converted(to: .float32))
        } else {
            return nil
        }
    }

    /// The numbers, [count]; `nil` when there are none.
    package func pointer(_ context: KernelContext) -> UnsafePointer<Float>? {
        switch self {
        case .absent: nil
        case .operand(let index): context.floats(index)
        case .copy(let tensor): tensor.floats
        }
    }
}
