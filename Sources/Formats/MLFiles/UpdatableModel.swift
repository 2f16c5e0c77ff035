package import MLNumerics
package import MLSpecification

/// The model format's requirements of a model that is marked as updatable.
package enum UpdatableModel {
    /// Throws for the first violation of the format, naming the layer or parameter.
    package static func validate(_ model: SpecModel) throws(ModelError) {
        for (index, stage) in model.stages.dropLast().enumerated() where stage.isUpdatable {
            throw ModelError(
                .invalidModel,
                "only the last model of a pipeline can be updatable; model \(index) of \(model.stages.count) is"
            )
        }
        if let last = model.stages.last, last.isUpdatable != model.isUpdatable {
            throw ModelError(
                .invalidModel,
                last.isUpdatable
                    ? "the last model of the pipeline is updatable, but the pipeline is not marked updatable"
                    : "the pipeline is marked updatable, but its last model is not"
            )
        }
        guard model.isUpdatable else { return }
        switch model.type {
        case .neuralNetwork(let network)?: try validate(network.layers, network.updateParams, model)
        case .neuralNetworkClassifier(let network)?: try validate(network.layers, network.updateParams, model)
        case .neuralNetworkRegressor(let network)?: try validate(network.layers, network.updateParams, model)
        case .kNearestNeighborsClassifier(let classifier)?: try validate(classifier)
        case .pipeline?, .pipelineClassifier?, .pipelineRegressor?:
            guard let last = model.stages.last else { throw ModelError(.invalidModel, "the pipeline is empty") }
            try validate(last)
        default:
            throw ModelError(
                .invalidModel,
                "models of this kind cannot be updatable: only neural networks, nearest-neighbour classifiers and "
                    + "pipelines that end in one can"
            )
        }
        guard !model.description_p.trainingInput.isEmpty else {
            throw ModelError(.invalidModel, "an updatable model needs training inputs, and there are none")
        }
    }

    /// Whether a layer of this kind can be updated.
    package static func canUpdate(_ layer: SpecNeuralNetworkLayer) -> Bool {
        switch layer.layer {
        case .convolution(let convolution)?:
            layer.input.count == 1 && isFull(convolution.weights) && isFull(convolution.bias)
        case .innerProduct(let product)?: isFull(product.weights) && isFull(product.bias)
        default: false
        }
    }

    /// Whether weights are absent or stored in full precision.
    private static func isFull(_ weights: SpecWeightParams) -> Bool {
        !weights.hasQuantization && weights.float16Bytes == nil
    }

    /// The layers that Apple's Core ML does not propagate gradients through, though they are differentiable.
    ///
    /// They lie between the loss and the first updatable layer; a model with such layers can be updated by this package
    /// alone.
    package static func layersOfThisSystem(_ model: SpecModel) -> [SpecNeuralNetworkLayer] {
        guard model.isUpdatable, let layers = model.networkLayers, let loss = model.networkUpdate?.lossLayers.first,
            let first = layers.firstIndex(where: \.isUpdatable)
        else { return [] }
        let input = loss.inputName
        let needed = layers.ancestors(of: input)
        return layers.indices.filter { $0 > first && needed.contains($0) }.map { layers[$0] }.filter { layer in
            switch layer.layer {
            case .convolution?, .innerProduct?, .uniDirectionalLstm?, .flatten?, .pooling?, .batchnorm?: return false
            case .activation(let activation)?:
                switch activation.nonlinearityType {
                case .reLu?, .sigmoid?, .tanh?: return false
                default: return true
                }
            case .softmax?: return !layer.output.contains(input)
            default: return true
            }
        }
    }

    // MARK: Networks

    private static func validate(
        _ layers: [SpecNeuralNetworkLayer],
        _ parameters: SpecNetworkUpdateParameters,
        _ model: SpecModel
    ) throws(ModelError) {
        var names: Set<String> = []
        for layer in layers where !names.insert(layer.name).inserted {
            throw ModelError(.invalidModel, "two layers have this name; an updatable model needs different ones")
                .at("layer '\(layer.name)'")
        }
        let updatable = layers.filter(\.isUpdatable)
        guard !updatable.isEmpty else {
            throw ModelError(
                .invalidModel,
                "no layer is updatable; mark one or more of \(list(layers.filter(canUpdate).map(\.name)))"
            )
        }
        for layer in updatable {
            try withErrorContext("layer '\(layer.name)'") { () throws(ModelError) in try validate(layer) }
        }
        guard parameters.lossLayers.count == 1, let loss = parameters.lossLayers.first else {
            throw ModelError(
                .invalidModel,
                "an updatable network has exactly one loss; this one has \(parameters.lossLayers.count)"
            )
        }
        try withErrorContext("loss '\(loss.name)'") { () throws(ModelError) in
            if names.contains(loss.name) { throw ModelError(.invalidModel, "a layer has the same name") }
            try validate(loss, layers, model)
        }
        try validate(parameters)
    }

    private static func validate(_ layer: SpecNeuralNetworkLayer) throws(ModelError) {
        let parameters: [SpecWeightParams]
        switch layer.layer {
        case .convolution(let convolution)?:
            guard layer.input.count == 1 else {
                throw ModelError(.invalidModel, "weights that are an input cannot be updated")
            }
            parameters = [convolution.weights] + (convolution.hasBias_p ? [convolution.bias] : [])
        case .innerProduct(let product)?:
            parameters = [product.weights] + (product.hasBias_p ? [product.bias] : [])
        default:
            throw ModelError(
                .invalidModel,
                "layers of kind '\(layer.kindName)' cannot be updated; convolution and innerProduct can"
            )
        }
        for weights in parameters {
            guard weights.isUpdatable else {
                throw ModelError(.invalidModel, "weights and bias of an updatable layer must both be marked updatable")
            }
            guard isFull(weights) else {
                throw ModelError(
                    .invalidModel,
                    "half-precision and quantised weights cannot be updated; store them in full precision"
                )
            }
        }
    }

    private static func validate(
        _ loss: SpecLossLayer,
        _ layers: [SpecNeuralNetworkLayer],
        _ model: SpecModel
    ) throws(ModelError) {
        let (input, target) = (loss.inputName, loss.targetName)
        guard let source = layers.last(where: { $0.output.contains(input) }) else {
            throw ModelError(.invalidModel, "no layer gives its input '\(input)'")
        }
        guard !layers.contains(where: { $0.output.contains(target) }) else {
            throw ModelError(.invalidModel, "its target '\(target)' is given by a layer; name a training input")
        }
        let reached = layers.ancestors(of: input)
        for (index, layer) in layers.enumerated() where layer.isUpdatable && !reached.contains(index) {
            throw ModelError(.invalidModel, "the updatable layer '\(layer.name)' does not lead to its input '\(input)'")
        }
        if case .categoricalCrossEntropyLossLayer? = loss.lossLayerType {
            switch source.layer {
            case .softmax?, .softmaxNd?: break
            default:
                throw ModelError(
                    .invalidModel,
                    "categorical cross-entropy needs the output of a softmax layer; '\(input)' comes from the "
                        + "\(source.kindName) layer '\(source.name)'"
                )
            }
        }
        let description = model.description_p
        guard
            description.trainingInput.contains(where: {
                $0.name == target || $0.name == description.predictedFeatureName && !$0.name.isEmpty
            })
        else {
            throw ModelError(.invalidModel, "no training input is called '\(target)' (its target)")
        }
    }

    private static func validate(_ parameters: SpecNetworkUpdateParameters) throws(ModelError) {
        try validate(parameters.epochs, "epochs", atLeast: 1, isGiven: parameters.hasEpochs)
        if parameters.hasSeed { try validate(parameters.seed, "seed", atLeast: .min) }
        switch parameters.optimizer.optimizerType {
        case .sgdOptimizer(let sgd)?:
            try validate(sgd.learningRate, "learning rate", isGiven: sgd.hasLearningRate)
            try validate(sgd.miniBatchSize, "mini-batch size", atLeast: 1, isGiven: sgd.hasMiniBatchSize)
            if sgd.hasMomentum { try validate(sgd.momentum, "momentum") }
        case .adamOptimizer(let adam)?:
            try validate(adam.learningRate, "learning rate", isGiven: adam.hasLearningRate)
            try validate(adam.miniBatchSize, "mini-batch size", atLeast: 1, isGiven: adam.hasMiniBatchSize)
            try validate(adam.beta1, "beta1", isGiven: adam.hasBeta1)
            try validate(adam.beta2, "beta2", isGiven: adam.hasBeta2)
            try validate(adam.eps, "eps", isGiven: adam.hasEps)
        case nil: throw ModelError(.invalidModel, "an updatable network needs an optimiser (SGD or Adam)")
        }
    }

    // MARK: Nearest neighbours

    private static func validate(_ classifier: SpecKNearestNeighborsClassifier) throws(ModelError) {
        try validate(
            classifier.numberOfNeighbors,
            "number of neighbours",
            atLeast: 1,
            isGiven: classifier.hasNumberOfNeighbors
        )
        let index = classifier.nearestNeighborsIndex
        guard index.numberOfDimensions > 0 else {
            throw ModelError(.invalidModel, "the index must have at least one dimension")
        }
        if case .singleKdTreeIndex(let tree)? = index.indexType, tree.leafSize < 1 {
            throw ModelError(.invalidModel, "the leaves of a kd-tree hold at least 1 example")
        }
        let labels = classifier.stringClassLabels.vector.count + classifier.int64ClassLabels.vector.count
        guard labels == index.floatSamples.count else {
            throw ModelError(.invalidModel, "\(index.floatSamples.count) examples have \(labels) labels")
        }
        guard labels > 0 || classifier.defaultClassLabel != nil else {
            throw ModelError(.invalidModel, "a classifier without examples needs a default label")
        }
        for (number, sample) in index.floatSamples.enumerated()
        where sample.vector.count != Int(index.numberOfDimensions) {
            throw ModelError(
                .invalidModel,
                "example \(number) has \(sample.vector.count) values where the index has \(index.numberOfDimensions)"
            )
        }
    }

    // MARK: Parameters

    package static func validate(
        _ parameter: SpecInt64Parameter,
        _ name: String,
        atLeast minimum: Int64,
        isGiven: Bool = true
    ) throws(ModelError) {
        guard isGiven else { throw ModelError(.invalidModel, "the parameter \(name) is missing") }
        let value = parameter.defaultValue
        switch parameter.allowedValues {
        case .range(let range)?:
            guard range.minValue >= minimum else {
                throw ModelError(
                    .invalidModel,
                    "the range of the \(name) begins at \(range.minValue), below \(minimum)"
                )
            }
            guard range.minValue <= value, value <= range.maxValue else {
                throw ModelError(
                    .invalidModel,
                    "the \(name) is \(value), outside its range \(range.minValue) to \(range.maxValue)"
                )
            }
        case .set(let set)?:
            guard set.values.allSatisfy({ $0 >= minimum }) else {
                throw ModelError(.invalidModel, "the allowed values of the \(name) must be \(minimum) or more")
            }
            guard set.values.contains(value) else {
                throw ModelError(.invalidModel, "the \(name) is \(value), which is not one of its values \(set.values)")
            }
        case nil:
            guard value >= minimum else { throw ModelError(.invalidModel, "the \(name) is \(value), below \(minimum)") }
        }
    }

    package static func validate(
        _ parameter: SpecDoubleParameter,
        _ name: String,
        isGiven: Bool = true
    ) throws(ModelError) {
        guard isGiven else { throw ModelError(.invalidModel, "the parameter \(name) is missing") }
        guard parameter.defaultValue.isFinite else { throw ModelError(.invalidModel, "the \(name) is not a number") }
        if case .range(let range)? = parameter.allowedValues,
            !(range.minValue <= parameter.defaultValue && parameter.defaultValue <= range.maxValue)
        {
            throw ModelError(
                .invalidModel,
                "the \(name) is \(parameter.defaultValue), outside its range \(range.minValue) to \(range.maxValue)"
            )
        }
    }

    package static func list(_ names: [String]) -> String {
        names.isEmpty
            ? "none: there is no convolution or innerProduct in full precision" : names.joined(separator: ", ")
    }
}
