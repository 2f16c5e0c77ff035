import MLGraphTraining
package import MLNumerics
package import MLSpecification

extension NetworkTrainer {
    /// The default hyperparameters that an updatable neural network declares.
    package static func settings(of specification: SpecModel) throws(ModelError) -> TrainingSettings {
        let parameters = try specification.updateParameters()
        var settings = TrainingSettings(
            epochs: Int(clamping: parameters.epochs.defaultValue),
            shuffles: !parameters.hasShuffle || parameters.shuffle.defaultValue,
            seed: parameters.hasSeed ? UInt64(bitPattern: parameters.seed.defaultValue) : nil
        )
        guard parameters.hasEpochs else { throw missing("the number of epochs", "epochs") }
        switch parameters.optimizer.optimizerType {
        case .sgdOptimizer(let sgd)?:
            guard sgd.hasLearningRate else { throw missing("a learning rate", "learningRate") }
            guard sgd.hasMiniBatchSize else { throw missing("the size of a mini-batch", "miniBatchSize") }
            settings.optimizer = .sgd(momentum: sgd.hasMomentum ? sgd.momentum.defaultValue : 0)
            settings.learningRate = sgd.learningRate.defaultValue
            settings.miniBatchSize = Int(clamping: sgd.miniBatchSize.defaultValue)
        case .adamOptimizer(let adam)?:
            guard adam.hasLearningRate else { throw missing("a learning rate", "learningRate") }
            guard adam.hasMiniBatchSize else { throw missing("the size of a mini-batch", "miniBatchSize") }
            guard adam.hasBeta1 else { throw missing("beta1", "beta1") }
            guard adam.hasBeta2 else { throw missing("beta2", "beta2") }
            guard adam.hasEps else { throw missing("eps", "eps") }
            settings.optimizer = .adam(
                beta1: adam.beta1.defaultValue,
                beta2: adam.beta2.defaultValue,
                eps: adam.eps.defaultValue
            )
            settings.learningRate = adam.learningRate.defaultValue
            settings.miniBatchSize = Int(clamping: adam.miniBatchSize.defaultValue)
        case nil: throw missing("an optimiser", "optimizer")
        }
        do {
            try settings.check()
            try checkRanges(parameters)
        } catch {
            throw ModelError(.invalidModel, error.message, at: "update parameters of the model")
        }
        return settings
    }

    /// Throws when a default is outside the range that the file itself allows.
    private static func checkRanges(_ parameters: SpecNetworkUpdateParameters) throws(ModelError) {
        try check(parameters.epochs, "epochs")
        if parameters.hasSeed { try check(parameters.seed, "seed") }
        switch parameters.optimizer.optimizerType {
        case .sgdOptimizer(let sgd)?:
            try check(sgd.learningRate, "learningRate")
            try check(sgd.miniBatchSize, "miniBatchSize")
            if sgd.hasMomentum { try check(sgd.momentum, "momentum") }
        case .adamOptimizer(let adam)?:
            try check(adam.learningRate, "learningRate")
            try check(adam.miniBatchSize, "miniBatchSize")
            try check(adam.beta1, "beta1")
            try check(adam.beta2, "beta2")
            try check(adam.eps, "eps")
        case nil: return
        }
    }

    private static func check(_ parameter: SpecInt64Parameter, _ name: String) throws(ModelError) {
        let value = parameter.defaultValue
        switch parameter.allowedValues {
        case .range(let range)? where value < range.minValue || value > range.maxValue:
            throw outside(name, "\(value)", "\(range.minValue) to \(range.maxValue)")
        case .set(let set)? where !set.values.contains(value):
            throw outside(name, "\(value)", set.values.map(String.init).joined(separator: ", "))
        default: return
        }
    }

    private static func check(_ parameter: SpecDoubleParameter, _ name: String) throws(ModelError) {
        let value = parameter.defaultValue
        guard case .range(let range)? = parameter.allowedValues, value < range.minValue || value > range.maxValue else {
            return
        }
        throw outside(name, "\(value)", "\(range.minValue) to \(range.maxValue)")
    }

    private static func outside(_ name: String, _ value: String, _ allowed: String) -> ModelError {
        ModelError(.invalidModel, "the default \(value) of '\(name)' is not allowed; allowed: \(allowed)")
    }

    private static func missing(_ subject: String, _ field: String) -> ModelError {
        ModelError(.invalidModel, "the update parameters do not state \(subject); set '\(field)' in the model file")
    }
}

extension SpecModel {
    /// The update parameters of an updatable neural network.
    func updateParameters() throws(ModelError) -> SpecNetworkUpdateParameters {
        let parameters: SpecNetworkUpdateParameters?
        switch type {
        case .neuralNetwork(let network)?: parameters = network.hasUpdateParams ? network.updateParams : nil
        case .neuralNetworkClassifier(let network)?: parameters = network.hasUpdateParams ? network.updateParams : nil
        case .neuralNetworkRegressor(let network)?: parameters = network.hasUpdateParams ? network.updateParams : nil
        default:
            throw ModelError(.invalidInput, "the model is not a neural network; only those have layers to train")
        }
        guard isUpdatable else {
            throw ModelError(.invalidInput, "the model is not updatable; mark it and some layers as updatable first")
        }
        guard let parameters else {
            throw ModelError(.invalidModel, "the updatable network has no update parameters; set loss and optimiser")
        }
        return parameters
    }
}
