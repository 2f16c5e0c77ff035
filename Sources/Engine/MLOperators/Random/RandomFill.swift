package import MLGraph
package import MLNumerics
import MLSpecification

/// A distribution of numbers with its parameters: the parameter of the `RandomFill` family.
package protocol Distribution: Hashable, Sendable, Codable {
    static var names: [MILName] { get }
    /// The arguments whose type is that of the result.
    static var typedArguments: [String] { get }
    init(reading arguments: inout Arguments) throws(ModelError)
    func sample(_ generator: inout RandomGenerator) -> Double
    /// The neural-network layers that produce such numbers.
    static var layers: [LayerRule] { get }
}

/// 1 with the given probability, otherwise 0.
package struct Bernoulli: Distribution {
    package static let names: [MILName] = ["random_bernoulli"]
    package static let typedArguments = ["prob"]
    package var probability: Double

    package init(probability: Double) { self.probability = probability }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        probability = try arguments.float("prob", default: 0.5)
    }
    package func sample(_ generator: inout RandomGenerator) -> Double { generator.uniform() < probability ? 1 : 0 }

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

package struct Normal: Distribution {
    package static let names: [MILName] = ["random_normal"]
    package static let typedArguments = ["mean", "stddev"]
    package var mean: Double
    package var deviation: Double

    package init(mean: Double, deviation: Double) {
        self.mean = mean
        self.deviation = deviation
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        mean = try arguments.float("mean", default: 0)
        deviation = try arguments.float("stddev", default: 1)
    }
    package func sample(_ generator: inout RandomGenerator) -> Double { mean + deviation * generator.normal() }

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

/// Uniform in `low ≤ x < high`.
package struct Uniform: Distribution {
    package static let names: [MILName] = ["random_uniform"]
    package static let typedArguments = ["low", "high"]
    package var low: Double
    package var high: Double

    package init(low: Double, high: Double) {
        self.low = low
        self.high = high
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        low = try arguments.float("low", default: 0)
        high = try arguments.float("high", default: 1)
    }
    package func sample(_ generator: inout RandomGenerator) -> Double { low + (high - low) * generator.uniform() }

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

/// A tensor of random numbers; the same in every run when `seed` is not negative.
///
/// Operands: shape [K].
package struct RandomFill<Numbers: Distribution>: Operator {
    package static var names: [MILName] { Numbers.names }
    package var distribution: Numbers
    package var scalarType: ScalarType
    package var seed: Int

    package init(_ distribution: Numbers, scalarType: ScalarType = .float32, seed: Int = -1) {
        self.distribution = distribution
        self.scalarType = scalarType
        self.seed = seed
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("shape")
        let provided = Numbers.typedArguments.first { arguments.has($0) }
        scalarType = provided.flatMap { arguments.type($0) }?.scalarType ?? .float32
        distribution = try Numbers(reading: &arguments)
        seed = try arguments.int("seed", default: -1)
    }

    package var widened: any Operator {
        guard scalarType == .float16 else { return self }
        var copy = self
        copy.scalarType = .float32
        return copy
    }

    package var shapeOperands: [Int] { [0] }
    package var isPure: Bool { seed >= 0 }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(scalarType, try shapeFromContents(operands, 0))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = try extents(operands[0].integers)
        var generator = RandomGenerator(seed: seed)
        let values = (0..<shape.elementCount).map { _ in distribution.sample(&generator) }
        return [Tensor(values: values, scalarType: scalarType, shape: shape)]
    }
}

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
