import CoreML
import MLFiles
import MLLowering
import MLNumerics
import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Returns the network as a model, with the lowest specification version that supports what it uses.
    ///
    /// - Returns: The model.
    /// - Throws: `MLModelError` with the first error: in a call, a name that no value has, shapes that do not fit, or
    ///   an invalid update. It names the layer.
    public func finished() throws -> ModelSpecification {
        do throws(ModelError) {
            if let problem = problems.first { throw problem }
            var model = try specification()
            if let update { try update.apply(to: &model, trainingInputs: trainingInputs) }
            try check(model)
            return ModelSpecification(model)
        } catch { throw MLModelError(error) }
    }

    /// Returns a network that is part of this one: the body of a loop, or a branch.
    func nested(_ build: (inout NeuralNetworkBuilder) -> Void) -> (network: SpecNeuralNetwork, problems: [ModelError]) {
        var inner = NeuralNetworkBuilder(arrays: arrays)
        build(&inner)
        let network = SpecNeuralNetwork.with {
            $0.layers = inner.layers
            $0.arrayInputShapeMapping = arrays == .exact ? .exactArrayMapping : .rank5ArrayMapping
            $0.imageInputShapeMapping = arrays == .exact ? .rank4ImageMapping : .rank5ImageMapping
        }
        return (network, inner.problems)
    }

    private func specification() throws(ModelError) -> SpecModel {
        var model = SpecModel()
        model.description_p.input = inputs
        model.description_p.output = outputs
        metadata.write(to: &model.description_p.metadata)
        let array: SpecNeuralNetworkMultiArrayShapeMapping = arrays == .exact ? .exactArrayMapping : .rank5ArrayMapping
        let image: SpecNeuralNetworkImageShapeMapping = arrays == .exact ? .rank4ImageMapping : .rank5ImageMapping
        switch end {
        case .network:
            model.neuralNetwork = .with {
                $0.layers = layers
                $0.preprocessing = preprocessing
                $0.arrayInputShapeMapping = array
                $0.imageInputShapeMapping = image
            }
        case .regressor:
            model.description_p.predictedFeatureName = predictedFeature
            model.neuralNetworkRegressor = .with {
                $0.layers = layers
                $0.preprocessing = preprocessing
                $0.arrayInputShapeMapping = array
                $0.imageInputShapeMapping = image
            }
        case .classifier(let labels, let probabilities, let feature, let probabilitiesFeature):
            model.description_p.predictedFeatureName = feature
            model.description_p.predictedProbabilitiesName = probabilitiesFeature
            let types: [(String, ModelFeatureType)] = [
                (probabilitiesFeature, .dictionary(keys: labels.keyType)), (feature, labels.keyType.labelType),
            ]
            for (name, type) in types where !outputs.contains(where: { $0.name == name }) {
                model.description_p.output.append(
                    .with {
                        $0.name = name
                        $0.type = type.specification
                    }
                )
            }
            model.neuralNetworkClassifier = .with {
                $0.layers = layers
                $0.preprocessing = preprocessing
                $0.arrayInputShapeMapping = array
                $0.imageInputShapeMapping = image
                $0.labelProbabilityLayerName = probabilities
                switch labels {
                case .strings(let labels): $0.stringClassLabels.vector = labels
                case .integers(let labels): $0.int64ClassLabels.vector = labels
                }
            }
        }
        if model.description_p.output.isEmpty {
            throw ModelError(.invalidModel, "the network has no output; declare one with output(_:_:) or classifier")
        }
        return model
    }

    /// Checks names, ranks, shapes and weights by reading the model as a runtime does.
    ///
    /// Networks with layers of an app's own class are not checked.
    private func check(_ model: SpecModel) throws(ModelError) {
        var names: Set<String> = []
        for layer in layers where !names.insert(layer.name).inserted {
            throw ModelError(.invalidModel, "two layers have this name", at: "layer '\(layer.name)'")
        }
        if model.isUpdatable { try UpdatableModel.validate(model) }
        if layers.contains(where: { $0.hasCustomKind }) { return }
        _ = try NeuralNetworkReader.read(model)
    }
}

extension SpecNeuralNetworkLayer {
    /// Whether the layer, or one inside it, is computed by a class of an app.
    var hasCustomKind: Bool {
        switch layer {
        case .custom?: true
        case .branch(let branch)?: (branch.ifBranch.layers + branch.elseBranch.layers).contains { $0.hasCustomKind }
        case .loop(let loop)?: (loop.bodyNetwork.layers + loop.conditionNetwork.layers).contains { $0.hasCustomKind }
        default: false
        }
    }
}
