package import MLGraph
package import MLNumerics
import MLOperators
import Synchronization

/// A tensor that is computed when its elements are asked for.
///
/// Shape and scalar type are known at once. Operations are recorded; `elements(of:)` computes all that some tensors need as
/// one graph, with the passes and plans of models. A tensor that anybody still holds is computed once: its elements are
/// kept with the others'. Copies share everything.
package struct LazyTensor: Sendable {
    /// The operators of the graph, for modules that only pass them on.
    package typealias Operator = MLGraph.Operator

    /// An operand of an operation.
    package enum Operand: Sendable {
        case tensor(LazyTensor)
        /// A number, which a plan treats as a constant.
        case scalar(Tensor)
        /// Contents that determine the result's shape, such as the new shape of `reshape`.
        case parameter(Tensor)

        var type: ValueType {
            switch self {
            case .tensor(let tensor): tensor.type
            case .scalar(let tensor), .parameter(let tensor): ValueType(tensor.scalarType, Shape(tensor.shape))
            }
        }

        fileprivate var parameter: Tensor? {
            if case .parameter(let tensor) = self { tensor } else { nil }
        }
    }

    /// Counts as one user of a step's results for as long as it lives.
    private final class Use: Sendable {
        let step: LazyStep
        init(_ step: LazyStep) {
            self.step = step
            step.useCount.add(1, ordering: .relaxed)
        }
        deinit { step.useCount.subtract(1, ordering: .relaxed) }
    }

    private let use: Use
    private let index: Int

    private init(_ use: Use, index: Int = 0) {
        self.use = use
        self.index = index
    }

    /// A tensor whose elements are known.
    package init(_ tensor: Tensor) { self.init(Use(LazyStep(tensor))) }

    /// The results of an operation.
    ///
    /// - Parameters:
    ///   - op: The operator; it depends on its operands alone, and the extents of its results do not depend on data.
    ///   - operands: In the operator's order.
    /// - Returns: One tensor for each result.
    /// - Throws: `.invalidModel` when the operands contradict the operator's rules.
    package static func results(
        of op: any MLGraph.Operator,
        _ operands: [Operand]
    ) throws(ModelError) -> [LazyTensor] {
        let types = try op.resultTypes(
            of: Operands(operands.map { Operands.Operand(type: $0.type, constant: $0.parameter) })
        )
        for type in types { try type.requireStorable() }
        let use = Use(LazyStep(op, operands.map(LazyStep.Operand.init), types))
        return types.indices.map { LazyTensor(use, index: $0) }
    }

    /// The same elements in another shape; they are not copied when they are known.
    package func reshaped(_ shape: [Int]) throws(ModelError) -> LazyTensor {
        if let known = knownElements, known.count == shape.elementCount { return LazyTensor(known.reshaped(shape)) }
        // 0 would copy an extent: a tensor without elements is made anew.
        if shape.contains(0) { return LazyTensor(Tensor(uninitialized: scalarType, shape: shape)) }
        let extents = Tensor(shape.map { Int32(clamping: $0) }, shape: [shape.count])
        return try Self.results(of: Reshape(), [.tensor(self), .parameter(extents)])[0]
    }

    var step: LazyStep { use.step }
    var source: LazySource { LazySource(step: use.step, index: index) }
    package var type: ValueType { use.step.types[index] }
    package var scalarType: ScalarType { type.scalarType }
    package var rank: Int { type.rank }
    package var shape: [Int] { type.shape.counts ?? [] }

    /// The elements, when they have been computed.
    package var knownElements: Tensor? { use.step.result(index) }

    /// The elements of tensors, computed together now.
    ///
    /// Call it where a thread may be busy for long. Tensors that others compute at the same time are computed by both; the
    /// first result is kept.
    ///
    /// - Parameter tensors: The tensors.
    /// - Returns: Their elements, in the same order.
    /// - Throws: `.cancelled` when the current prediction is cancelled, and errors of planning.
    package static func elements(of tensors: [LazyTensor]) throws(ModelError) -> [Tensor] {
        try LazyEvaluation.run(tensors.map(\.step))
        var elements: [Tensor] = []
        for tensor in tensors {
            guard let known = tensor.knownElements else {
                throw ModelError(.invalidModel, "a tensor of type \(tensor.type) was not computed")
            }
            elements.append(known)
        }
        return elements
    }
}

/// One result of a step.
struct LazySource: Sendable {
    let step: LazyStep
    let index: Int
}

/// A recorded operation, later its results.
final class LazyStep: Sendable {
    enum Operand: Sendable {
        case source(LazySource)
        case scalar(Tensor)
        case parameter(Tensor)

        init(_ operand: LazyTensor.Operand) {
            switch operand {
            case .tensor(let tensor): self = .source(tensor.source)
            case .scalar(let tensor): self = .scalar(tensor)
            case .parameter(let tensor): self = .parameter(tensor)
            }
        }
    }

    /// A recorded operation that is not computed yet.
    struct Recorded: Sendable {
        let op: any Operator
        let operands: [Operand]
    }

    private struct State: Sendable {
        var recorded: Recorded?
        var results: [Tensor] = []
    }

    let types: [ValueType]
    /// The number of tensors outside that refer to the step's results.
    let useCount = Atomic(0)
    private let state: Mutex<State>

    init(_ tensor: Tensor) {
        types = [ValueType(tensor.scalarType, Shape(tensor.shape))]
        state = Mutex(State(results: [tensor]))
    }

    init(_ op: any Operator, _ operands: [Operand], _ types: [ValueType]) {
        self.types = types
        state = Mutex(State(recorded: Recorded(op: op, operands: operands)))
    }

    deinit {
        var operands = takeOperands()
        Self.releaseChain(&operands)
    }

    /// The operation, `nil` once its results are known.
    var recorded: Recorded? { state.withLock { $0.recorded } }

    func result(_ index: Int) -> Tensor? { state.withLock { $0.recorded == nil ? $0.results[index] : nil } }

    /// Keeps the results, unless others were kept before, and forgets the operation.
    func keep(_ results: [Tensor]) {
        var operands = takeOperands { $0.results = results }
        Self.releaseChain(&operands)
    }

    private func takeOperands(_ change: (inout State) -> Void = { _ in }) -> [LazyStep] {
        state.withLock { state in
            guard let recorded = state.recorded else { return [] }
            change(&state)
            state.recorded = nil
            return recorded.operands.compactMap { if case .source(let source) = $0 { source.step } else { nil } }
        }
    }

    /// Releases steps and whatever only they refer to, without a recursion as deep as the chain of operations is long.
    ///
    /// - Parameter rest: The only array that holds the steps: one that others hold, too, is left to them.
    private static func releaseChain(_ rest: inout [LazyStep]) {
        while var step = rest.popLast() {
            if isKnownUniquelyReferenced(&step) { rest += step.takeOperands() }
        }
    }
}
