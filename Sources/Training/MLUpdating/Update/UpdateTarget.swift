package import MLNumerics
package import MLSpecification

/// The trainable part of an updatable model: the model itself, or the last model of its pipeline.
package struct UpdateTarget: Sendable {
    /// The names of the enclosing models and its own in their pipelines, outermost first; empty without a pipeline.
    package let names: [String]
    /// The trainable network or classifier.
    package let model: SpecModel

    /// Finds the trainable part, and checks the format's rules for updatable models.
    package init(of model: SpecModel) throws(ModelError) {
        guard model.isUpdatable else {
            throw ModelError(
                .update,
                "the model is not updatable; mark it so with its layers, a loss and an optimizer (isUpdatable is false)"
            )
        }
        var names: [String] = []
        var target = model
        while let pipeline = target.innerPipeline {
            guard let last = pipeline.models.last else {
                throw ModelError(.update, "the updatable pipeline has no models")
            }
            let location = pipeline.models.count - 1
            let name = location < pipeline.names.count ? pipeline.names[location] : "model \(location)"
            if let other = pipeline.models.dropLast().firstIndex(where: \.isUpdatable) {
                throw ModelError(
                    .update,
                    "model \(other) of the pipeline is updatable, but only the last one may be"
                )
            }
            guard last.isUpdatable else {
                throw ModelError(.update, "the pipeline is updatable, but its last model, '\(name)', is not")
            }
            names.append(name)
            target = last
        }
        switch target.type {
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?, .kNearestNeighborsClassifier?: break
        default:
            throw ModelError(
                .update,
                "only neural networks and nearest-neighbours classifiers can be updated, alone or as the last of a pipeline"
            )
        }
        self.names = names
        self.model = target
    }

    /// The update parameters of a network; `nil` for other kinds.
    package var networkParameters: SpecNetworkUpdateParameters? {
        switch model.type {
        case .neuralNetwork(let network)?: network.updateParams
        case .neuralNetworkClassifier(let network)?: network.updateParams
        case .neuralNetworkRegressor(let network)?: network.updateParams
        default: nil
        }
    }
}

extension SpecModel {
    /// The models of a pipeline of any form; `nil` for other kinds.
    var innerPipeline: SpecPipeline? {
        switch type {
        case .pipeline(let pipeline)?: pipeline
        case .pipelineClassifier(let classifier)?: classifier.pipeline
        case .pipelineRegressor(let regressor)?: regressor.pipeline
        default: nil
        }
    }

    /// The same model with its last part, at any depth of pipelines, replaced.
    package func replacingTarget(_ target: SpecModel) -> SpecModel {
        guard let last = innerPipeline?.models.last else { return target }
        let inner = last.replacingTarget(target)
        var copy = self
        func replaceLast(_ pipeline: inout SpecPipeline) { pipeline.models[pipeline.models.count - 1] = inner }
        switch copy.type {
        case .pipeline?: replaceLast(&copy.pipeline)
        case .pipelineClassifier?: replaceLast(&copy.pipelineClassifier.pipeline)
        case .pipelineRegressor?: replaceLast(&copy.pipelineRegressor.pipeline)
        default: break
        }
        return copy
    }

    /// The features of a training example: the declared training inputs, or, when the file declares none, the inputs
    /// and a classifier's predicted feature.
    package var trainingFeatures: [SpecFeatureDescription] {
        guard description_p.trainingInput.isEmpty else { return description_p.trainingInput }
        let predicted = description_p.output.first { $0.name == description_p.predictedFeatureName }
        return description_p.input + (predicted.map { [$0] } ?? [])
    }
}
