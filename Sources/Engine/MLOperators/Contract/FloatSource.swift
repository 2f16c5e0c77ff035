import MLGraph
import MLNumerics
import MLKernels

/// The source of a kernel's optional float32 operand: its buffer, or a widened copy of a half-precision constant.
enum FloatSource: Sendable {
    case absent
    case operand(Int)
    case copy(Tensor)

    /// `nil` when the operand is given but cannot be read as float32.
    init?(_ request: KernelRequest, _ index: Int) {
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

    func pointer(_ context: KernelContext) -> UnsafePointer<Float>? {
        switch self {
        case .absent: nil
        case .operand(let index): context.floats(index)
        case .copy(let tensor): UnsafePointer(tensor.address.assumingMemoryBound(to: Float.self))
        }
    }
}

extension KernelRequest {
    /// Whether operand `index` is a float32 value and every result is float32.
    func computesFloats(operand index: Int = 0) -> Bool {
        operand(index)?.scalarType == .float32 && results.allSatisfy { $0.scalarType == .float32 }
    }
}

extension Tensor {
    /// Calls `single` or `half` with the elements of a float32 or float16 tensor.
    func withFloatStorage<R>(
        single: (UnsafePointer<Float>) -> R,
        half: (UnsafePointer<UInt16>) -> R
    ) -> R {
        storage.withPassingBytes(from: byteOffset, count: byteCount) { bytes in
            scalarType == .float16
                ? half(bytes.assumingMemoryBound(to: UInt16.self)) : single(bytes.assumingMemoryBound(to: Float.self))
        }
    }

    /// Whether weights of this type can be packed.
    var isPackable: Bool { scalarType == .float32 || scalarType == .float16 }
}

extension KernelRequest {
    /// Operand 0 and the result when both are float32, not empty and have the same layout.
    var floatPair: Buffer? {
        guard computesFloats(), let x = operand(0), let y = results.first, x.layout == y.layout, x.count > 0 else {
            return nil
        }
        return x
    }
}
