import CreateML
import Foundation
import MLFeatures

/// What an automatic choice tried, and how well each did.
struct CandidatesPart {
    /// On what the scores were measured, as in "5-fold cross-validation".
    let rows: String
    /// A head and a row for each candidate, the best first; numbers stand in all columns but the first.
    let table: [[String]]
    /// The row of the table that was chosen.
    let chosenRow: Int?
    /// Whether the table takes the whole width of a picture: names have parameters behind them when rows are held out by
    /// turns.
    let isWide: Bool
    /// The same for machines: an object for each candidate.
    let json: [[String: Any]]

    /// - Returns: `nil` when there were too few rows to try anything.
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

    /// The table with a mark at what was chosen.
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
    /// How the algorithm was chosen.
    var method: String {
        switch rows {
        case .crossValidation where trials.isEmpty: "without a trial: there are too few rows to hold some out"
        case .split: "by the \(rows.text)"
        case .crossValidation:
            "by \(rows.text)" + (measure == .accuracy ? ", of error and a tenth of log loss" : "")
                + "; validation is by rows held out"
        }
    }

    /// For machines: into how many parts the rows were divided, how often; empty where they were divided once.
    var divisions: [String: Any] {
        guard case .crossValidation(let folds, let repeats) = rows else { return [:] }
        return ["crossValidation": ["folds": folds, "repeats": repeats]]
    }
}
