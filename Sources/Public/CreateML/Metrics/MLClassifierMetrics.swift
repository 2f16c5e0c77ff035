import Foundation
import MLFeatures
public import TabularData

/// The performance of a classifier on labelled examples.
public struct MLClassifierMetrics: Sendable {
    private enum Content: Sendable {
        case counts(ConfusionCounts)
        case failure(any Error)
        case given(SuppliedMetrics)
    }

    /// Metrics that the caller computed.
    ///
    /// `@unchecked Sendable`: nothing changes the frames.
    private struct SuppliedMetrics: @unchecked Sendable {
        let classificationError: Double
        let confusion: DataFrame
        let precisionRecall: DataFrame
    }

    private let content: Content

    package init(_ counts: ConfusionCounts) {
        content =
            counts.total > 0
            ? .counts(counts)
            : .failure(MLCreateError.generic(reason: "there are no examples to evaluate the classifier on"))
    }

    /// Creates metrics from given values; they are invalid if a table is.
    /// - Parameters:
    ///   - classificationError: The share of examples that are classified wrongly.
    ///   - confusion: The confusion matrix as columns `True Label`, `Predicted` and `Count`.
    ///   - precisionRecall: Precision and recall as columns `Class`, `Precision` and `Recall`.
    public init(classificationError: Double, confusion: MLDataTable, precisionRecall: MLDataTable) {
        do {
            content = .given(
                SuppliedMetrics(
                    classificationError: classificationError,
                    confusion: try confusion.dataFrame(),
                    precisionRecall: try precisionRecall.dataFrame()
                )
            )
        } catch { content = .failure(error) }
    }

    /// Metrics that could not be computed.
    package init(_ error: any Error) { content = .failure(MLCreateError.translated(error)) }

    private var given: SuppliedMetrics? {
        if case .given(let given) = content { given } else { nil }
    }

    /// The confusion matrix; `nil` if the metrics are invalid or were given.
    package var counts: ConfusionCounts? {
        if case .counts(let counts) = content { counts } else { nil }
    }

    /// The share of examples that are classified wrongly; NaN if the metrics are invalid.
    public var classificationError: Double { given?.classificationError ?? counts.map { 1 - $0.accuracy } ?? .nan }

    /// The confusion matrix as columns `True Label`, `Predicted` and `Count`; empty if the metrics are invalid.
    public var confusionDataFrame: DataFrame { given?.confusion ?? counts?.confusion ?? DataFrame() }

    /// Precision and recall of each class as columns `Class`, `Precision` and `Recall`; empty if the metrics are
    /// invalid.
    public var precisionRecallDataFrame: DataFrame { given?.precisionRecall ?? counts?.precisionRecall ?? DataFrame() }

    /// The reason why there are no metrics; `nil` if they are valid.
    public var error: (any Error)? {
        if case .failure(let error) = content { error } else { nil }
    }

    /// Whether the metrics could be computed.
    public var isValid: Bool { error == nil }
}

extension MLClassifierMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The printed accuracy, confusion matrix, precisions and recalls, or the reason why there are none.
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
        let fractions = labels.indices.map { [labels[$0], percent(counts.precision($0)), percent(counts.recall($0))] }
        return """
            \(line)
            Number of examples: \(counts.total)
            Number of classes: \(labels.count)
            Accuracy: \(percent(counts.accuracy))%

            ******CONFUSION MATRIX******
            \(line)
            \(AlignedText.text([["True\\Pred"] + labels] + matrix))

            ******PRECISION RECALL******
            \(line)
            \(AlignedText.text([["Class", "Precision(%)", "Recall(%)"]] + fractions))

            """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// Rows of cells, left-aligned in columns as wide as their widest cell.
enum AlignedText {
    static func text(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 1) }.joined()
        }.joined(separator: "\n")
    }
}
