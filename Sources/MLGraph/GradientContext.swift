import MLNumerics

/// The place where an operator writes its gradient: a builder, the forward values, and what flows back.
package struct GradientContext {
    package var builder: GraphBuilder
    package let operands: [ValueID?]
    package let results: [ValueID]
    /// The gradient of the loss by each result; `nil` where the loss does not depend on it.
    package let resultGradients: [ValueID?]
    /// What was found so far, by operand.
    package private(set) var operandGradients: [ValueID?]

    package init(builder: GraphBuilder, operands: [ValueID?], results: [ValueID], resultGradients: [ValueID?]) {
        self.builder = builder
        self.operands = operands
        self.results = results
        self.resultGradients = resultGradients
        operandGradients = operands.map { _ in nil }
    }

    /// States the gradient of the loss by operand `index`; it has that operand's type.
    package mutating func setGradient(ofOperand index: Int, to gradient: ValueID) {
        operandGradients[index] = gradient
    }
}
