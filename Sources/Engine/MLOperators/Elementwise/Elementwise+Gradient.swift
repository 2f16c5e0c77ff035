package import MLGraph
package import MLNumerics

extension Binary {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand(0)
        let y = try context.operand(1)
        let dz = try context.resultGradient()
        switch Function() {
        case is Add:
            try state(&context) { _ in
                dz
            } _: { _ in
                dz
            }
        case is Sub:
            try state(&context) { _ in
                dz
            } _: { context throws(ModelError) in
                try context.negated(dz)
            }
        case is Mul:
            try state(&context) { context throws(ModelError) in
                try context.product(dz, y)
            } _: { context throws(ModelError) in
                try context.product(dz, x)
            }
        case is RealDiv:
            try state(&context) { context throws(ModelError) in
                try context.quotient(dz, y)
            } _: { context throws(ModelError) in
                try context.negated(context.quotient(context.product(dz, context.results[0]), y))
            }
        case is Mod:
            try state(&context) { _ in
                dz
            } _: { context throws(ModelError) in
                try context.negated(context.product(dz, context.add(Binary<FloorDiv>(), x, y)))
            }
        case is Pow:
            try state(&context) { context throws(ModelError) in
                // y · xʸ⁻¹, which is 0 where y is 0.
                let lower = try context.difference(y, context.scalar(1, like: y))
                let slope = try context.product(y, context.add(Binary<Pow>(), x, lower))
                let isZero = try context.add(Binary<Equal>(), y, context.scalar(0, like: y))
                return try context.product(dz, context.add(Select(), isZero, context.scalar(0, like: y), slope))
            } _: { context throws(ModelError) in
                // xʸ · log x, and 0 where x is 0.
                let isPositive = try context.add(Binary<Greater>(), x, context.scalar(0, like: x))
                let safe = try context.add(Select(), isPositive, x, context.scalar(1, like: x))
                let slope = try context.product(context.results[0], context.add(Unary(Log()), safe))
                return try context.product(dz, slope)
            }
        case is Max: try choose(&context, takesFirst: Binary<Greater>())
        case is Min: try choose(&context, takesFirst: Binary<Less>())
        default: throw notDifferentiable("that is not zero")
        }
    }

    /// Sets the gradients of both operands, as far as they are needed.
    private func state(
        _ context: inout GradientContext,
        _ first: (inout GradientContext) throws(ModelError) -> ValueID,
        _ second: (inout GradientContext) throws(ModelError) -> ValueID
    ) throws(ModelError) {
        if context.isNeeded(0) { try context.setBroadcastGradient(ofOperand: 0, to: first(&context)) }
        if context.isNeeded(1) { try context.setBroadcastGradient(ofOperand: 1, to: second(&context)) }
    }

    /// The gradient goes to the operand that was chosen, and in halves to equal ones.
    private func choose(_ context: inout GradientContext, takesFirst: some Operator) throws(ModelError) {
        let (x, y) = (try context.operand(0), try context.operand(1))
        let dz = try context.resultGradient()
        let half = try context.scaled(dz, by: 0.5)
        let isFirst = try context.add(takesFirst, x, y)
        let isEqual = try context.add(Binary<Equal>(), x, y)
        let shared = try context.kept(half, where: isEqual)
        let toFirst = try context.add(Select(), isFirst, dz, shared)
        try state(&context) { _ in
            toFirst
        } _: { context throws(ModelError) in
            try context.difference(dz, toFirst)
        }
    }
}

extension Cast {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let source = context.scalarType(try context.operand())
        guard scalarType.isFloat, source.isFloat else { throw notDifferentiable("to or from integers") }
        context.setGradient(ofOperand: 0, to: try context.add(Cast(to: source), context.resultGradient()))
    }
}

extension Select {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dz = try context.resultGradient()
        let condition = try context.operand(0)
        let zero = context.scalar(0, like: dz)
        if context.isNeeded(1) {
            try context.setBroadcastGradient(ofOperand: 1, to: context.add(Select(), condition, dz, zero))
        }
        if context.isNeeded(2) {
            try context.setBroadcastGradient(ofOperand: 2, to: context.add(Select(), condition, zero, dz))
        }
    }
}
