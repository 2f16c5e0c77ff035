import MLGraph
import MLKernels
import MLNumerics

/// A kernel's source of int32 indices: the operand, or a conversion of it in the step's scratch memory.
struct IndexSource: Sendable {
    private let operand: Int
    private let number: Conversion.Number
    let count: Int
    /// The size of the scratch buffer that `pointer` needs.
    var scratchByteCount: Int { number == .int32 ? 0 : count * 4 }

    /// `nil` when operand `index` does not hold integers that kernels convert.
    init?(_ request: KernelRequest, _ index: Int) {
        guard let buffer = request.operand(index), buffer.scalarType.isInteger,
            let number = Conversion.Number(buffer.scalarType), buffer.layout == .rowMajor
        else { return nil }
        operand = index
        self.number = number
        count = buffer.count
    }

    func pointer(_ context: KernelContext) -> UnsafePointer<Int32> {
        guard number != .int32 else { return context.integers(operand) }
        Conversion.run(context.operand(operand), number, to: context.scratch, .int32, count: count)
        return UnsafePointer(context.scratch.assumingMemoryBound(to: Int32.self))
    }
}

extension ScatterKernel {
    /// The kernel for elements of `type`, `nil` when there is none.
    init?(_ mode: ScatterMode, _ type: ScalarType) {
        guard let width = type.copyWidth, mode == .update || type == .float32 || type == .int32 else { return nil }
        let lowered: Mode =
            switch mode {
            case .update: .update
            case .add: .add
            case .sub: .subtract
            case .mul: .multiply
            case .div: .divide
            case .max: .maximum
            case .min: .minimum
            }
        self.init(lowered, elementByteCount: width, isInteger: type == .int32)
    }
}
