public import CoreML
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Builds a nearest-neighbours classifier, empty or with examples; it learns on the device by adding examples.
///
/// ```swift
/// var builder = NearestNeighborsBuilder(input: "features", dimensions: 48, label: "sticker", default: "unknown")
/// builder.neighbors = IntegerParameter(3, in: 1...10)
/// try builder.finished().write(to: url)
/// ```
public struct NearestNeighborsBuilder: Sendable {
    /// How examples are found; the answers are the same.
    public enum Index: Hashable, Sendable {
        /// Looks at every example.
        case linear
        /// Sorts examples into a tree whose leaves hold at most `leafSize` of them.
        case kdTree(leafSize: Int = 30)
    }

    /// How much each neighbour's vote counts.
    public enum Weighting: Hashable, Sendable {
        case uniform
        /// 1 / squared distance.
        case inverseDistance
    }

    /// A label: all of a classifier's are of one type.
    public enum Label: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case string(String)
        case integer(Int64)

        public init(stringLiteral value: String) { self = .string(value) }
        public init(integerLiteral value: Int64) { self = .integer(value) }
    }

    public var index = Index.linear
    public var weighting = Weighting.uniform
    /// How many neighbours vote.
    public var neighbors = IntegerParameter(5, in: 1...1000)
    public var isUpdatable = true
    public var metadata = ModelMetadata()
    /// The type of the input's elements.
    public var dataType = MLMultiArrayDataType.float32

    private let input: String
    private let label: String
    private let probabilities: String
    private let dimensions: Int
    private let defaultLabel: Label
    private var examples: [[Float]] = []
    private var labels: [Label] = []

    /// - Parameters:
    ///   - input: the name of the input, an array of `dimensions` numbers.
    ///   - label: the name of the output with the most likely label, which is also a training input.
    ///   - probabilities: the name of the output with all labels' shares; `label` + "Probs" by default.
    ///   - default: the answer while there are no examples; its type is that of all labels.
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

    /// Adds an example.
    public mutating func add(_ example: [Float], label: Label) {
        examples.append(example)
        labels.append(label)
    }

    /// The classifier as a model.  Throws what is wrong with the examples or the settings.
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
