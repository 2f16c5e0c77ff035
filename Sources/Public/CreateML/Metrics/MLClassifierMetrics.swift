import Foundation
import MLFeatures
public import TabularData

/// How well a classifier recognises labelled examples.
public struct MLClassifierMetrics: Sendable {
    private enum Content: Sendable {
        case counts(ConfusionCounts)
        case failure(any Error)
        case given(Given)
    }

    /// What somebody else counted.
    ///
    /// `@unchecked Sendable`: nothing changes the frames.
    private struct Given: @unchecked Sendable {
        let classificationError: Double
        let confusion: DataFrame
        let precisionRecall: DataFrame
    }

    private let content: Content

    package init(_ counts: ConfusionCounts) {
        content =
            counts.total > 0
            ? .counts(counts)
            : .failure(MLCreateError.generic(reason: "there are no examples to hold the classifier against"))
    }

    /// Metrics that somebody else computed; not valid when a table is not.
    public init(classificationError: Double, confusion: MLDataTable, precisionRecall: MLDataTable) {
        do {
            content = .given(
                Given(
                    classificationError: classificationError,
                    confusion: try confusion.dataFrame(),
                    precisionRecall: try precisionRecall.dataFrame()
                )
            )
        } catch { content = .failure(error) }
    }

    /// Metrics that could not be computed.
    package init(_ error: any Error) { content = .failure(MLCreateError.translated(error)) }

    private var given: Given? {
        if case .given(let given) = content { given } else { nil }
    }

    /// What was counted here; `nil` when the metrics are not valid, or somebody else's.
    package var counts: ConfusionCounts? {
        if case .counts(let counts) = content { counts } else { nil }
    }

    /// The share of examples whose label was not recognised; NaN when the metrics are not valid.
    public var classificationError: Double { given?.classificationError ?? counts.map { 1 - $0.accuracy } ?? .nan }

    /// How often each label was taken for each: the columns `True Label`, `Predicted` and `Count`.
    public var confusionDataFrame: DataFrame { given?.confusion ?? counts?.confusion ?? DataFrame() }

    /// Precision and recall of each label: the columns `Class`, `Precision` and `Recall`.
    public var precisionRecallDataFrame: DataFrame { given?.precisionRecall ?? counts?.precisionRecall ?? DataFrame() }

    /// Why there are no metrics.
    public var error: (any Error)? {
        if case .failure(let error) = content { error } else { nil }
    }

    public var isValid: Bool { error == nil }
}

extension MLClassifierMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        if let given {
            return "Classification error: \(given.classificationError)\n\(given.confusion)\n\(given.precisionRecall)"
        }
        guard let counts else { return "No metrics: \(error.map { "\($0)" } ?? "")" }
        let line = String(repeating: "-", count: 34)
        let labels = (0..<counts.labels.count).map(counts.labels.text)
        func percent(_ share: Double?) -> String { share.map { String(format: "%.2f", $0 * 100) } ?? "-" }
        let matrix = labels.indices.map { truth in
            [labels[truth]] + labels.indices.map { String(counts.count(truth, $0)) }
        }
        let shares = labels.indices.map { [labels[$0], percent(counts.precision($0)), percent(counts.recall($0))] }
        return """
            \(line)
            Number of examples: \(counts.total)
            Number of classes: \(labels.count)
            Accuracy: \(percent(counts.accuracy))%

            ******CONFUSION MATRIX******
            \(line)
            \(TextTable.text([["True\\Pred"] + labels] + matrix))

            ******PRECISION RECALL******
            \(line)
            \(TextTable.text([["Class", "Precision(%)", "Recall(%)"]] + shares))

            """
    }

    public var debugDescription: String { description }
}

/// Rows of cells, left-aligned in columns as wide as their widest cell.
enum TextTable {
    static func text(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 1) }.joined()
        }.joined(separator: "\n")
    }
}
