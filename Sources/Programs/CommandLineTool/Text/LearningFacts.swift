import MLEngine
import MLFiles
import MLNumerics
import MLSpecification
import MLUpdating

/// The on-device update of a model, as its file states it, and the settings of a nearest-neighbours classifier.
struct LearningFacts {
    /// The trainable part of the model: in a pipeline its last model.
    private let learner: SpecModel
    private let isUpdatable: Bool
    /// The names of the enclosing models and its own; empty without a pipeline.
    private let names: [String]
    /// The declared parameters in the order in which they are shown, or the reason why the model cannot be updated.
    private let parameters: Result<[(UpdateParameter, UpdateParameters.Declaration)], ModelError>

    /// `nil` for a model that is neither updatable nor a nearest-neighbours classifier.
    init?(_ model: SpecModel) {
        var (learner, names) = (model, [String]())
        while let last = learner.stages.last {
            let stated = learner.stageNames
            names.append(stated.count == learner.stages.count ? stated.last ?? "" : "model \(learner.stages.count - 1)")
            learner = last
        }
        let classifier = learner.neighbors
        guard model.isUpdatable || classifier != nil else { return nil }
        self.learner = learner
        isUpdatable = model.isUpdatable
        self.names = names
        parameters = Result { () throws(ModelError) in
            let parameters =
                if !model.isUpdatable, let classifier {
                    try UpdateParameters(of: classifier)
                } else {
                    try UpdateParameters(of: try UpdateTarget(of: model))
                }
            return Self.order.compactMap { name in parameters.declarations[name].map { (name, $0) } }
        }
    }

    private static let order: [UpdateParameter] = [
        .numberOfNeighbors, .epochs, .miniBatchSize, .learningRate, .momentum, .beta1, .beta2, .eps, .shuffle, .seed,
    ]

    private var layers: [SpecNeuralNetworkLayer] { (learner.networkLayers ?? []).filter(\.isUpdatable) }

    private var optimizer: String? {
        switch learner.networkUpdate?.optimizer.optimizerType {
        case .sgdOptimizer?: "SGD"
        case .adamOptimizer?: "Adam"
        case nil: nil
        }
    }

    /// The losses: their kind, their input, and the training input that it is compared with.
    private var losses: [(name: String, kind: String, input: String, target: String)] {
        (learner.networkUpdate?.lossLayers ?? []).map { loss in
            let kind =
                switch loss.lossLayerType {
                case .categoricalCrossEntropyLossLayer?: "categorical cross-entropy"
                case .meanSquaredErrorLossLayer?: "mean squared error"
                case nil: "unknown"
                }
            // A classifier's target may have the name of the label that it predicts.
            let description = learner.description_p
            let isNamed = description.trainingInput.contains { $0.name == loss.targetName }
            let label = description.predictedFeatureName
            return (loss.name, kind, loss.inputName, isNamed || label.isEmpty ? loss.targetName : label)
        }
    }

    private var neighborFacts: [(name: String, text: String, json: Any)] {
        guard let classifier = learner.neighbors else { return [] }
        let index = classifier.nearestNeighborsIndex
        var facts: [(String, String, Any)] = []
        switch classifier.weightingScheme {
        case .uniformWeighting?: facts.append(("weighting", "uniform", "uniform"))
        case .inverseDistanceWeighting?: facts.append(("weighting", "inverse distance", "inverse distance"))
        case nil: break
        }
        if case .squaredEuclideanDistance? = index.distanceFunction {
            facts.append(("distance", "squared Euclidean", "squared Euclidean"))
        }
        switch index.indexType {
        case .linearIndex?: facts.append(("index", "linear", "linear"))
        case .singleKdTreeIndex(let tree)?:
            facts.append(("index", "k-d tree, leaves of up to \(tree.leafSize) examples", "k-d tree"))
            facts.append(("leaf_size", "", Int(tree.leafSize)))
        case nil: break
        }
        facts.append(("dimensions", "\(index.numberOfDimensions)", Int(index.numberOfDimensions)))
        facts.append(("examples", "\(index.floatSamples.count)", index.floatSamples.count))
        switch classifier.defaultClassLabel {
        case .defaultStringLabel(let label)?: facts.append(("default_label", label, label))
        case .defaultInt64Label(let label)?: facts.append(("default_label", "\(label)", label))
        case nil: break
        }
        return facts
    }

    /// The layers that gradients can pass in an update here, but not on Apple's systems.
    private var layersOfThisSystem: [String] { UpdatableModel.layersOfThisSystem(learner).map(\.name) }

    var text: String {
        var table = Table()
        if !layers.isEmpty {
            table.add("layers", layers.map { "\($0.name) (\($0.kindName))" }.joined(separator: ", "))
        }
        for loss in losses { table.add("loss", "\(loss.kind) of '\(loss.input)' against '\(loss.target)'") }
        if let optimizer { table.add("optimizer", optimizer) }
        switch parameters {
        case .success(let parameters):
            for (name, declaration) in parameters {
                let allowed = declaration.allowed.text
                table.add(name.rawValue, "\(declaration.defaultValue)" + (allowed.isEmpty ? "" : " (\(allowed))"))
            }
        case .failure(let error): table.add("cannot be updated", "\(error)")
        }
        for fact in neighborFacts where !fact.text.isEmpty {
            table.add(fact.name.split(separator: "_").joined(separator: " "), fact.text)
        }
        if !layersOfThisSystem.isEmpty {
            table.add(
                "only here",
                "Apple's systems do not propagate gradients through \(layersOfThisSystem.joined(separator: ", "))"
            )
        }
        let location = names.isEmpty ? "" : " in '\(names.joined(separator: " › "))'"
        return (isUpdatable ? "Learns\(location)" : "Neighbours\(location)") + "\n" + table.text()
    }

    var object: [String: Any] {
        var object: [String: Any] = ["updatable": isUpdatable]
        if !names.isEmpty { object["model"] = names }
        if !layers.isEmpty { object["layers"] = layers.map { ["name": $0.name, "kind": $0.kindName] } }
        if let optimizer { object["optimizer"] = optimizer.lowercased() }
        if !losses.isEmpty {
            object["losses"] = losses.map {
                ["name": $0.name, "kind": $0.kind, "input": $0.input, "training_input": $0.target]
            }
        }
        switch parameters {
        case .success(let parameters):
            object["parameters"] = [String: Any](
                uniqueKeysWithValues: parameters.map { name, declaration in
                    let stated = ["default": declaration.defaultValue.json]
                    return (name.rawValue, stated.merging(declaration.allowed.json) { first, _ in first })
                }
            )
        case .failure(let error): object["cannot_be_updated"] = "\(error)"
        }
        let neighbors = neighborFacts.map { ($0.name, $0.json) }
        if !neighbors.isEmpty { object["neighbors"] = [String: Any](uniqueKeysWithValues: neighbors) }
        if !layersOfThisSystem.isEmpty { object["updatable_here_only_because_of"] = layersOfThisSystem }
        return object
    }
}

extension SpecModel {
    fileprivate var neighbors: SpecKNearestNeighborsClassifier? {
        if case .kNearestNeighborsClassifier(let classifier)? = type { classifier } else { nil }
    }

    /// The names that a pipeline states for its models.
    fileprivate var stageNames: [String] {
        switch type {
        case .pipeline(let pipeline)?: pipeline.names
        case .pipelineClassifier(let classifier)?: classifier.pipeline.names
        case .pipelineRegressor(let regressor)?: regressor.pipeline.names
        default: []
        }
    }
}

extension UpdateParameter.Value {
    fileprivate var json: Any {
        switch self {
        case .integer(let value): value
        case .number(let value): JSONFeature.json(.double(value))
        case .flag(let value): value
        }
    }
}

extension UpdateParameters.Declaration.Allowed {
    /// Empty when the file states nothing.
    fileprivate var text: String {
        switch self {
        case .integers(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .numbers(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .choices(let values): values.map(String.init).joined(separator: ", ")
        case .anything: ""
        }
    }

    fileprivate var json: [String: Any] {
        switch self {
        case .integers(let range): ["minimum": range.lowerBound, "maximum": range.upperBound]
        case .numbers(let range):
            [
                "minimum": JSONFeature.json(.double(range.lowerBound)),
                "maximum": JSONFeature.json(.double(range.upperBound)),
            ]
        case .choices(let values): ["values": values]
        case .anything: [:]
        }
    }
}
