import MLSpecification
import SwiftProtobuf

/// An integer parameter of an updatable model, and the values that an app may choose instead.
public struct IntegerParameter: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The values that an app may choose.
    public enum Allowed: Hashable, Sendable {
        /// Any value in a range.
        case range(ClosedRange<Int64>)
        /// One of these values.
        case values([Int64])
    }

    /// The value that is used unless an app chooses another.
    public var defaultValue: Int64
    /// The values that an app may choose.
    public var allowed: Allowed

    /// Creates a parameter that may be replaced by any value in `range`: 1 to a million by default.
    public init(_ defaultValue: Int64, in range: ClosedRange<Int64> = 1...1_000_000) {
        self.defaultValue = defaultValue
        allowed = .range(range)
    }

    /// Creates a parameter that may be replaced by one of `values`.
    public init(_ defaultValue: Int64, of values: [Int64]) {
        self.defaultValue = defaultValue
        allowed = .values(values)
    }

    /// Creates a parameter that may be replaced by any integer from 1 to a million.
    public init(integerLiteral value: Int64) { self.init(value) }
}

/// A numeric parameter of an updatable model, and the range from which an app may choose another value.
public struct NumberParameter: Hashable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// The value that is used unless an app chooses another.
    public var defaultValue: Double
    /// The range from which an app may choose.
    public var range: ClosedRange<Double>

    /// Creates a parameter.
    ///
    /// - Parameters:
    ///   - defaultValue: The value that is used unless an app chooses another.
    ///   - range: The range from which an app may choose; by default from 0 to 1, or to the value when it is greater.
    public init(_ defaultValue: Double, in range: ClosedRange<Double>? = nil) {
        self.defaultValue = defaultValue
        self.range = range ?? 0...Swift.max(1, defaultValue.isFinite ? defaultValue : 1)
    }

    /// Creates a parameter with the default range.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Creates a parameter with the default range.
    public init(integerLiteral value: Int64) { self.init(Double(value)) }
}

/// The loss function that an update minimizes.
public enum UpdateLoss: Hashable, Sendable {
    /// The negative logarithm of the target class's probability.
    ///
    /// - Parameters:
    ///   - input: The value that a `softmax` layer computes.
    ///   - target: The training input with the class, `input` + "_true" by default; a classifier's training input is
    ///     its predicted feature instead.
    ///   - name: The name of the loss layer.
    case categoricalCrossEntropy(input: String, target: String? = nil, name: String = "loss")
    /// The mean of the squared differences.
    ///
    /// - Parameters:
    ///   - input: The value to bring close to the target.
    ///   - shape: The shape of the target, which is that of `input`.
    ///   - target: The training input with the target, `input` + "_true" by default.
    ///   - name: The name of the loss layer.
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

/// The algorithm that changes the weights in an update.
public enum UpdateOptimizer: Hashable, Sendable {
    /// Stochastic gradient descent with momentum.
    case sgd(
        learningRate: NumberParameter = 0.01,
        miniBatchSize: IntegerParameter = 10,
        momentum: NumberParameter = 0
    )
    /// Adam: steps scaled by running means of the gradients and of their squares.
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
