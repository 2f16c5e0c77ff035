import CreateML
import Foundation
import MLFeatures

extension AlgorithmChoice {
    /// How the algorithm was chosen.
    var method: String {
        switch rows {
        case .split: "by the rows that were set aside"
        case .crossValidation where trials.isEmpty: "without a trial: there are too few rows to hold some out"
        case .crossValidation(let folds, let repeats):
            "by \(folds)-fold cross-validation" + (repeats == 1 ? "" : ", up to \(repeats) times")
                + "; validation is by rows held out"
        }
    }

    /// What was tried, the best first, below a head.
    var table: [[String]] {
        let name = measure == .accuracy ? "accuracy" : "root mean squared error"
        let hasFolds = rows != .split
        return [["tried", name] + (hasFolds ? ["± between folds", "folds"] : [])]
            + trials.map { trial in
                let parameters = trial.parameters.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
                let cells = [
                    trial.algorithm.rawValue + (parameters.isEmpty ? "" : ": \(parameters)"), text(trial.score),
                ]
                return cells + (hasFolds ? [trial.deviation.map(text) ?? "–", "\(trial.folds)"] : [])
            }
    }

    private func text(_ score: Double) -> String {
        measure == .accuracy ? String(format: "%.1f %%", score * 100) : LearningCurve.label(score)
    }

    /// The same for machines.
    var json: [String: Any] {
        let key = measure == .accuracy ? "accuracy" : "rootMeanSquaredError"
        var result: [String: Any] = [
            "tried": trials.map { trial in
                var entry: [String: Any] = [
                    "algorithm": trial.algorithm.rawValue, "folds": trial.folds, "chosen": trial.isChosen,
                    key: JSONFeature.json(.double(trial.score)),
                    "parameters": Dictionary(uniqueKeysWithValues: trial.parameters.map { ($0.name, $0.value) }),
                ]
                if let deviation = trial.deviation { entry["deviation"] = JSONFeature.json(.double(deviation)) }
                return entry
            }
        ]
        if case .crossValidation(let folds, let repeats) = rows {
            result["crossValidation"] = ["folds": folds, "repeats": repeats]
        }
        return result
    }
}
