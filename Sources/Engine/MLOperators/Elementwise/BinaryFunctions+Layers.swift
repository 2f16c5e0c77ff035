import MLGraph
import MLNumerics
import MLSpecification

extension Add {
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
}

extension Mul {
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
}

extension Sub {
    package static var layers: [LayerRule] { [.binary("subtractBroadcastable", \.subtractBroadcastable, Sub.self)] }
}

extension RealDiv {
    package static var layers: [LayerRule] { [.binary("divideBroadcastable", \.divideBroadcastable, RealDiv.self)] }
}

extension FloorDiv {
    package static var layers: [LayerRule] {
        [.binary("floorDivBroadcastable", \.floorDivBroadcastable, FloorDiv.self)]
    }
}

extension Mod {
    package static var layers: [LayerRule] { [.binary("modBroadcastable", \.modBroadcastable, Mod.self)] }
}

extension Pow {
    package static var layers: [LayerRule] { [.binary("powBroadcastable", \.powBroadcastable, Pow.self)] }
}

extension Max {
    package static var layers: [LayerRule] {
        [.binary("max", \.max, Max.self), .binary("maxBroadcastable", \.maxBroadcastable, Max.self)]
    }
}

extension Min {
    package static var layers: [LayerRule] {
        [.binary("min", \.min, Min.self), .binary("minBroadcastable", \.minBroadcastable, Min.self)]
    }
}

extension Equal {
    package static var layers: [LayerRule] { [.comparison("equal", \.equal, Equal.self) { $0.alpha }] }
}

extension NotEqual {
    package static var layers: [LayerRule] { [.comparison("notEqual", \.notEqual, NotEqual.self) { $0.alpha }] }
}

extension Greater {
    package static var layers: [LayerRule] { [.comparison("greaterThan", \.greaterThan, Greater.self) { $0.alpha }] }
}

extension GreaterEqual {
    package static var layers: [LayerRule] {
        [.comparison("greaterEqual", \.greaterEqual, GreaterEqual.self) { $0.alpha }]
    }
}

extension Less {
    package static var layers: [LayerRule] { [.comparison("lessThan", \.lessThan, Less.self) { $0.alpha }] }
}

extension LessEqual {
    package static var layers: [LayerRule] { [.comparison("lessEqual", \.lessEqual, LessEqual.self) { $0.alpha }] }
}

extension LogicalAnd {
    package static var layers: [LayerRule] { [.logical("logicalAnd", \.logicalAnd, LogicalAnd.self)] }
}

extension LogicalOr {
    package static var layers: [LayerRule] { [.logical("logicalOr", \.logicalOr, LogicalOr.self)] }
}

extension LogicalXor {
    package static var layers: [LayerRule] { [.logical("logicalXor", \.logicalXor, LogicalXor.self)] }
}

extension Select: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("whereBroadcastable", \.whereBroadcastable) { _, context throws(ModelError) in
                let condition = try context.truths(context.input(0))
                try context.finish(try context.add(Select(), condition, context.input(1), context.input(2)))
            }
        ]
    }
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
