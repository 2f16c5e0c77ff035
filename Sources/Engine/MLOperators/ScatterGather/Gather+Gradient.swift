package import MLGraph
package import MLNumerics

extension GradientContext {
    /// Zeros of the type of operand 0.
    fileprivate mutating func zeros() throws(ModelError) -> ValueID {
        let x = try operand()
        return try add(FillLike(value: 0, scalarType: scalarType(x)), x)
    }
}

extension Gather {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard batchDimensions == 0 else { throw notDifferentiable("with axes of a batch") }
        let zeros = try context.zeros()
        let scatter = Scatter(axis: axis, mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension GatherAlongAxis {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let zeros = try context.zeros()
        let scatter = ScatterAlongAxis(axis: axis, mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension GatherND {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard batchDimensions == 0 else { throw notDifferentiable("with axes of a batch") }
        let zeros = try context.zeros()
        let scatter = ScatterND(mode: .add, indexRule: indexRule)
        let dx = try context.add(scatter, zeros, context.operand(1), context.resultGradient())
        context.setGradient(ofOperand: 0, to: dx)
    }
}
