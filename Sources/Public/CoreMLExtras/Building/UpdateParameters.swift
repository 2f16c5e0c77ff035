import MLSpecification
import SwiftProtobuf

/// A whole number that an updatable model states, and the values that an app may put in its place.
public struct IntegerParameter: Hashable, Sendable, ExpressibleByIntegerLiteral {
    public enum Allowed: Hashable, Sendable {
        case range(ClosedRange<Int64>)
        case values([Int64])
    }

    public var defaultValue: Int64
    public var allowed: Allowed

    public init(_ defaultValue: Int64, in range: ClosedRange<Int64> = 1...1_000_000) {
        self.defaultValue = defaultValue
        allowed = .range(range)
    }

    public init(_ defaultValue: Int64, of values: [Int64]) {
        self.defaultValue = defaultValue
        allowed = .values(values)
    }

    /// The value, and every whole number from 1 to a million as its replacement.
    public init(integerLiteral value: Int64) { self.init(value) }
}

/// A number that an updatable model states, and the range from which an app may take another.
public struct NumberParameter: Hashable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    public var defaultValue: Double
    public var range: ClosedRange<Double>

    /// - Parameter range: 0 to 1 by default, or to the value when it is greater.
    public init(_ defaultValue: Double, in range: ClosedRange<Double>? = nil) {
        self.defaultValue = defaultValue
        self.range = range ?? 0...Swift.max(1, defaultValue.isFinite ? defaultValue : 1)
    }

    public init(floatLiteral value: Double) { self.init(value) }
    public init(integerLiteral value: Int64) { self.init(Double(value)) }
}

/// What an update makes small.
public enum UpdateLoss: Hashable, Sendable {
    /// −log of the target class's probability.
    /// - Parameters:
    ///   - input: the value that a `softmax` layer gives.
    ///   - target: the training input with the class, `input` + "_true" by default; a classifier's training input is
    ///     its predicted feature instead.
    case categoricalCrossEntropy(input: String, target: String? = nil, name: String = "loss")
    /// The mean of the squared differences.
    /// - Parameters:
    ///   - input: the value to bring near to the target.
    ///   - shape: the shape of the target, which is that of `input`.
    case meanSquaredError(input: String, shape: [Int], target: String? = nil, name: String = "loss")

    var name: String {
        switch self {
        case .categoricalCrossEntropy(_, _, let name), .meanSquaredError(_, _, _, let name): name
        }
    }

    var input: String {
        switch self {
        case .categoricalCrossEntropy(let input, _, _), .meanSquaredError(let input, _, _, _): input
        }
    }

    var target: String {
        switch self {
        case .categoricalCrossEntropy(let input, let target, _), .meanSquaredError(let input, _, let target, _):
            target ?? input + "_true"
        }
    }
}

/// How an update changes the weights.
public enum UpdateOptimizer: Hashable, Sendable {
    /// Stochastic gradient descent.
    case sgd(
        learningRate: NumberParameter = 0.01,
        miniBatchSize: IntegerParameter = 10,
        momentum: NumberParameter = 0
    )
    case adam(
        learningRate: NumberParameter = 0.01,
        miniBatchSize: IntegerParameter = 10,
        beta1: NumberParameter = 0.9,
        beta2: NumberParameter = 0.999,
        eps: NumberParameter = 1e-8
    )
}

// MARK: The messages of the model format

extension IntegerParameter {
    var specification: SpecInt64Parameter {
        .with {
            $0.defaultValue = defaultValue
            switch allowed {
            case .range(let range):
                $0.range.minValue = range.lowerBound
                $0.range.maxValue = range.upperBound
            case .values(let values): $0.set.values = values
            }
        }
    }
}

extension NumberParameter {
    var specification: SpecDoubleParameter {
        .with {
            $0.defaultValue = defaultValue
            $0.range.minValue = range.lowerBound
            $0.range.maxValue = range.upperBound
        }
    }
}

extension UpdateLoss {
    var specification: SpecLossLayer {
        .with {
            $0.name = name
            switch self {
            case .categoricalCrossEntropy:
                $0.categoricalCrossEntropyLossLayer.input = input
                $0.categoricalCrossEntropyLossLayer.target = target
            case .meanSquaredError:
                $0.meanSquaredErrorLossLayer.input = input
                $0.meanSquaredErrorLossLayer.target = target
            }
        }
    }
}

extension UpdateOptimizer {
    var specification: SpecOptimizer {
        .with {
            switch self {
            case .sgd(let learningRate, let miniBatchSize, let momentum):
                $0.sgdOptimizer.learningRate = learningRate.specification
                $0.sgdOptimizer.miniBatchSize = miniBatchSize.specification
                $0.sgdOptimizer.momentum = momentum.specification
            case .adam(let learningRate, let miniBatchSize, let beta1, let beta2, let eps):
                $0.adamOptimizer.learningRate = learningRate.specification
                $0.adamOptimizer.miniBatchSize = miniBatchSize.specification
                $0.adamOptimizer.beta1 = beta1.specification
                $0.adamOptimizer.beta2 = beta2.specification
                $0.adamOptimizer.eps = eps.specification
            }
        }
    }
}
