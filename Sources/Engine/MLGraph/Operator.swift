package import MLNumerics

/// The semantics of one kind of operation.
///
/// A conforming struct holds the attributes; operands are values of the graph.
///
/// A file reads top to bottom: documentation with formula and shapes, names, attributes, reading, typing, reference or
/// expansion, layer rules (`LoweredFromLayers`), kernels, gradient (`DifferentiableOperator`).
/// Everything after `resultTypes` has a default, but exactly one of `reference` and `expansion` is required (a census
/// test enforces it).
package protocol Operator: Hashable, Sendable, Codable {
    /// The MIL operations that this type reads, newest opset's semantics. Empty for operators that only passes and the
    /// neural-network reader create.
    static var names: [MILName] { get }

    /// The name in printed graphs.
    var displayName: String { get }

    /// Reads a MIL operation: takes its operands in this operator's order and its attributes. The caller reports an
    /// argument that was not taken.
    init(reading arguments: inout Arguments) throws(ModelError)

    /// The types of the results. Called with flexible and with concrete shapes; an extent that cannot be inferred yet
    /// is `.unknown`, the rank never is. Throws when the operands contradict the operator.
    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType]

    /// The results, when they depend only on the types of the operands (`shape`); `nil` otherwise.
    func knownResults(_ operands: Operands) -> [Tensor]?

    /// Straightforward evaluation, for every scalar type the operator accepts: the reference for all kernels, the
    /// engine of constant folding, and the fallback.
    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor]

    /// Whether results on these constants may be computed when they are needed: compressed weights, which kernels read as
    /// they are. Only where `reference` cannot fail on them.
    func isDeferred(_ operands: ReferenceOperands) -> Bool

    /// Implementations for concrete, physical shapes, best first. The first whose `prepare` returns a body is bound;
    /// when none does, `reference` runs.
    func kernels(for request: KernelRequest) -> [Kernel]

    /// The same computation expressed with other operators; `nil` when the operator is primitive.
    func expansion(_ operands: [ValueID?], in builder: inout GraphBuilder) throws(ModelError) -> [ValueID]?

    /// The operation's role in the choice of memory layouts.
    func layoutRole(_ operands: Operands) -> LayoutRole

    /// The same operation for several examples at once, some of whose operands differ between them; `nil` where the
    /// examples have to be computed one by one.
    ///
    /// A rule returns the results in their joined shapes (see `BatchContext`) and only where each example's result depends
    /// on that example alone.
    func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]?

    /// Operands whose contents, not only shapes, determine the extents of the results (the `shape` of `reshape`).
    var shapeOperands: [Int] { get }

    /// Operands that kernels read as float16 constants directly (weights, tables), while the rest is float32.
    var halfPrecisionOperands: [Int] { get }

    /// The operator to use when float16 results are computed and kept as float32; differs for operators with a type
    /// attribute.
    var widened: any Operator { get }

    /// False when running twice or not at all makes a difference (random numbers without seed, states).
    var isPure: Bool { get }
}

/// An operator that networks learn through.
package protocol DifferentiableOperator: Operator {
    /// Whether this form of a generic operator has a gradient.
    static var hasGradient: Bool { get }

    /// The form of the operator that a network learns with: further results, after those of this form, are what the
    /// gradient rule reads of the computation.
    ///
    /// The operator itself when the rule reads operands and results only.
    var recording: any DifferentiableOperator { get }

    /// Adds the gradient of the operands to the graph, given the gradients of the results.
    func gradient(_ context: inout GradientContext) throws(ModelError)
}

extension DifferentiableOperator {
    package static var hasGradient: Bool { true }
    package var recording: any DifferentiableOperator { self }
}

/// An operation's role in the choice between row-major and channels-last memory.
package enum LayoutRole: Hashable, Sendable {
    /// Operands and results are row-major.
    case rowMajor
    /// Works on any common layout of its operands of full rank: kernels use physical shapes and axes.
    case agnostic
    /// The first operand, operands of the result's rank that are not constants, and the results are channels-last.
    case channelsLast
    /// Like `channelsLast` when an adjacent operation is channels-last or follows one that is; otherwise row-major.
    case channelsLastIfAdjacent
}

extension Operator {
    package static var names: [MILName] { [] }
    package var displayName: String { Self.names.first?.name ?? "\(Self.self)" }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        throw ModelError(.unsupported, "\(Self.self) cannot be read from an ML program")
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        throw ModelError(.unsupported, "'\(displayName)' has no plain evaluation")
    }

    package func knownResults(_ operands: Operands) -> [Tensor]? { nil }
    package func isDeferred(_ operands: ReferenceOperands) -> Bool { false }
    package func kernels(for request: KernelRequest) -> [Kernel] { [] }
    package func expansion(_ operands: [ValueID?], in builder: inout GraphBuilder) throws(ModelError) -> [ValueID]? {
        nil
    }
    package func layoutRole(_ operands: Operands) -> LayoutRole { .rowMajor }
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? { nil }
    package var shapeOperands: [Int] { [] }
    package var halfPrecisionOperands: [Int] { [] }
    package var widened: any Operator { self }
    package var isPure: Bool { true }

    /// Adds the gradient of the operands to the graph; throws when the operator has none.
    package func addGradient(_ context: inout GradientContext) throws(ModelError) {
        guard let differentiable = self as? any DifferentiableOperator else {
            throw ModelError(
                .unsupported,
                "'\(displayName)' has no gradient; leave it out of the updatable part of the model"
            )
        }
        try differentiable.gradient(&context)
    }

    /// Equality with an operator of any type.
    package func isEqual(to other: any Operator) -> Bool { (other as? Self) == self }
}

/// An operator with bodies.
///
/// The runtime evaluates it between plans, because its results' extents and the number of evaluations are only known at
/// run time.
package protocol ControlFlowOperator: Operator {
    /// Evaluates the operation; each body takes the values of its block's inputs and returns those of its outputs.
    func evaluate(_ operands: [Tensor], bodies: [BlockBody]) throws(ModelError) -> [Tensor]
}

/// Runs a block on values for its inputs.
package typealias BlockBody = (_ inputs: [Tensor]) throws(ModelError) -> [Tensor]

/// The name of a MIL operation, and the opsets in which this reading of it holds.
package struct MILName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let name: String
    package let opsets: ClosedRange<Opset>

    package init(_ name: String, _ opsets: ClosedRange<Opset> = .iOS15 ... .newest) {
        self.name = name
        self.opsets = opsets
    }

    package init(stringLiteral value: String) { self.init(value) }
}

/// A revision of MIL's operation set, named after the system release that introduced it.
package enum Opset: Int, Comparable, Sendable {
    case iOS15 = 5, iOS16, iOS17, iOS18, iOS26
    package static let newest = Opset.iOS26

    /// The revision that a function names (`CoreML5` … `CoreML9`).
    package init?(functionOpset name: String) {
        guard name.hasPrefix("CoreML"), let number = Int(name.dropFirst(6)), let opset = Opset(rawValue: number) else {
            return nil
        }
        self = opset
    }

    package static func < (a: Opset, b: Opset) -> Bool { a.rawValue < b.rawValue }
}
