import MLGraph
import MLKernels
import MLNumerics

/// A recurrent operator with a backward pass.
protocol BackwardRecurrence: Operator {
    /// The maximum number of operands; the gradients of the results follow them.
    static var operandCount: Int { get }
    static var resultCount: Int { get }
    /// The backward pass.
    var backward: RecurrentBackward { get }
}

/// The gradient of a recurrent operator: the steps are processed from the last to the first, with the states that the
/// operator recorded or that are recomputed.
///
/// Operands: those of the operator, then the gradients of its results, absent where the loss does not depend on them,
/// then what it recorded, absent when it did not.
/// Results: a gradient for each wanted operand of the operator.
struct RecurrentGradient<Recurrence: BackwardRecurrence>: Operator {
    var recurrence: Recurrence
    /// The indices of the operands whose gradients are computed, in ascending order.
    var wanted: [Int]

    init(_ recurrence: Recurrence, wanted: [Int]) {
        self.recurrence = recurrence
        self.wanted = wanted
    }

    var displayName: String { recurrence.displayName + "_gradient" }

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var types: [ValueType] = []
        for index in wanted { types.append(try operands.type(index)) }
        return types
    }

    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let count = Recurrence.operandCount
        let values = (0..<count + Recurrence.resultCount).map { operands.optional($0)?.values }
        let shapes = (0..<count).map { operands.optional($0)?.shape }
        let gradients = recurrence.backward.gradients(
            shapes: shapes,
            operands: Array(values.prefix(count)),
            resultGradients: Array(values.suffix(Recurrence.resultCount))
        )
        var results: [Tensor] = []
        for index in wanted {
            guard let gradient = gradients[index], let shape = shapes[index] else { continue }
            results.append(Tensor(values: gradient, scalarType: operands.scalarType(results.count), shape: shape))
        }
        return results
    }

    func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32) else { return [] }
        let count = Recurrence.operandCount
        let shapes = (0..<count).map { request.operand($0)?.logicalShape }
        let backward = recurrence.backward
        let results = (0..<count).map { wanted.firstIndex(of: $0) }
        let record = count + Recurrence.resultCount
        let isRecorded = request.operand(record) != nil
        return [
            Kernel(
                isRecorded ? "backwards" : "backwards, recomputing",
                scratchByteCount: backward.scratchCount(shapes, isRecorded: isRecorded) * 4
            ) { context in
                backward.run(
                    shapes: shapes,
                    operands: (0..<count).map { context.optionalFloats($0) },
                    resultGradients: (count..<record).map { context.optionalFloats($0) },
                    gradients: results.map { $0.map { context.resultFloats($0) } },
                    record: isRecorded ? context.optionalFloats(record) : nil,
                    scratch: context.scratchFloats
                )
            }
        ]
    }
}

extension BackwardRecurrence {
    /// Adds the operation of the backward pass, and sets its results as gradients.
    func differentiate(_ context: inout GradientContext) throws(ModelError) {
        var operands = context.operands
        while operands.count < Self.operandCount { operands.append(nil) }
        // A recording form has one result more.
        var resultGradients = Array(context.resultGradients.prefix(Self.resultCount))
        while resultGradients.count < Self.resultCount { resultGradients.append(nil) }
        let wanted = operands.indices.filter { operands[$0] != nil && context.isNeeded($0) }
        let gradients = try context.builder.append(
            RecurrentGradient(self, wanted: wanted),
            operands + resultGradients + context.results.dropFirst(Self.resultCount).map(Optional.some)
        )
        for (index, gradient) in zip(wanted, gradients) { context.setGradient(ofOperand: index, to: gradient) }
    }
}
