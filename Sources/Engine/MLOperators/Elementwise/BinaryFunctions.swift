import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics
import MLSpecification

package struct Add: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["add"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x + y }

    package static var layers: [LayerRule] {
        [
            LayerRule("add", \.add) { parameters, context throws(ModelError) in
                try context.finish(try context.joined(by: Add.self, orWith: parameters.alpha))
            },
            .binary("addBroadcastable", \.addBroadcastable, Add.self),
            LayerRule("average", \.average) { _, context throws(ModelError) in
                let sum = try context.joined(by: Add.self)
                let factor = context.constant(1 / Float(max(context.inputs.count, 1)))
                try context.finish(try context.add(Binary<Mul>(), sum, factor))
            },
            LayerRule("bias", \.bias) { parameters, context throws(ModelError) in
                let bias = try context.channelConstant(parameters.bias, integers(parameters.shape), name: "bias")
                try context.finish(try context.add(Binary<Add>(), context.input(), bias))
            },
        ]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .add

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try state(&context) { _ in
            dz
        } _: { _ in
            dz
        }
    }
}

package struct Sub: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["sub"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x - y }
    package static var layers: [LayerRule] { [.binary("subtractBroadcastable", \.subtractBroadcastable, Sub.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .subtract

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try state(&context) { _ in
            dz
        } _: { context throws(ModelError) in
            try context.negated(dz)
        }
    }
}

package struct Mul: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["mul"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x * y }

    package static var layers: [LayerRule] {
        [
            LayerRule("multiply", \.multiply) { parameters, context throws(ModelError) in
                try context.finish(try context.joined(by: Mul.self, orWith: parameters.alpha))
            },
            .binary("multiplyBroadcastable", \.multiplyBroadcastable, Mul.self),
            LayerRule("scale", \.scale) { parameters, context throws(ModelError) in
                let scale = try context.channelConstant(
                    parameters.scale,
                    integers(parameters.shapeScale),
                    name: "scale"
                )
                var result = try context.add(Binary<Mul>(), context.input(), scale)
                if parameters.hasBias_p {
                    let bias = try context.channelConstant(
                        parameters.bias,
                        integers(parameters.shapeBias),
                        name: "bias"
                    )
                    result = try context.add(Binary<Add>(), result, bias)
                }
                try context.finish(result)
            },
            LayerRule("dot", \.dot) { parameters, context throws(ModelError) in
                let (x, y) = (try context.input(0), try context.input(1))
                let axes = context.rank(of: x) >= 3 ? [-3] : [-1]
                let dot = try context.add(
                    Reduction<SumOfElements>(axes: axes, keepsDimensions: true),
                    context.add(Binary<Mul>(), x, y)
                )
                guard parameters.cosineSimilarity else {
                    try context.finish(dot)
                    return
                }
                let norm = Reduction<L2NormOfElements>(axes: axes, keepsDimensions: true)
                let size = try context.add(Binary<Mul>(), context.add(norm, x), context.add(norm, y))
                try context.finish(try context.add(Binary<RealDiv>(), dot, size))
            },
        ]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .multiply

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try state(&context) { context throws(ModelError) in
            try context.product(dz, y)
        } _: { context throws(ModelError) in
            try context.product(dz, x)
        }
    }
}

/// `x / y`; truncated toward zero for integers.
package struct RealDiv: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["real_div"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x / y }
    package static var layers: [LayerRule] { [.binary("divideBroadcastable", \.divideBroadcastable, RealDiv.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .divide

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try state(&context) { context throws(ModelError) in
            try context.quotient(dz, y)
        } _: { context throws(ModelError) in
            try context.negated(context.quotient(context.product(dz, context.results[0]), y))
        }
    }
}

/// `⌊x / y⌋`.
package struct FloorDiv: BinaryFunction {
    package static let names: [MILName] = ["floor_div"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { (x / y).rounded(.down) }

    package static var layers: [LayerRule] {
        [.binary("floorDivBroadcastable", \.floorDivBroadcastable, FloorDiv.self)]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .floorDivide
}

/// `x − y · ⌊x / y⌋`: the remainder with the sign of `y`.
package struct Mod: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["mod"]
    package init() {}

    package func callAsFunction(_ x: Double, _ y: Double) -> Double {
        let remainder = fmod(x, y)
        return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder
    }

    package static var layers: [LayerRule] { [.binary("modBroadcastable", \.modBroadcastable, Mod.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .modulo

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try state(&context) { _ in
            dz
        } _: { context throws(ModelError) in
            try context.negated(context.product(dz, context.add(Binary<FloorDiv>(), x, y)))
        }
    }
}

package struct Pow: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["pow"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { pow(x, y) }
    package static var layers: [LayerRule] { [.binary("powBroadcastable", \.powBroadcastable, Pow.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .power

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
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
    }
}

package struct Max: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["maximum"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x.isNaN ? x : y.isNaN ? y : max(x, y) }

    package static var layers: [LayerRule] {
        [.binary("max", \.max, Max.self), .binary("maxBroadcastable", \.maxBroadcastable, Max.self)]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .maximum

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try choose(&context, takesFirst: Binary<Greater>())
    }
}

package struct Min: DifferentiableBinaryFunction {
    package static let names: [MILName] = ["minimum"]
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x.isNaN ? x : y.isNaN ? y : min(x, y) }

    package static var layers: [LayerRule] {
        [.binary("min", \.min, Min.self), .binary("minBroadcastable", \.minBroadcastable, Min.self)]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .minimum

    package func gradient(_ context: inout GradientContext, x: ValueID, y: ValueID, dz: ValueID) throws(ModelError) {
        try choose(&context, takesFirst: Binary<Less>())
    }
}

package struct Equal: BinaryFunction {
    package static let names: [MILName] = ["equal"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x == y ? 1 : 0 }
    package static var layers: [LayerRule] { [.comparison("equal", \.equal, Equal.self) { $0.alpha }] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .equal
}

package struct NotEqual: BinaryFunction {
    package static let names: [MILName] = ["not_equal"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != y ? 1 : 0 }
    package static var layers: [LayerRule] { [.comparison("notEqual", \.notEqual, NotEqual.self) { $0.alpha }] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .notEqual
}

package struct Greater: BinaryFunction {
    package static let names: [MILName] = ["greater"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x > y ? 1 : 0 }
    package static var layers: [LayerRule] { [.comparison("greaterThan", \.greaterThan, Greater.self) { $0.alpha }] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .greater
}

package struct GreaterEqual: BinaryFunction {
    package static let names: [MILName] = ["greater_equal"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x >= y ? 1 : 0 }

    package static var layers: [LayerRule] {
        [.comparison("greaterEqual", \.greaterEqual, GreaterEqual.self) { $0.alpha }]
    }

    package static let kernel: ElementwiseKernel.BinaryFunction? = .greaterEqual
}

package struct Less: BinaryFunction {
    package static let names: [MILName] = ["less"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x < y ? 1 : 0 }
    package static var layers: [LayerRule] { [.comparison("lessThan", \.lessThan, Less.self) { $0.alpha }] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .less
}

package struct LessEqual: BinaryFunction {
    package static let names: [MILName] = ["less_equal"]
    package static let isPredicate = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x <= y ? 1 : 0 }
    package static var layers: [LayerRule] { [.comparison("lessEqual", \.lessEqual, LessEqual.self) { $0.alpha }] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .lessEqual
}

package struct LogicalAnd: BinaryFunction {
    package static let names: [MILName] = ["logical_and"]
    package static let isPredicate = true
    package static let isLogic = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != 0 && y != 0 ? 1 : 0 }
    package static var layers: [LayerRule] { [.logical("logicalAnd", \.logicalAnd, LogicalAnd.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .and
}

package struct LogicalOr: BinaryFunction {
    package static let names: [MILName] = ["logical_or"]
    package static let isPredicate = true
    package static let isLogic = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != 0 || y != 0 ? 1 : 0 }
    package static var layers: [LayerRule] { [.logical("logicalOr", \.logicalOr, LogicalOr.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .or
}

package struct LogicalXor: BinaryFunction {
    package static let names: [MILName] = ["logical_xor"]
    package static let isPredicate = true
    package static let isLogic = true
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { (x != 0) != (y != 0) ? 1 : 0 }
    package static var layers: [LayerRule] { [.logical("logicalXor", \.logicalXor, LogicalXor.self)] }
    package static let kernel: ElementwiseKernel.BinaryFunction? = .xor
}

extension LayerContext {
    /// All inputs combined with a function, or the only one with the number `alpha`.
    fileprivate mutating func joined<Function: BinaryFunction>(
        by function: Function.Type,
        orWith alpha: Float
    ) throws(ModelError) -> ValueID {
        inputs.count == 1 ? try add(Binary<Function>(), input(), constant(alpha)) : try joined(by: function)
    }

    /// A constant operand beside a blob [.., C, H, W]: of shape [C], meaning [C, 1, 1], or [C, H, W].
    fileprivate mutating func channelConstant(
        _ values: SpecWeightParams,
        _ shape: [Int],
        name: String
    ) throws(ModelError) -> ValueID {
        let rank = rank(of: try input())
        let isChannels = shape.count == 1 && rank >= 3
        let tensor = try withErrorContext(name) { () throws(ModelError) in
            try weightTensor(values, shape: try extents(shape))
        }
        return builder.constant(isChannels ? tensor.reshaped(shape + [1, 1]) : tensor, name: layer.name + "." + name)
    }
}

extension DifferentiableBinaryFunction {
    /// Sets the gradients of both operands, if they are needed.
    fileprivate func state(
        _ context: inout GradientContext,
        _ first: (inout GradientContext) throws(ModelError) -> ValueID,
        _ second: (inout GradientContext) throws(ModelError) -> ValueID
    ) throws(ModelError) {
        if context.isNeeded(0) { try context.setBroadcastGradient(ofOperand: 0, to: first(&context)) }
        if context.isNeeded(1) { try context.setBroadcastGradient(ofOperand: 1, to: second(&context)) }
    }

    /// The gradient goes to the operand that was chosen, and in halves to equal ones.
    fileprivate func choose(_ context: inout GradientContext, takesFirst: some Operator) throws(ModelError) {
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
