import MLSpecification

extension SpecModel {
    /// The parameters of an update of the model; empty for models that cannot be updated.
    var parameterDescriptions: [MLParameterKey: MLParameterDescription] {
        guard isUpdatable else { return [:] }
        var result: [MLParameterKey: MLParameterDescription] = [:]
        func add(_ key: MLParameterKey, _ parameter: SpecInt64Parameter) {
            var constraint: MLNumericConstraint?
            switch parameter.allowedValues {
            case .range(let range)?:
                constraint = MLNumericConstraint(
                    minimum: NSNumber(value: range.minValue),
                    maximum: NSNumber(value: range.maxValue)
                )
            case .set(let set)?:
                constraint = MLNumericConstraint(
                    minimum: NSNumber(value: set.values.min() ?? 0),
                    maximum: NSNumber(value: set.values.max() ?? 0),
                    choices: Set(set.values.map { NSNumber(value: $0) })
                )
            case nil: break
            }
            result[key] = MLParameterDescription(
                key: key,
                defaultValue: NSNumber(value: parameter.defaultValue),
                numericConstraint: constraint
            )
        }
        func add(_ key: MLParameterKey, _ parameter: SpecDoubleParameter) {
            var constraint: MLNumericConstraint?
            if case .range(let range)? = parameter.allowedValues {
                constraint = MLNumericConstraint(
                    minimum: NSNumber(value: range.minValue),
                    maximum: NSNumber(value: range.maxValue)
                )
            }
            result[key] = MLParameterDescription(
                key: key,
                defaultValue: NSNumber(value: parameter.defaultValue),
                numericConstraint: constraint
            )
        }
        func add(_ update: SpecNetworkUpdateParameters) {
            if update.hasEpochs { add(.epochs, update.epochs) }
            if update.hasSeed { add(.seed, update.seed) }
            if update.hasShuffle {
                result[.shuffle] = MLParameterDescription(
                    key: .shuffle,
                    defaultValue: NSNumber(value: update.shuffle.defaultValue),
                    numericConstraint: nil
                )
            }
            switch update.optimizer.optimizerType {
            case .sgdOptimizer(let optimizer)?:
                add(.learningRate, optimizer.learningRate)
                add(.miniBatchSize, optimizer.miniBatchSize)
                if optimizer.hasMomentum { add(.momentum, optimizer.momentum) }
            case .adamOptimizer(let optimizer)?:
                add(.learningRate, optimizer.learningRate)
                add(.miniBatchSize, optimizer.miniBatchSize)
                add(.beta1, optimizer.beta1)
                add(.beta2, optimizer.beta2)
                add(.eps, optimizer.eps)
            case nil: break
            }
        }
        switch type {
        case .neuralNetwork(let network)?: add(network.updateParams)
        case .neuralNetworkClassifier(let network)?: add(network.updateParams)
        case .neuralNetworkRegressor(let network)?: add(network.updateParams)
        case .kNearestNeighborsClassifier(let classifier)?:
            add(.numberOfNeighbors, classifier.numberOfNeighbors)
        case .pipeline(let pipeline)?: result = pipeline.models.last?.parameterDescriptions ?? [:]
        case .pipelineClassifier(let pipeline)?: result = pipeline.pipeline.models.last?.parameterDescriptions ?? [:]
        case .pipelineRegressor(let pipeline)?: result = pipeline.pipeline.models.last?.parameterDescriptions ?? [:]
        default: break
        }
        return result
    }
}
