package import MLGraph
package import MLNumerics

/// One question to an operator, which `failures` multiplies into many checks.
///
/// A test lists problems and says `#expect(problem.failures() == [])`:
/// ```swift
/// OperatorProblem("rows", Softmax(axis: -1), [random.tensor([2, 3])], expected: [Tensor([…], shape: [2, 3])])
/// ```
package struct OperatorProblem: Sendable, CustomStringConvertible {
    package var name: String
    package var op: any Operator
    /// In the operator's order; `nil` for optional operands that are not given.
    package var operands: [Tensor?]
    /// The operands whose contents a model holds: weights. The operator's `shapeOperands` always count among them.
    package var constants: Set<Int>
    /// The results as known from elsewhere; without them the plain evaluation is only checked against its type rule.
    package var expected: [Tensor]?
    /// How far kernels and expected values may be from the plain evaluation, relative to max(1, |value|).
    package var tolerance: Double
    /// The origin of the operands, for the failure's message.
    package var seed: UInt64?
    /// The file of the test that asks.
    package var file: String

    package init(
        _ name: String = "",
        _ op: any Operator,
        _ operands: [Tensor?],
        constants: Set<Int> = [],
        expected: [Tensor]? = nil,
        tolerance: Double = 1e-5,
        seed: UInt64? = nil,
        file: String = #fileID
    ) {
        self.file = file
        self.name = name
        self.op = op
        self.operands = operands
        self.constants = constants.union(op.shapeOperands)
        self.expected = expected
        self.tolerance = tolerance
        self.seed = seed
    }

    package var description: String {
        let shapes = operands.map { tensor in tensor.map { "\($0.scalarType.milName)\($0.shape)" } ?? "none" }
        let attributes = Mirror(reflecting: op).children.compactMap { child in
            child.label.map { "\($0)=\(child.value)" }
        }
        let seed = seed.map { " seed \($0)" } ?? ""
        return "\(op.displayName) '\(name)' (\((shapes + attributes).joined(separator: ", ")))\(seed)"
    }

    /// Everything that does not hold, each with the coordinates needed to repeat it; empty when all is well.
    package func failures() -> [String] {
        let found = OperatorCheck(self).failures() + halfWeights().flatMap { OperatorCheck($0).failures() }
        return found.map { "\(self): \($0)" }
    }

    /// The differences between kernels or plans and plain evaluation: for arbitrary operands.
    package func disagreements() -> [String] { OperatorCheck(self).disagreements().map { "\(self): \($0)" } }

    /// The same problem with float16 weights beside float32 activations, as models with half-precision weights have.
    private func halfWeights() -> [OperatorProblem] {
        let weights = constants.filter { $0 < operands.count && operands[$0]?.scalarType == .float32 }
        let hasActivation = operands.indices.contains { index in
            !constants.contains(index) && operands[index]?.scalarType == .float32
        }
        guard !weights.isEmpty, hasActivation else { return [] }
        var problem = self
        problem.name += ", float16 weights"
        problem.expected = nil
        for index in weights { problem.operands[index] = operands[index]?.converted(to: .float16) }
        return [problem]
    }
}
