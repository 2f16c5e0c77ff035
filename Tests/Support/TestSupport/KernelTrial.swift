import MLGraph
import MLNumerics

/// Runs every kernel that an operator offers for one choice of layouts, in guarded memory.
struct KernelTrial {
    private let problem: OperatorProblem
    private let results: [Tensor]
    private let layouts: [Layout]
    private var count: Int { problem.operands.count }

    /// - Parameter layouts: of the operands, then of the results.
    init(_ problem: OperatorProblem, results: [Tensor], layouts: [Layout]) {
        self.problem = problem
        self.results = results
        self.layouts = layouts
    }

    func failures() -> [String] {
        let buffers = problem.operands.enumerated().map { index, tensor in
            tensor.map {
                KernelRequest.Buffer(
                    scalarType: $0.scalarType,
                    logicalShape: $0.shape,
                    layout: layouts[index],
                    constant: problem.constants.contains(index) ? $0 : nil
                )
            }
        }
        let request = KernelRequest(
            operands: buffers,
            results: results.enumerated().map { index, tensor in
                KernelRequest.Buffer(
                    scalarType: tensor.scalarType,
                    logicalShape: tensor.shape,
                    layout: layouts[count + index]
                )
            }
        )
        guard problem.operands.allSatisfy({ $0?.scalarType.isSubByte != true && $0?.scalarType != .string }) else {
            return []
        }
        var failures: [String] = []
        for kernel in problem.op.kernels(for: request) {
            let place = "kernel '\(kernel.name)', \(layouts.contains(.channelsLast) ? "channels-last" : "row-major")"
            guard let body = kernel.checked ?? kernel.prepare().map(unchecked) else { continue }
            if let alias = kernel.alias {
                failures += aliased(alias).map { "\(place): \($0)" }
                continue
            }
            CensusRecord.shared?.note(problem.op, kernel: kernel.name)
            failures += run(kernel, body, inPlace: nil).map { "\(place): \($0)" }
            for operand in kernel.inPlaceOperands where problem.operands[operand] != nil {
                if problem.operands[operand].map({ $0.byteCount }) != results.first?.byteCount { continue }
                failures += run(kernel, body, inPlace: operand).map {
                    "\(place), in place of operand \(operand): \($0)"
                }
            }
        }
        return failures
    }

    private func physical(_ tensor: Tensor, _ layout: Layout) -> Tensor {
        layout == .rowMajor ? tensor : tensor.permuted(layout.permutation(rank: tensor.shape.count))
    }

    private func aliased(_ alias: (operand: Int, byteOffset: Int)) -> [String] {
        guard let operand = problem.operands[alias.operand], let wanted = results.first else { return ["no operand"] }
        let source = physical(operand, layouts[alias.operand])
        let target = physical(wanted, layouts[count])
        guard alias.byteOffset + target.byteCount <= source.byteCount else { return ["the view exceeds the operand"] }
        let view = Tensor(
            scalarType: target.scalarType,
            shape: target.shape,
            storage: source.storage,
            byteOffset: source.byteOffset + alias.byteOffset
        )
        return difference(view, target, tolerance: 0).map { [$0] } ?? []
    }

    private func unchecked(_ body: @escaping Kernel.Body) -> Kernel.CheckedBody {
        { (context) throws(ModelError) in body(context) }
    }

    private func run(_ kernel: Kernel, _ body: Kernel.CheckedBody, inPlace: Int?) -> [String] {
        let inputs = problem.operands.enumerated().map { index, tensor in
            tensor.map { GuardedBuffer(physical($0, layouts[index])) }
        }
        let outputs = results.enumerated().map { index, tensor in
            index == 0 && inPlace != nil
                ? inputs[inPlace ?? 0] ?? GuardedBuffer(byteCount: tensor.byteCount)
                : GuardedBuffer(byteCount: tensor.byteCount)
        }
        let scratch = GuardedBuffer(byteCount: kernel.scratchByteCount)
        var pointers: [UnsafeMutableRawPointer?] = []
        var slots: [Int32] = []
        for buffer in inputs + outputs.map(Optional.some) {
            slots.append(buffer == nil ? -1 : Int32(pointers.count))
            if let buffer { pointers.append(buffer.address) }
        }
        pointers.append(nil)
        var objection: ModelError?
        pointers.withUnsafeBufferPointer { pointers in
            slots.withUnsafeBufferPointer { slots in
                guard let pointers = pointers.baseAddress, let slots = slots.baseAddress else { return }
                let context = KernelContext(
                    pointers: pointers,
                    slots: slots,
                    operandCount: count,
                    scratch: scratch.address
                )
                do throws(ModelError) { try body(context) } catch { objection = error }
            }
        }
        var failures = objection.map { ["throws \($0)"] } ?? []
        for (index, (output, wanted)) in zip(outputs, results).enumerated() {
            let target = physical(wanted, layouts[count + index])
            if let text = difference(output.tensor(target), target, tolerance: problem.tolerance) {
                failures.append("result \(index): \(text)")
            }
            if !output.isIntact { failures.append("writes outside result \(index)") }
        }
        for (index, input) in inputs.enumerated() where index != inPlace {
            if let input, !input.isUnchanged { failures.append("writes to operand \(index)") }
        }
        if !scratch.isIntact { failures.append("writes outside its \(kernel.scratchByteCount) bytes of scratch") }
        return failures
    }
}

/// Memory with watched bytes before and after it, filled with a pattern that is NaN as a float.
private final class GuardedBuffer {
    private static let margin = 256
    private static let pattern: UInt8 = 0xFF
    private let base: UnsafeMutableRawPointer
    private let byteCount: Int
    private var original: [UInt8] = []

    var address: UnsafeMutableRawPointer { base + Self.margin }

    init(byteCount: Int) {
        self.byteCount = byteCount
        let total = byteCount + 2 * Self.margin
        base = UnsafeMutableRawPointer.allocate(byteCount: total, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: Self.pattern, count: total)
    }

    convenience init(_ tensor: Tensor) {
        self.init(byteCount: tensor.byteCount)
        address.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
        original = bytes
    }

    deinit { base.deallocate() }

    private var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: address, count: byteCount)) }
    var isUnchanged: Bool { isIntact && bytes == original }

    var isIntact: Bool {
        for offset in 0..<Self.margin {
            if base.load(fromByteOffset: offset, as: UInt8.self) != Self.pattern { return false }
            if address.load(fromByteOffset: byteCount + offset, as: UInt8.self) != Self.pattern { return false }
        }
        return true
    }

    /// The contents as a tensor with the type and shape of `form`.
    func tensor(_ form: Tensor) -> Tensor {
        let tensor = Tensor(uninitialized: form.scalarType, shape: form.shape)
        tensor.address.copyMemory(from: address, byteCount: byteCount)
        return tensor
    }
}
