import MLFeatures
import MLModels
import MLNumerics
import MLSpecification

/// Trains a nearest-neighbours classifier: stores the examples.
final class NeighborLearner: Learner {
    private let model: SpecModel
    private var classifier: NearestNeighborsClassifier
    private let labelName: String
    private var examples: UpdateExamples?

    init(_ model: SpecModel) throws(ModelError) {
        guard case .kNearestNeighborsClassifier(let parameters)? = model.type else {
            throw ModelError(.update, "the model is not a nearest-neighbours classifier")
        }
        classifier = try NearestNeighborsClassifier(parameters, model.description_p)
        self.model = model
        // The label is the training input that is not a prediction input; the builder names it after the prediction.
        let inputs = Set(model.description_p.input.map(\.name))
        let others = model.trainingFeatures.map(\.name).filter { !inputs.contains($0) }
        guard others.count == 1 else {
            throw ModelError(
                .invalidModel,
                "the classifier learns from its inputs and one label, but its training inputs have "
                    + (others.isEmpty ? "no label" : "the labels " + others.joined(separator: ", "))
            )
        }
        labelName = others[0]
    }

    var learnsInEpochs: Bool { false }

    func prepare(_ examples: UpdateExamples) { self.examples = examples }

    func learn(_ indices: ArraySlice<Int>) throws(ModelError) -> Double {
        guard let examples, let label = examples.columns[labelName] else {
            throw ModelError(.invalidInput, "the training data has no '\(labelName)'")
        }
        let columns = examples.columns.mapValues { column in FeatureColumn(indices.map { column.value(at: $0) }) }
        let points = try classifier.points(of: FeatureBatch(count: indices.count, columns: columns))
        if let bad = points.firstIndex(where: { !$0.isFinite }) {
            let example = indices[indices.startIndex + bad / classifier.index.dimensions]
            throw ModelError(
                .invalidInput,
                "example \(example) of the training data has values that are not finite numbers; leave it out"
            )
        }
        classifier = try classifier.appending(points, labels: try labels(label, indices))
        return 0
    }

    private func labels(_ column: FeatureColumn, _ indices: ArraySlice<Int>) throws(ModelError) -> LabelList {
        switch classifier.labels {
        case .strings:
            var result: [String] = []
            for index in indices {
                guard case .string(let text) = column.value(at: index) else {
                    throw typeMismatch(column, index, "a string")
                }
                result.append(text)
            }
            return .strings(result)
        case .integers:
            var result: [Int64] = []
            for index in indices {
                guard case .int64(let number) = column.value(at: index) else {
                    throw typeMismatch(column, index, "an integer")
                }
                result.append(number)
            }
            return .integers(result)
        }
    }

    private func typeMismatch(_ column: FeatureColumn, _ index: Int, _ wanted: String) -> ModelError {
        ModelError(
            .invalidInput,
            "example \(index) of the training data has \(column.value(at: index).kind) for '\(labelName)', "
                + "but the classifier's labels are \(wanted) each"
        )
    }

    /// The number of neighbours has no effect on training.
    func apply(_ parameters: UpdateParameters) {}

    func replace(_ parameter: UpdateParameter, of layer: String, with tensor: Tensor) throws(ModelError) {
        throw ModelError(.parameter, "a nearest-neighbours classifier has no \(parameter.rawValue) to set")
    }

    func specification() -> SpecModel {
        var result = model
        result.kNearestNeighborsClassifier = classifier.parameters
        return result
    }

    /// All examples are added in one step, before which there is no state.
    var state: [UInt8] { [] }

    func restore(_ state: [UInt8]) {}
}
