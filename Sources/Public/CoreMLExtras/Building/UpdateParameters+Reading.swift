import MLSpecification

extension IntegerParameter {
    init(_ parameter: SpecInt64Parameter) {
        switch parameter.allowedValues {
        case .range(let range)? where range.minValue <= range.maxValue:
            self.init(parameter.defaultValue, in: range.minValue...range.maxValue)
        case .set(let set)?: self.init(parameter.defaultValue, of: set.values)
        default: self.init(parameter.defaultValue)
        }
    }
}

extension NumberParameter {
    init(_ parameter: SpecDoubleParameter) {
        if case .range(let range)? = parameter.allowedValues, range.minValue <= range.maxValue {
            self.init(parameter.defaultValue, in: range.minValue...range.maxValue)
        } else {
            self.init(parameter.defaultValue)
        }
    }
}

extension UpdateOptimizer {
    init?(_ optimizer: SpecOptimizer) {
        switch optimizer.optimizerType {
        case .sgdOptimizer(let sgd)?:
            self = .sgd(
                learningRate: NumberParameter(sgd.learningRate),
                miniBatchSize: IntegerParameter(sgd.miniBatchSize),
                momentum: NumberParameter(sgd.momentum)
            )
        case .adamOptimizer(let adam)?:
            self = .adam(
                learningRate: NumberParameter(adam.learningRate),
                miniBatchSize: IntegerParameter(adam.miniBatchSize),
                beta1: NumberParameter(adam.beta1),
                beta2: NumberParameter(adam.beta2),
                eps: NumberParameter(adam.eps)
            )
        case nil: return nil
        }
    }
}

extension UpdateLoss {
    /// Reads a loss of the model format; `shape` is that of a mean squared error's target.
    init?(_ loss: SpecLossLayer, shape: [Int]) {
        switch loss.lossLayerType {
        case .categoricalCrossEntropyLossLayer(let layer)?:
            self = .categoricalCrossEntropy(input: layer.input, target: layer.target, name: loss.name)
        case .meanSquaredErrorLossLayer(let layer)?:
            self = .meanSquaredError(input: layer.input, shape: shape, target: layer.target, name: loss.name)
        case nil: return nil
        }
    }
}
