import CreateML
import Foundation
import MLEngine

/// The report of a trained or evaluated model: as text, as JSON, as a page, and as a picture.
struct TrainingReport {
    /// A metric on the training rows and on the validation rows.
    struct Score {
        let name: String
        /// The name in JSON.
        let key: String
        var training: Double?
        var validation: Double?
        /// Whether it is shown as a percentage.
        var isShare = false
    }

    var title: String
    /// The settings and data: name and value.
    var facts: [(name: String, value: String)] = []
    var curves: [LearningCurve] = []
    var scores: [Score] = []
    /// The candidates of the automatic choice; `nil` when the caller named the algorithm.
    var choice: AlgorithmChoice?
    /// The evaluation of a regressor.
    var regression: RegressionPart?
    /// The evaluation of a classifier.
    var confusion: ConfusionPart?
    /// The pictures that went wrong and the files that were left out, of a classifier of pictures.
    var pictures: PicturesPart?
    /// The evaluation of a detector.
    var objects: ObjectsPart?
    /// The permutation importance of a tabular model's features.
    private(set) var importance: ImportancePart?

    init(title: String, curves: [LearningCurve] = [], choice: AlgorithmChoice? = nil) {
        (self.title, self.curves, self.choice) = (title, curves, choice)
    }

    /// The candidates that were compared before this model was chosen.
    var candidates: CandidatesPart? { choice.flatMap { CandidatesPart($0) } }

    /// Adds the metrics of a classifier.
    ///
    /// - Parameters:
    ///   - training: The metrics on the training data; `nil` when the model was not trained in this run.
    ///   - validation: The metrics on the validation data.
    mutating func add(training: MLClassifierMetrics?, validation: MLClassifierMetrics) {
        let measured = training?.counts
        scores.append(
            Score(
                name: "accuracy",
                key: "accuracy",
                training: measured?.accuracy,
                validation: validation.counts?.accuracy,
                isShare: true
            )
        )
        let rows = training == nil ? "all rows" : validation.counts == nil ? "training" : "validation"
        confusion = (validation.counts ?? measured).map { ConfusionPart($0, rows: rows) }
    }

    /// Adds the metrics of a regressor.
    ///
    /// - Parameters:
    ///   - training: The metrics on the training data; `nil` when the model was not trained in this run.
    ///   - validation: The metrics on the validation data.
    mutating func add(training: MLRegressorMetrics?, validation: MLRegressorMetrics) {
        for (name, key, value) in [
            ("root mean squared error", "rootMeanSquaredError", { $0.rootMeanSquaredError }),
            ("mean absolute error", "meanAbsoluteError", { $0.meanAbsoluteError }),
            ("maximum error", "maximumError", { $0.maximumError }),
            ("R²", "determination", { $0.determination }),
        ] as [(String, String, (RegressionRows) -> Double?)] {
            scores.append(
                Score(
                    name: name,
                    key: key,
                    training: training?.rows.flatMap(value),
                    validation: validation.rows.flatMap(value)
                )
            )
        }
        let rows = training == nil ? "all rows" : validation.rows == nil ? "training" : "validation"
        regression = (validation.rows ?? training?.rows).map { RegressionPart($0, rows: rows) }
    }

    /// Adds the permutation importance of the features.
    ///
    /// - Parameters:
    ///   - importance: The importance; `nil` when it was not measured.
    ///   - rows: The rows on which it was measured, as in "validation".
    mutating func add(_ importance: PermutationImportance?, rows: String) {
        self.importance = importance.map { ImportancePart($0, rows: rows) }
    }

    // MARK: Text

    var text: String {
        var blocks = [title + facts.map { "\n  \($0.name): \($0.value)" }.joined()]
        if let candidates { blocks.append(candidates.text) }
        blocks += curves.compactMap { $0.text() }
        if let scoreRows { blocks.append(Self.aligned(scoreRows)) }
        if let text = regression?.text() { blocks.append(text) }
        if let confusion { blocks += confusion.text }
        if let importance { blocks.append(importance.text) }
        if let pictures { blocks += pictures.text }
        if let objects { blocks += objects.text }
        return blocks.joined(separator: "\n\n")
    }

    static func aligned(_ rows: [[String]]) -> String {
        var table = Table(rightAligned: Set(1..<(rows.first?.count ?? 1)))
        for row in rows { table.add(row) }
        return table.text()
    }

    static func percent(_ value: Double?) -> String {
        value.map { String(format: "%.1f %%", $0 * 100) } ?? "–"
    }

    /// The scores as rows, with a header when there are two kinds of them.
    var scoreRows: [[String]]? {
        guard !scores.isEmpty else { return nil }
        func text(_ score: Score, _ value: Double?) -> String {
            score.isShare ? Self.percent(value) : value.map(LearningCurve.label) ?? "–"
        }
        guard scores.contains(where: { $0.training != nil }) else {
            return scores.map { [$0.name, text($0, $0.validation)] }
        }
        return [["", "training", "validation"]]
            + scores.map { [$0.name, text($0, $0.training), text($0, $0.validation)] }
    }

    // MARK: JSON

    /// The report as a JSON object.
    var json: [String: Any] {
        func side(_ path: KeyPath<Score, Double?>) -> [String: Any] {
            var result: [String: Any] = [:]
            for score in scores {
                if let value = score[keyPath: path] { result[score.key] = JSONFeature.json(.double(value)) }
            }
            return result
        }
        var result: [String: Any] = [:]
        for (name, path) in [("training", \Score.training), ("validation", \.validation)] {
            let values = side(path)
            if !values.isEmpty { result[name] = values }
        }
        if let confusion { result.merge(confusion.json) { $1 } }
        if let regression { result["residuals"] = regression.json }
        if let importance { result["importance"] = importance.json }
        if let pictures { result.merge(pictures.json) { $1 } }
        if let objects { result.merge(objects.json) { $1 } }
        if let choice {
            result["tried"] = candidates?.json ?? []
            result.merge(choice.divisions) { $1 }
        }
        return result
    }

    // MARK: Drawings

    /// The learning curves that can be drawn.
    var curveDrawings: [Drawing] {
        let drawn = curves.filter { $0.bounds != nil }
        return drawn.compactMap { $0.drawing(isWide: drawn.count == 1) }
    }
}
