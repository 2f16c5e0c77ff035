public import CoreML
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Builds a nearest-neighbours classifier, empty or with examples; updates on the device add examples.
///
/// ```swift
/// var builder = NearestNeighborsBuilder(input: "features", dimensions: 48, label: "sticker", default: "unknown")
/// builder.neighbors = IntegerParameter(3, in: 1...10)
/// try builder.finished().write(to: url)
/// ```
public struct NearestNeighborsBuilder: Sendable {
    /// The search for neighbours, which does not change the predictions.
    public enum Index: Hashable, Sendable {
        /// Compares with every example.
        case linear
        /// A k-d tree whose leaves hold at most `leafSize` examples.
        case kdTree(leafSize: Int = 30)
    }

    /// The weight of a neighbour's vote.
    public enum Weighting: Hashable, Sendable {
        /// All votes count the same.
        case uniform
        /// A vote counts 1 / squared distance.
        case inverseDistance
    }

    /// A class label; all labels of a classifier are of one type.
    public enum Label: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A label that is a string.
        case string(String)
        /// A label that is an integer.
        case integer(Int64)

        /// Creates a string label.
        public init(stringLiteral value: String) { self = .string(value) }
        /// Creates an integer label.
        public init(integerLiteral value: Int64) { self = .integer(value) }
    }

    /// The search for neighbours; `linear` by default.
    public var index = Index.linear
    /// The weight of a neighbour's vote; `uniform` by default.
    public var weighting = Weighting.uniform
    /// The number of neighbours that vote, 5 by default, and the numbers that an app may choose instead.
    public var neighbors = IntegerParameter(5, in: 1...1000)
    /// Whether the classifier can learn further examples on the device; true by default.
    public var isUpdatable = true
    /// The metadata of the model.
    public var metadata = ModelMetadata()
    /// The element type of the input; single precision by default.
    public var dataType = MLMultiArrayDataType.float32

    private let input: String
    private let label: String
    private let probabilities: String
    private let dimensions: Int
    private let defaultLabel: Label
    private var examples: [[Float]] = []
    private var labels: [Label] = []

    /// Creates a builder of a classifier without examples.
    ///
    /// - Parameters:
    ///   - input: The name of the input, an array of `dimensions` numbers.
    ///   - dimensions: The number of elements of an example, at least 1.
    ///   - label: The name of the output with the most likely label, which is also a training input.
    ///   - probabilities: The name of the output with the share of votes of each label; `label` + "Probs" by default.
    ///   - defaultLabel: The prediction while there are no examples; all labels have its type.
    public init(
        input: String,
        dimensions: Int,
        label: String,
        probabilities: String? = nil,
        default defaultLabel: Label
    ) {
        self.input = input
        self.dimensions = dimensions
        self.label = label
        self.probabilities = probabilities ?? label + "Probs"
        self.defaultLabel = defaultLabel
    }

    /// Adds an example of `dimensions` numbers with its label.
    public mutating func add(_ example: [Float], label: Label) {
        examples.append(example)
        labels.append(label)
    }

    /// Returns the classifier as a model, or throws `MLModelError` when examples or settings are invalid.
    public func finished() throws -> ModelSpecification {
        do throws(ModelError) {
            let model = try specification()
            var probe = model
            probe.isUpdatable = true
            try UpdatableModel.validate(probe)
            return ModelSpecification(model)
        } catch { throw MLModelError(error) }
    }

    private func specification() throws(ModelError) -> SpecModel {
        guard (1...Int(Int32.max)).contains(dimensions) else {
            throw ModelError(.invalidModel, "an example has \(dimensions) values; it needs 1 or more")
        }
        guard Set([input, label, probabilities]).count == 3, !input.isEmpty, !label.isEmpty else {
            throw ModelError(.invalidModel, "input, label and probabilities need three different names")
        }
        for (number, example) in examples.enumerated() {
            guard example.allSatisfy(\.isFinite) else {
                throw ModelError(.invalidModel, "a value is not finite", at: "example \(number)")
            }
        }
        var classifier = SpecKNearestNeighborsClassifier()
        classifier.nearestNeighborsIndex = .with {
            $0.numberOfDimensions = Int32(dimensions)
            $0.floatSamples = examples.map { example in .with { $0.vector = example } }
            $0.squaredEuclideanDistance = .init()
            switch index {
            case .linear: $0.linearIndex = .init()
            case .kdTree(let leafSize): $0.singleKdTreeIndex.leafSize = Int32(clamping: leafSize)
            }
        }
        classifier.numberOfNeighbors = neighbors.specification
        switch weighting {
        case .uniform: classifier.uniformWeighting = .init()
        case .inverseDistance: classifier.inverseDistanceWeighting = .init()
        }
        let keys = try fillLabels(of: &classifier)
        var model = SpecModel()
        let vector = ModelFeatureType.array([dimensions], dataType)
        model.description_p.input = [feature(input, vector)]
        model.description_p.output = [feature(label, keys.labelType), feature(probabilities, .dictionary(keys: keys))]
        model.description_p.predictedFeatureName = label
        model.description_p.predictedProbabilitiesName = probabilities
        model.description_p.trainingInput = [feature(input, vector), feature(label, keys.labelType)]
        metadata.write(to: &model.description_p.metadata)
        model.isUpdatable = isUpdatable
        model.kNearestNeighborsClassifier = classifier
        return model
    }

    private func fillLabels(
        of classifier: inout SpecKNearestNeighborsClassifier
    ) throws(ModelError) -> ModelFeatureType.KeyType {
        switch defaultLabel {
        case .string(let label):
            classifier.defaultStringLabel = label
            classifier.stringClassLabels = .init()
        case .integer(let label):
            classifier.defaultInt64Label = label
            classifier.int64ClassLabels = .init()
        }
        for (number, label) in labels.enumerated() {
            switch (label, defaultLabel) {
            case (.string(let label), .string): classifier.stringClassLabels.vector.append(label)
            case (.integer(let label), .integer): classifier.int64ClassLabels.vector.append(label)
            default:
                throw ModelError(
                    .invalidModel,
                    "the label is of another type than the default label",
                    at: "example \(number)"
                )
            }
        }
        if case .string = defaultLabel { return .string }
        return .int64
    }

    private func feature(_ name: String, _ type: ModelFeatureType) -> SpecFeatureDescription {
        .with {
            $0.name = name
            $0.type = type.specification
        }
    }
}
