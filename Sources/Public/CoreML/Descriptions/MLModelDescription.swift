import MLFiles
package import MLSpecification

/// A key of the information that a model's author gives about the model.
public struct MLModelMetadataKey: Hashable, RawRepresentable, Sendable {
    /// The key's text.
    public let rawValue: String
    /// Makes a key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The author's description of the model.
    public static let description = MLModelMetadataKey(rawValue: "MLModelDescriptionKey")
    /// The version of the model.
    public static let versionString = MLModelMetadataKey(rawValue: "MLModelVersionStringKey")
    /// The author of the model.
    public static let author = MLModelMetadataKey(rawValue: "MLModelAuthorKey")
    /// The license of the model.
    public static let license = MLModelMetadataKey(rawValue: "MLModelLicenseKey")
    /// Further information under keys of the author's own, as a dictionary of strings.
    public static let creatorDefinedKey = MLModelMetadataKey(rawValue: "MLModelCreatorDefinedKey")
}

/// The interface of a model: its inputs, outputs, states and metadata.
///
/// `@unchecked Sendable`: everything that it holds is immutable, the strings of the metadata, too.
open class MLModelDescription: NSObject, @unchecked Sendable {
    /// The inputs of predictions by their names.
    public let inputDescriptionsByName: [String: MLFeatureDescription]
    /// The outputs of predictions by their names.
    public let outputDescriptionsByName: [String: MLFeatureDescription]
    /// The states of a stateful model by their names; empty for other models.
    public let stateDescriptionsByName: [String: MLFeatureDescription]
    /// The features of the examples that an update takes, by their names; empty for models that cannot be updated.
    public let trainingInputDescriptionsByName: [String: MLFeatureDescription]
    /// The name of the output with the predicted label or number; `nil` when the model states none.
    public let predictedFeatureName: String?
    /// The name of a classifier's output with the probability of each label; `nil` when the model states none.
    public let predictedProbabilitiesName: String?
    /// Whether `MLUpdateTask` can train the model further.
    public let isUpdatable: Bool
    /// The author's information: strings, and a dictionary of strings under `creatorDefinedKey`.
    ///
    /// Description, version, author and license are always there, as empty strings when the author gave none.
    public let metadata: [MLModelMetadataKey: Any]
    /// The parameters of an update, such as the learning rate, with their defaults; empty for models without updates.
    public let parameterDescriptionsByKey: [MLParameterKey: MLParameterDescription]
    /// A classifier's labels in the order of its probabilities, `String` or `Int64`; `nil` for models that do not
    /// classify.
    public var classLabels: [Any]? { labels?.values }

    private let labels: ClassLabels?
    /// The labels of an object detector, which is a pipeline that ends in non-maximum suppression.
    package let detectorLabels: [String]?
    /// The names of a detector's outputs.
    package let detectorOutputs: (confidence: String, coordinates: String)?
    /// The inputs in the model's order.
    package let inputs: [MLFeatureDescription]
    /// The outputs in the model's order.
    package let outputs: [MLFeatureDescription]
    /// The states in the model's order.
    package let states: [MLFeatureDescription]

    /// Describes a model, or one function of a model with several.
    ///
    /// - Parameters:
    ///   - model: The specification.
    ///   - functionName: The function; `nil` for the default one.
    package init(_ model: SpecModel, functionName: String? = nil) {
        let description = model.description_p.interface(of: functionName)
        inputs = description.input.map { MLFeatureDescription($0) }
        outputs = description.output.map { MLFeatureDescription($0) }
        states = description.state.map { MLFeatureDescription($0) }
        predictedFeatureName = description.predictedFeatureName.nonEmpty
        predictedProbabilitiesName = description.predictedProbabilitiesName.nonEmpty
        func byName(_ features: [MLFeatureDescription]) -> [String: MLFeatureDescription] {
            Dictionary(features.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        inputDescriptionsByName = byName(inputs)
        outputDescriptionsByName = byName(outputs)
        stateDescriptionsByName = byName(states)
        trainingInputDescriptionsByName = byName(description.trainingInput.map { MLFeatureDescription($0) })
        isUpdatable = model.isUpdatable
        labels = ClassLabels(of: model, functionName: functionName)
        let suppression = model.suppression
        detectorLabels = suppression.map {
            $0.stringClassLabels.vector.isEmpty
                ? $0.int64ClassLabels.vector.map { "\($0)" } : $0.stringClassLabels.vector
        }
        detectorOutputs = suppression.map { ($0.confidenceOutputFeatureName, $0.coordinatesOutputFeatureName) }
        parameterDescriptionsByKey = model.parameterDescriptions
        let provided = description.metadata
        var metadata: [MLModelMetadataKey: Any] = [
            .description: provided.shortDescription,
            .versionString: provided.versionString,
            .author: provided.author,
            .license: provided.license,
        ]
        if !provided.userDefined.isEmpty { metadata[.creatorDefinedKey] = provided.userDefined }
        self.metadata = metadata
    }

    /// The inputs with their types, one a line, for messages.
    package var inputList: String {
        inputs.isEmpty ? "none" : inputs.map { "  \($0.name) : \($0.typeText)" }.joined(separator: "\n")
    }

    /// Inputs, outputs, states, training inputs and parameters, one to a line.
    open override var description: String {
        var text = "inputs:\n" + inputList
        text += "\noutputs:\n" + outputs.map { "  \($0.name) : \($0.typeText)" }.joined(separator: "\n")
        if !states.isEmpty {
            text += "\nstates:\n" + states.map { "  \($0.name) : \($0.typeText)" }.joined(separator: "\n")
        }
        if isUpdatable {
            text += "\ntraining inputs:"
            for (_, feature) in trainingInputDescriptionsByName.sorted(by: { $0.key < $1.key }) {
                text += "\n  \(feature.name) : \(feature.typeText)"
            }
            let parameters = parameterDescriptionsByKey.values.map { "  \($0.description)" }.sorted()
            if !parameters.isEmpty { text += "\nparameters:\n" + parameters.joined(separator: "\n") }
        }
        if let predictedFeatureName { text += "\npredicted feature: \(predictedFeatureName)" }
        if let predictedProbabilitiesName { text += "\nprobabilities: \(predictedProbabilitiesName)" }
        return text
    }
}

extension SpecModel {
    /// The non-maximum suppression that the model ends in.
    fileprivate var suppression: SpecNonMaximumSuppression? {
        switch type {
        case .nonMaximumSuppression(let suppression)?: suppression
        case .pipeline(let pipeline)?: pipeline.models.last?.suppression
        case .pipelineClassifier(let pipeline)?: pipeline.pipeline.models.last?.suppression
        default: nil
        }
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension ClassLabels {
    /// `String` or `Int64` values.
    fileprivate var values: [Any] {
        switch self {
        case .strings(let labels): labels
        case .integers(let labels): labels
        }
    }
}
