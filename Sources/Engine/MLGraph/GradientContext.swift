/// The context in which an operator appends its gradient: a builder, the forward values, and the gradients of the
/// results.
///
/// The graph is bound: every extent is a number.
package struct GradientContext {
    package var builder: GraphBuilder
    package let operands: [ValueID?]
    package let results: [ValueID]
    /// The gradient of the loss with respect to each result; `nil` where the loss does not depend on it.
    package let resultGradients: [ValueID?]
    /// The gradients so far, by operand.
    package private(set) var operandGradients: [ValueID?]
    private let needed: Set<Int>

    /// Describes one operation to its gradient rule.
    ///
    /// - Parameters:
    ///   - builder: Builds the operations of the gradient.
    ///   - operands: The operation's operands.
    ///   - results: The operation's results.
    ///   - resultGradients: The gradient of each result; `nil` where the loss does not depend on it.
    ///   - needed: The indices of the operands that depend on parameters.
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

    /// Whether the gradient with respect to operand `index` is needed for a parameter; other gradients may be omitted.
    package func isNeeded(_ index: Int) -> Bool { needed.contains(index) }

    /// Sets the gradient of the loss with respect to operand `index`; it has that operand's type.
    package mutating func setGradient(ofOperand index: Int, to gradient: ValueID) {
        operandGradients[index] = gradient
    }
}
