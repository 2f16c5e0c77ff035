import MLFiles
package import MLSpecification

/// The kinds of information that a model's author gave.
public struct MLModelMetadataKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let description = MLModelMetadataKey(rawValue: "MLModelDescriptionKey")
    public static let versionString = MLModelMetadataKey(rawValue: "MLModelVersionStringKey")
    public static let author = MLModelMetadataKey(rawValue: "MLModelAuthorKey")
    public static let license = MLModelMetadataKey(rawValue: "MLModelLicenseKey")
    public static let creatorDefinedKey = MLModelMetadataKey(rawValue: "MLModelCreatorDefinedKey")
}

/// What a model takes and gives.
open class MLModelDescription: NSObject, @unchecked Sendable {
    public let inputDescriptionsByName: [String: MLFeatureDescription]
    public let outputDescriptionsByName: [String: MLFeatureDescription]
    public let stateDescriptionsByName: [String: MLFeatureDescription]
    public let trainingInputDescriptionsByName: [String: MLFeatureDescription]
    public let predictedFeatureName: String?
    public let predictedProbabilitiesName: String?
    public let isUpdatable: Bool
    /// Strings, and for `creatorDefinedKey` a dictionary of strings.
    public let metadata: [MLModelMetadataKey: Any]
    public let parameterDescriptionsByKey: [MLParameterKey: MLParameterDescription]
    /// `String` or `Int64` values, in the order of the classifier's probabilities.
    public var classLabels: [Any]? { labels?.values }

    private let labels: ClassLabels?
    /// The labels of an object detector: a pipeline that ends in non-maximum suppression.
    package let detectorLabels: [String]?
    /// The names of a detector's outputs.
    package let detectorOutputs: (confidence: String, coordinates: String)?
    /// In the order of the model.
    package let inputs: [MLFeatureDescription]
    package let outputs: [MLFeatureDescription]
    package let states: [MLFeatureDescription]

    /// - Parameter functionName: a function of a model with several; `nil` for the default one.
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
        let given = description.metadata
        var metadata: [MLModelMetadataKey: Any] = [
            .description: given.shortDescription,
            .versionString: given.versionString,
            .author: given.author,
            .license: given.license,
        ]
        if !given.userDefined.isEmpty { metadata[.creatorDefinedKey] = given.userDefined }
        self.metadata = metadata
    }

    /// The inputs with their types, one a line, for messages.
    package var inputList: String {
        inputs.isEmpty ? "none" : inputs.map { "  \($0.name) : \($0.typeText)" }.joined(separator: "\n")
    }

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
