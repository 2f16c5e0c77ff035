/// The place where an operator writes its gradient: a builder, the forward values, and what flows back.
///
/// The graph is bound: every extent is a number.
package struct GradientContext {
    package var builder: GraphBuilder
    package let operands: [ValueID?]
    package let results: [ValueID]
    /// The gradient of the loss by each result; `nil` where the loss does not depend on it.
    package let resultGradients: [ValueID?]
    /// What was found so far, by operand.
    package private(set) var operandGradients: [ValueID?]
    private let needed: Set<Int>

    /// - Parameter needed: the operands that parameters reach.
    package init(
        builder: GraphBuilder,
        operands: [ValueID?],
        results: [ValueID],
        resultGradients: [ValueID?],
        needed: Set<Int>
    ) {
        self.builder = builder
        self.operands = operands
        self.results = results
        self.resultGradients = resultGradients
        self.needed = needed
        operandGradients = operands.map { _ in nil }
    }

    /// Whether the gradient by operand `index` leads to a parameter; gradients of others need not be stated.
    package func isNeeded(_ index: Int) -> Bool { needed.contains(index) }

    /// States the gradient of the loss by operand `index`; it has that operand's type.
    package mutating func setGradient(ofOperand index: Int, to gradient: ValueID) {
        operandGradients[index] = gradient
    }
}
