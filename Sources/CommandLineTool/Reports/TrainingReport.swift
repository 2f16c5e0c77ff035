import CreateML
import Foundation
import MLEngine

/// What there is to say of a trained or evaluated model: for people, for machines, and as a page.
struct TrainingReport {
    /// A metric of the rows that were trained on and of those that were not.
    struct Score {
        let name: String
        /// The name in JSON.
        let key: String
        var training: Double?
        var validation: Double?
    }

    var title: String
    /// What was done with what: name and value.
    var facts: [(name: String, value: String)] = []
    var curves: [LearningCurve] = []
    var scores: [Score] = []
    /// What the algorithm was chosen from.
    var choice: AlgorithmChoice?
    /// How often each class was taken for each, and on which rows.
    var confusion: (rows: String, counts: ConfusionCounts)?

    /// Adds the metrics of a classifier, or of a regressor.
    mutating func add(training: MLClassifierMetrics?, validation: MLClassifierMetrics) {
        let measured = training?.counts
        scores.append(
            Score(
                name: "accuracy",
                key: "accuracy",
                training: measured?.accuracy,
                validation: validation.counts?.accuracy
            )
        )
        if let counts = validation.counts {
            confusion = (training == nil ? "all rows" : "validation", counts)
        } else if let measured {
            confusion = ("training", measured)
        }
    }

    mutating func add(training: MLRegressorMetrics?, validation: MLRegressorMetrics) {
        func valid(_ metrics: MLRegressorMetrics?, _ path: KeyPath<MLRegressorMetrics, Double>) -> Double? {
            metrics.flatMap { $0.isValid ? $0[keyPath: path] : nil }
        }
        for (name, key, path) in [
            ("root mean squared error", "rootMeanSquaredError", \MLRegressorMetrics.rootMeanSquaredError),
            ("maximum error", "maximumError", \.maximumError),
        ] {
            scores.append(
                Score(name: name, key: key, training: valid(training, path), validation: valid(validation, path))
            )
        }
    }

    // MARK: Text

    var text: String {
        var blocks = [title + facts.map { "\n  \($0.name): \($0.value)" }.joined()]
        if let choice, !choice.trials.isEmpty { blocks.append(aligned(choice.table)) }
        blocks += curves.compactMap { $0.text() }
        if let table = scoreRows { blocks.append(aligned(table)) }
        if let confusion {
            blocks.append("classes (\(confusion.rows))\n" + aligned(classRows(confusion.counts)))
            if confusion.counts.labels.count <= Self.mostColumns {
                blocks.append("true label \\ predicted\n" + aligned(confusionRows(confusion.counts)))
            } else {
                blocks.append("most frequent mistakes\n" + aligned(mistakeRows(confusion.counts)))
            }
        }
        return blocks.joined(separator: "\n\n")
    }

    /// The most classes whose confusion matrix is shown whole.
    private static let mostColumns = 12

    private func aligned(_ rows: [[String]]) -> String {
        var table = Table(rightAligned: Set(1..<(rows.first?.count ?? 1)))
        for row in rows { table.add(row) }
        return table.text()
    }

    private func number(_ value: Double?) -> String { value.map(LearningCurve.label) ?? "–" }
    private func percent(_ value: Double?) -> String { value.map { String(format: "%.1f %%", $0 * 100) } ?? "–" }

    var scoreRows: [[String]]? {
        guard !scores.isEmpty else { return nil }
        func text(_ score: Score, _ value: Double?) -> String {
            score.key == "accuracy" ? percent(value) : number(value)
        }
        guard scores.contains(where: { $0.training != nil }) else {
            return scores.map { [$0.name, text($0, $0.validation)] }
        }
        return [["", "training", "validation"]]
            + scores.map { [$0.name, text($0, $0.training), text($0, $0.validation)] }
    }

    func names(_ counts: ConfusionCounts) -> [String] {
        switch counts.labels {
        case .strings(let labels): labels
        case .integers(let labels): labels.map(String.init)
        }
    }

    func classRows(_ counts: ConfusionCounts) -> [[String]] {
        [["class", "precision", "recall"]]
            + names(counts).enumerated().map { index, name in
                [name, percent(counts.precision(index)), percent(counts.recall(index))]
            }
    }

    private func confusionRows(_ counts: ConfusionCounts) -> [[String]] {
        let names = names(counts)
        return [[""] + names]
            + names.indices.map { truth in [names[truth]] + names.indices.map { "\(counts.count(truth, $0))" } }
    }

    func mistakeRows(_ counts: ConfusionCounts) -> [[String]] {
        let names = names(counts)
        var mistakes: [(truth: Int, prediction: Int, count: Int)] = []
        for truth in names.indices {
            for prediction in names.indices where truth != prediction && counts.count(truth, prediction) > 0 {
                mistakes.append((truth, prediction, counts.count(truth, prediction)))
            }
        }
        mistakes.sort { ($1.count, $0.truth, $0.prediction) < ($0.count, $1.truth, $1.prediction) }
        return [["true label → predicted", "count"]]
            + mistakes.prefix(10).map { ["\(names[$0.truth]) → \(names[$0.prediction])", "\($0.count)"] }
    }

    // MARK: JSON

    /// The scores and counts as a JSON object.
    var json: [String: Any] {
        func side(_ path: KeyPath<Score, Double?>) -> [String: Any] {
            var result: [String: Any] = [:]
            for score in scores {
                if let value = score[keyPath: path] { result[score.key] = JSONFeature.json(.double(value)) }
            }
            return result
        }
        var result: [String: Any] = choice?.json ?? [:]
        for (name, path) in [("training", \Score.training), ("validation", \.validation)] {
            let values = side(path)
            if !values.isEmpty { result[name] = values }
        }
        if let (_, counts) = confusion {
            let names = names(counts)
            result["labels"] = names
            result["confusion"] = names.indices.map { truth in names.indices.map { counts.count(truth, $0) } }
        }
        return result
    }

    // MARK: Page

    /// A page that stands for itself.
    var html: String {
        var body = ["<h1>\(HTMLText.escaped(title))</h1>"]
        if !facts.isEmpty {
            body.append("<dl>")
            for (name, value) in facts {
                body.append("<dt>\(HTMLText.escaped(name))</dt><dd>\(HTMLText.escaped(value))</dd>")
            }
            body.append("</dl>")
        }
        if let choice, !choice.trials.isEmpty { body += ["<h2>Tried</h2>", HTMLText.table(choice.table)] }
        for curve in curves {
            guard let drawing = curve.svg() else { continue }
            body += ["<h2>\(HTMLText.escaped(curve.metric))</h2>", drawing]
        }
        if let scoreRows {
            let hasHead = scores.contains { $0.training != nil }
            body += ["<h2>Scores</h2>", HTMLText.table(hasHead ? scoreRows : [["", "value"]] + scoreRows)]
        }
        if let (rows, counts) = confusion {
            body += ["<h2>Classes (\(rows))</h2>", HTMLText.table(classRows(counts))]
            body += ["<h2>True label \\ predicted (\(rows))</h2>", matrix(counts)]
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(HTMLText.escaped(title))</title>
            <style>
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
            table { border-collapse: collapse; display: block; overflow-x: auto; }
            td, th { padding: .2rem .7rem; border: 1px solid #ddd; text-align: right; }
            td:first-child, th:first-child { text-align: left; }
            dt { font-weight: 600; } svg { max-width: 100%; height: auto; font-size: 12px; }
            svg .y { text-anchor: end; dominant-baseline: middle; } svg .x { text-anchor: middle; }
            </style>
            </head>
            <body>
            \(body.joined(separator: "\n"))
            </body>
            </html>

            """
    }

    /// The confusion matrix, darker where there is more of a row.
    private func matrix(_ counts: ConfusionCounts) -> String {
        let names = names(counts)
        let head = "<tr><th></th>" + names.map { "<th>\(HTMLText.escaped($0))</th>" }.joined() + "</tr>"
        let rows = names.indices.map { truth in
            let total = max(1, names.indices.reduce(0) { $0 + counts.count(truth, $1) })
            let cells = names.indices.map { prediction in
                let count = counts.count(truth, prediction)
                let share = String(format: "%.2f", Double(count) / Double(total) * 0.6)
                let colour = truth == prediction ? "31, 119, 180" : "214, 39, 40"
                return #"<td style="background: rgba(\#(colour), \#(share))">\#(count)</td>"#
            }
            return "<tr><th>\(HTMLText.escaped(names[truth]))</th>\(cells.joined())</tr>"
        }
        return "<table>\n\(head)\n\(rows.joined(separator: "\n"))\n</table>"
    }
}
