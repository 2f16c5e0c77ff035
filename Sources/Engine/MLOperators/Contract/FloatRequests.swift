import MLGraph
import MLNumerics

extension KernelRequest {
    /// Whether operand `index` is a float32 value and every result is float32.
    func computesFloats(operand index: Int = 0) -> Bool {
        operand(index)?.scalarType == .float32 && results.allSatisfy { $0.scalarType == .float32 }
    }

    /// Operand 0 and the result when both are float32, not empty and have the same layout.
    var floatPair: Buffer? {
        guard computesFloats(), let x = operand(0), let y = results.first, x.layout == y.layout, x.count > 0 else {
            return nil
        }
        return x
    }
}

extension Tensor {
    /// Whether weights of this type can be packed.
    var isPackable: Bool { scalarType == .float32 || scalarType == .float16 }
}
