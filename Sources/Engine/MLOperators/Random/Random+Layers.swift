import MLGraph
import MLNumerics
import MLSpecification

extension RandomFill: LoweredFromLayers {
    package static var layers: [LayerRule] { Numbers.layers }
}

extension LayerContext {
    /// Random numbers in a given shape, or in that of the input or its contents.
    fileprivate mutating func random(
        _ numbers: some Distribution,
        _ seed: Int64,
        _ shape: ValueID
    ) throws(ModelError) {
        try finish(try add(RandomFill(numbers, seed: Int(clamping: seed)), shape))
    }

    fileprivate mutating func inputShape() throws(ModelError) -> ValueID { try add(ShapeOf(), input()) }
    fileprivate mutating func inputContents() throws(ModelError) -> ValueID { try integers(input()) }
}

extension Normal {
    package static var layers: [LayerRule] {
        [
            LayerRule("randomNormalLike", \.randomNormalLike) { parameters, context throws(ModelError) in
                let numbers = Normal(mean: Double(parameters.mean), deviation: Double(parameters.stdDev))
                try context.random(numbers, parameters.seed, context.inputShape())
            },
            LayerRule("randomNormalStatic", \.randomNormalStatic) { parameters, context throws(ModelError) in
                let numbers = Normal(mean: Double(parameters.mean), deviation: Double(parameters.stdDev))
                let shape = context.constant(integers: integers(parameters.outputShape))
                try context.random(numbers, parameters.seed, shape)
            },
            LayerRule("randomNormalDynamic", \.randomNormalDynamic) { parameters, context throws(ModelError) in
                let numbers = Normal(mean: Double(parameters.mean), deviation: Double(parameters.stdDev))
                try context.random(numbers, parameters.seed, context.inputContents())
            },
        ]
    }
}

extension Uniform {
    package static var layers: [LayerRule] {
        [
            LayerRule("randomUniformLike", \.randomUniformLike) { parameters, context throws(ModelError) in
                let numbers = Uniform(low: Double(parameters.minVal), high: Double(parameters.maxVal))
                try context.random(numbers, parameters.seed, context.inputShape())
            },
            LayerRule("randomUniformStatic", \.randomUniformStatic) { parameters, context throws(ModelError) in
                let numbers = Uniform(low: Double(parameters.minVal), high: Double(parameters.maxVal))
                let shape = context.constant(integers: integers(parameters.outputShape))
                try context.random(numbers, parameters.seed, shape)
            },
            LayerRule("randomUniformDynamic", \.randomUniformDynamic) { parameters, context throws(ModelError) in
                let numbers = Uniform(low: Double(parameters.minVal), high: Double(parameters.maxVal))
                try context.random(numbers, parameters.seed, context.inputContents())
            },
        ]
    }
}

extension Bernoulli {
    package static var layers: [LayerRule] {
        [
            LayerRule("randomBernoulliLike", \.randomBernoulliLike) { parameters, context throws(ModelError) in
                let numbers = Bernoulli(probability: Double(parameters.prob))
                try context.random(numbers, parameters.seed, context.inputShape())
            },
            LayerRule("randomBernoulliStatic", \.randomBernoulliStatic) { parameters, context throws(ModelError) in
                let numbers = Bernoulli(probability: Double(parameters.prob))
                let shape = context.constant(integers: integers(parameters.outputShape))
                try context.random(numbers, parameters.seed, shape)
            },
            LayerRule("randomBernoulliDynamic", \.randomBernoulliDynamic) { parameters, context throws(ModelError) in
                let numbers = Bernoulli(probability: Double(parameters.prob))
                try context.random(numbers, parameters.seed, context.inputContents())
            },
        ]
    }
}

extension RandomCategorical: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("categoricalDistribution", \.categoricalDistribution) { parameters, context throws(ModelError) in
                var x = try context.input()
                if !parameters.isLogits {
                    x = try context.add(Unary(Log(epsilon: stated(parameters.eps, or: 1e-10))), x)
                }
                let temperature = stated(parameters.temperature, or: 1)
                if temperature != 1 {
                    x = try context.add(Unary(LinearActivation(alpha: 1 / temperature, beta: 0)), x)
                }
                let op = RandomCategorical(
                    isLogarithmic: true,
                    count: max(Int(clamping: parameters.numSamples), 1),
                    seed: Int(clamping: parameters.seed)
                )
                try context.finish(try context.add(op, x))
            }
        ]
    }
}
