import CreateML
import Foundation
import MLImages
import TabularData

/// A trained model, whatever its task is.
///
/// The functions read a model that does not change, so any thread may call them.
struct TrainedModel {
    /// Rows to predict from or to evaluate on: a table, or what the options name instead.
    typealias Input = (frame: DataFrame?, options: Options)

    let facts: ModelFacts
    /// The performance on labelled data.
    let evaluate: (Input) throws -> MetricsFacts
    /// The predictions as a table.
    let predict: (Input) throws -> DataFrame
    /// Writes the model to a `.mlmodel` or `.mlpackage`.
    let write: (URL, MLModelMetadata?) throws -> Void
    /// The predictions for upright pictures as a table; nil for tasks on other data.
    var predictPictures: (([Bitmap], Options) throws -> DataFrame)?
    /// A picture in the style of the model; nil for other tasks.
    var stylize: ((Bitmap) throws -> Bitmap)?
}

/// The training data of a task.
struct TrainingRequest {
    let task: String
    let frame: DataFrame?
    /// The table of validation rows, where `validation` says that there is one.
    let validationFrame: DataFrame?
    let options: Options
    let session: MLTrainingSessionParameters

    /// The choice of validation data, in a task's form.
    /// - Parameters:
    ///   - none: No validation.
    ///   - split: A part of the training data.
    ///   - data: A table, or what the options name instead: `folder`.
    /// - Returns: The choice.
    /// - Throws: `TrainingError` for another kind of validation, and the errors of `data`.
    func validation<Choice>(
        none: Choice,
        split: (MLSplitStrategy) -> Choice,
        data: (DataFrame?, Options) throws -> Choice
    ) throws -> Choice {
        guard let choice = try options.options("validation") else { return split(.automatic) }
        defer { _ = try? choice.text("kind") }
        let result: Choice
        switch try choice.text("kind") {
        case "none": result = none
        case "automatic", nil: result = split(.automatic)
        case "fixed":
            guard let ratio = try choice.number("ratio") else {
                throw TrainingError("the share of the split is missing")
            }
            result = split(.fixed(ratio: ratio, seed: try choice.integer("seed") ?? 42))
        case "data": result = try data(validationFrame, choice)
        case let other?:
            throw TrainingError("'\(other)' is not a kind of validation; use none, automatic, fixed or data")
        }
        try choice.finish()
        return result
    }

    /// The table to train on.
    func table() throws -> DataFrame {
        guard let frame else { throw TrainingError("\(task) is trained on a table; pass one") }
        return frame
    }
}

extension Optional where Wrapped == DataFrame {
    /// The table.
    func required(_ use: String) throws -> DataFrame {
        guard let self else { throw TrainingError("\(use) needs a table") }
        return self
    }
}

extension DataFrame {
    /// A table of one column.
    init(_ column: AnyColumn) { self.init(columns: [column]) }

    /// A table with a column of probabilities for each label: [rows × labels] row by row.
    init(labels: [String], probabilities: [Double]) {
        self.init()
        let width = labels.count
        let rows = width == 0 ? 0 : probabilities.count / width
        for (index, label) in labels.enumerated() {
            append(
                column: Column<Double>(name: label, contents: (0..<rows).map { probabilities[$0 * width + index] })
            )
        }
    }

    /// A table with a column of probabilities for each label that occurs, in alphabetical order.
    init(probabilities rows: [[String: Double]]) {
        let labels = Set(rows.flatMap(\.keys)).sorted()
        self.init(labels: labels, probabilities: rows.flatMap { row in labels.map { row[$0] ?? 0 } })
    }

    /// The texts of a column.
    func texts(_ name: String) throws -> [String] {
        guard containsColumn(name) else {
            let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw TrainingError("there is no column '\(name)'; the columns are \(names)")
        }
        guard containsColumn(name, String.self) else {
            throw TrainingError("the column '\(name)' holds \(self[name].wrappedElementType), where text is expected")
        }
        return try self[name, String.self].enumerated().map { row, text in
            guard let text else { throw TrainingError("the column '\(name)' has no text in row \(row)") }
            return text
        }
    }
}
