import MLFiles
import MLNumerics
import MLSpecification

/// Renames the features of a model.
enum FeatureNames {
    /// Renames a feature in the interface and wherever its name occurs inside.
    ///
    /// That is in values of networks and in features of a pipeline's models. A name that does not exist or is in use is
    /// an error.
    static func rename(_ name: String, to other: String, in model: inout SpecModel) throws(ModelError) {
        let description = model.description_p
        let features = description.input + description.output + description.trainingInput + description.state
        guard features.contains(where: { $0.name == name }) else {
            let names = Set(features.map(\.name)).sorted().joined(separator: ", ")
            throw ModelError(.invalidInput, "there is no input or output '\(name)'; there are \(names)")
        }
        guard !other.isEmpty, !features.contains(where: { $0.name == other }), !names(inside: model).contains(other)
        else { throw ModelError(.invalidInput, "the name '\(other)' is taken or empty; choose another") }
        try replace(name, other, in: &model)
    }

    /// Returns the names that have a meaning within the model.
    private static func names(inside model: SpecModel) -> Set<String> {
        var result: Set<String> = []
        for layer in model.networkLayers ?? [] { result.formUnion(layer.input + layer.output) }
        for stage in model.stages {
            result.formUnion((stage.description_p.input + stage.description_p.output).map(\.name))
        }
        return result
    }

    private static func replace(_ name: String, _ other: String, in model: inout SpecModel) throws(ModelError) {
        func renamed(_ list: [SpecFeatureDescription]) -> [SpecFeatureDescription] {
            list.map { feature in
                var copy = feature
                if copy.name == name { copy.name = other }
                return copy
            }
        }
        func renamed(_ text: String) -> String { text == name ? other : text }
        if case .mlProgram? = model.type {
            throw ModelError(
                .unsupported,
                "features of ML programs cannot be renamed here; coremltools' rename_feature does it"
            )
        }
        if case .linkedModel? = model.type {
            throw ModelError(
                .unsupported,
                "the feature belongs to a linked model; rename it in the file that is linked"
            )
        }
        model.description_p.input = renamed(model.description_p.input)
        model.description_p.output = renamed(model.description_p.output)
        model.description_p.trainingInput = renamed(model.description_p.trainingInput)
        model.description_p.predictedFeatureName = renamed(model.description_p.predictedFeatureName)
        model.description_p.predictedProbabilitiesName = renamed(model.description_p.predictedProbabilitiesName)
        if var layers = model.networkLayers {
            for index in layers.indices { layers[index].renameValue(name, other) }
            model.networkLayers = layers
        }
        if var parameters = model.networkUpdate {
            for index in parameters.lossLayers.indices {
                switch parameters.lossLayers[index].lossLayerType {
                case .categoricalCrossEntropyLossLayer(var loss)?:
                    (loss.input, loss.target) = (renamed(loss.input), renamed(loss.target))
                    parameters.lossLayers[index].categoricalCrossEntropyLossLayer = loss
                case .meanSquaredErrorLossLayer(var loss)?:
                    (loss.input, loss.target) = (renamed(loss.input), renamed(loss.target))
                    parameters.lossLayers[index].meanSquaredErrorLossLayer = loss
                case nil: break
                }
            }
            model.networkUpdate = parameters
        }
        switch model.type {
        case .neuralNetwork?: rename(&model.neuralNetwork.preprocessing, renamed)
        case .neuralNetworkRegressor?: rename(&model.neuralNetworkRegressor.preprocessing, renamed)
        case .neuralNetworkClassifier?:
            rename(&model.neuralNetworkClassifier.preprocessing, renamed)
            let label = model.neuralNetworkClassifier.labelProbabilityLayerName
            if !model.neuralNetworkClassifier.layers.contains(where: { $0.name == label && !$0.output.contains(label) })
            {
                model.neuralNetworkClassifier.labelProbabilityLayerName = renamed(label)
            }
        default: break
        }
        if !model.stages.isEmpty {
            var stages = model.stages
            for index in stages.indices where stages[index].mentions(name) {
                try withErrorContext("model \(index)") { () throws(ModelError) in
                    try replace(name, other, in: &stages[index])
                }
            }
            model.setStages(stages)
        }
    }

    private static func rename(_ steps: inout [SpecNeuralNetworkPreprocessing], _ renamed: (String) -> String) {
        for index in steps.indices { steps[index].featureName = renamed(steps[index].featureName) }
    }
}

extension SpecModel {
    fileprivate func mentions(_ name: String) -> Bool {
        (description_p.input + description_p.output + description_p.trainingInput).contains { $0.name == name }
    }
}

extension SpecNeuralNetworkLayer {
    fileprivate mutating func renameValue(_ name: String, _ other: String) {
        input = input.map { $0 == name ? other : $0 }
        output = output.map { $0 == name ? other : $0 }
        switch layer {
        case .branch(var branch)?:
            for index in branch.ifBranch.layers.indices { branch.ifBranch.layers[index].renameValue(name, other) }
            for index in branch.elseBranch.layers.indices { branch.elseBranch.layers[index].renameValue(name, other) }
            layer = .branch(branch)
        case .loop(var loop)?:
            if loop.conditionVar == name { loop.conditionVar = other }
            for index in loop.conditionNetwork.layers.indices {
                loop.conditionNetwork.layers[index].renameValue(name, other)
            }
            for index in loop.bodyNetwork.layers.indices { loop.bodyNetwork.layers[index].renameValue(name, other) }
            layer = .loop(loop)
        default: break
        }
    }
}
