package import MLSpecification

extension SpecModel {
    /// The layers of a neural network of any of the three kinds; `nil` for other models.
    package var networkLayers: [SpecNeuralNetworkLayer]? {
        get {
            switch type {
            case .neuralNetwork(let network)?: network.layers
            case .neuralNetworkClassifier(let network)?: network.layers
            case .neuralNetworkRegressor(let network)?: network.layers
            default: nil
            }
        }
        set {
            switch type {
            case .neuralNetwork?: neuralNetwork.layers = newValue ?? []
            case .neuralNetworkClassifier?: neuralNetworkClassifier.layers = newValue ?? []
            case .neuralNetworkRegressor?: neuralNetworkRegressor.layers = newValue ?? []
            default: break
            }
        }
    }

    /// The update parameters of a neural network; `nil` when it has none, and for other models.
    package var networkUpdate: SpecNetworkUpdateParameters? {
        get {
            switch type {
            case .neuralNetwork(let network)?: network.hasUpdateParams ? network.updateParams : nil
            case .neuralNetworkClassifier(let network)?: network.hasUpdateParams ? network.updateParams : nil
            case .neuralNetworkRegressor(let network)?: network.hasUpdateParams ? network.updateParams : nil
            default: nil
            }
        }
        set {
            let parameters = newValue ?? SpecNetworkUpdateParameters()
            switch type {
            case .neuralNetwork?: neuralNetwork.updateParams = parameters
            case .neuralNetworkClassifier?: neuralNetworkClassifier.updateParams = parameters
            case .neuralNetworkRegressor?: neuralNetworkRegressor.updateParams = parameters
            default: break
            }
        }
    }

    /// Replaces the models of a pipeline of any kind.
    package mutating func setStages(_ models: [SpecModel]) {
        switch type {
        case .pipeline?: pipeline.models = models
        case .pipelineClassifier?: pipelineClassifier.pipeline.models = models
        case .pipelineRegressor?: pipelineRegressor.pipeline.models = models
        default: break
        }
    }
}

extension SpecNeuralNetworkLayer {
    /// The layer's kind as messages name it: `innerProduct`.
    package var kindName: String {
        layer.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "unknown"
    }

    /// The layers of the networks inside a branch or loop; empty for other layers.
    package var nestedLayers: [SpecNeuralNetworkLayer] {
        switch layer {
        case .branch(let branch)?: branch.ifBranch.layers + branch.elseBranch.layers
        case .loop(let loop)?: loop.conditionNetwork.layers + loop.bodyNetwork.layers
        default: []
        }
    }
}

extension SpecLossLayer {
    package var inputName: String {
        switch lossLayerType {
        case .categoricalCrossEntropyLossLayer(let loss)?: loss.input
        case .meanSquaredErrorLossLayer(let loss)?: loss.input
        case nil: ""
        }
    }

    package var targetName: String {
        switch lossLayerType {
        case .categoricalCrossEntropyLossLayer(let loss)?: loss.target
        case .meanSquaredErrorLossLayer(let loss)?: loss.target
        case nil: ""
        }
    }
}

extension [SpecNeuralNetworkLayer] {
    /// The indices of the layers that the final value `name` depends on.
    package func ancestors(of name: String) -> Set<Int> {
        var wanted: Set<String> = [name]
        var result: Set<Int> = []
        for (index, layer) in enumerated().reversed() where layer.output.contains(where: wanted.contains) {
            result.insert(index)
            wanted.subtract(layer.output)
            wanted.formUnion(layer.input)
        }
        return result
    }
}
