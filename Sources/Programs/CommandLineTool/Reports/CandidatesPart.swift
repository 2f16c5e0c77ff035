import CreateML
import Foundation
import MLFeatures

/// The candidates of an automatic choice of algorithm, and their scores.
struct CandidatesPart {
    /// The rows on which the scores were measured, as in "5-fold cross-validation".
    let rows: String
    /// A header and a row for each candidate, the best first; all columns but the first are numbers.
    let table: [[String]]
    /// The row of the table that was chosen.
    let chosenRow: Int?
    /// Whether the table takes the whole width of a picture: names include parameters with cross-validation.
    let isWide: Bool
    /// The candidates for JSON: an object for each.
    let json: [[String: Any]]

    /// - Returns: `nil` when there were too few rows to compare candidates.
    init?(_ choice: AlgorithmChoice) {
        guard !choice.trials.isEmpty else { return nil }
        let isAccuracy = choice.measure == .accuracy
        func text(_ score: Double) -> String {
            isAccuracy ? TrainingReport.percent(score) : LearningCurve.label(score)
        }
        let hasFolds = choice.rows != .split
        isWide = hasFolds
        rows = choice.rows.text
        table =
            [
                ["algorithm", isAccuracy ? "accuracy" : "root mean squared error"]
                    + (hasFolds ? ["± between folds", "folds"] : [])
            ]
            + choice.trials.map { trial in
                let parameters = trial.parameters.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
                let name = trial.algorithm.rawValue + (parameters.isEmpty ? "" : ": \(parameters)")
                return [name, text(trial.score)]
                    + (hasFolds ? [trial.deviation.map(text) ?? "–", "\(trial.folds)"] : [])
            }
        chosenRow = choice.trials.firstIndex(where: \.isChosen).map { $0 + 1 }
        json = choice.trials.map { trial in
            var entry: [String: Any] = [
                "algorithm": trial.algorithm.rawValue, "folds": trial.folds, "chosen": trial.isChosen,
                isAccuracy ? "accuracy" : "rootMeanSquaredError": JSONFeature.json(.double(trial.score)),
                "parameters": Dictionary(uniqueKeysWithValues: trial.parameters.map { ($0.name, $0.value) }),
            ]
            if let deviation = trial.deviation { entry["deviation"] = JSONFeature.json(.double(deviation)) }
            return entry
        }
    }

    var title: String { "algorithms tried (\(rows))" }

    /// The table with a mark at the chosen candidate.
    var text: String {
        let marked = table.enumerated().map { number, row in row + [number == chosenRow ? "chosen" : ""] }
        return title + "\n" + TrainingReport.aligned(marked)
    }
}

extension AlgorithmChoice.Rows {
    fileprivate var text: String {
        switch self {
        case .split: "rows set aside"
        case .crossValidation(let folds, let repeats):
            "\(folds)-fold cross-validation" + (repeats == 1 ? "" : ", up to \(repeats) times")
        }
    }
}

extension AlgorithmChoice {
    /// The method of the choice.
    var method: String {
        switch rows {
        case .crossValidation where trials.isEmpty: "without a trial: there are too few rows to hold some out"
        case .split: "by the \(rows.text)"
        case .crossValidation:
            "by \(rows.text)" + (measure == .accuracy ? ", of error and a tenth of log loss" : "")
                + "; validation is by rows held out"
        }
    }

    /// For JSON: the number of parts that the rows were divided into, and of repetitions; empty where they were divided
    /// once.
    var divisions: [String: Any] {
        guard case .crossValidation(let folds, let repeats) = rows else { return [:] }
        return ["crossValidation": ["folds": folds, "repeats": repeats]]
    }
}
