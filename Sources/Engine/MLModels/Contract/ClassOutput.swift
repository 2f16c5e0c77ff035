import MLFeatures
import MLNumerics
import MLSpecification

/// The outputs of a classifier: the label, and the scores of all labels if the interface has them.
struct ClassOutput: Sendable {
    let labels: LabelList
    private let labelName: String
    private let scoresName: String?
    /// The scores as an array, for interfaces that state one instead of a dictionary.
    private let scoresArray: NumericOutput?

    init(_ labels: LabelList, _ interface: SpecModelDescription) throws(ModelError) {
        guard labels.count > 0 else { throw ModelError(.invalidModel, "the classifier has no class labels") }
        labelName = interface.predictedFeatureName
        guard !labelName.isEmpty else {
            throw ModelError(.invalidModel, "the classifier's interface does not name its predicted feature")
        }
        let feature = try interface.outputFeature(named: labelName, for: "predicted feature")
        switch (labels, feature.type.type) {
        case (.strings, .stringType?), (.integers, .int64Type?): break
        case (.strings, _): throw feature.mismatch("a string, as its class labels are")
        case (.integers, _): throw feature.mismatch("an integer, as its class labels are")
        }
        self.labels = labels
        let name = interface.predictedProbabilitiesName
        guard !name.isEmpty else {
            scoresName = nil
            scoresArray = nil
            return
        }
        let scores = try interface.outputFeature(named: name, for: "feature of the predicted probabilities")
        switch scores.type.type {
        case .dictionaryType?: scoresArray = nil
        case .multiArrayType?: scoresArray = try NumericOutput(scores)
        default: throw scores.mismatch("a dictionary")
        }
        scoresName = name
    }

    /// The outputs for scores [examples × labels].
    ///
    /// - Parameters:
    ///   - scores: The scores, row-major.
    ///   - winners: The index of each example's label; `nil` selects the highest score, or the first of equal ones.
    /// - Returns: The columns of the predicted label and, if the interface has them, of the scores, by output name.
    /// - Throws: An error when the scores do not fit the array that the interface declares.
    func columns(_ scores: [Double], winners: [Int]? = nil) throws(ModelError) -> [String: FeatureColumn] {
        let width = labels.count
        let count = scores.count / width
        let positions =
            winners
            ?? (0..<count).map { row in
                var best = 0
                for index in 1..<Swift.max(width, 1) where scores[row * width + index] > scores[row * width + best] {
                    best = index
                }
                return best
            }
        var columns: [String: FeatureColumn] = [:]
        switch labels {
        case .strings(let labels): columns[labelName] = .strings(positions.map { labels[$0] })
        case .integers(let labels): columns[labelName] = .integers(positions.map { labels[$0] })
        }
        if let scoresArray {
            let matrix = Tensor(elements: scores, scalarType: .float64, shape: [count, width])
            columns[scoresArray.name] = try scoresArray.column(matrix)
        } else if let scoresName {
            columns[scoresName] = .scores(labels: labels, values: scores)
        }
        return columns
    }
}
