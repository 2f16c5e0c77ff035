import Foundation
public import TabularData

/// The performance of a tagger on labelled tokens.
public struct MLWordTaggerMetrics: Sendable {
    /// The metrics of the tokens as examples of a classifier.
    package let counted: MLClassifierMetrics

    init(_ metrics: MLClassifierMetrics) { counted = metrics }

    init(_ error: any Error) { counted = MLClassifierMetrics(error) }

    /// The share of tokens that are labelled wrongly; NaN if the metrics are invalid.
    public var taggingError: Double { counted.classificationError }

    /// The confusion matrix as columns `True Label`, `Predicted` and `Count`; empty if the metrics are invalid.
    public var confusionDataFrame: DataFrame { counted.confusionDataFrame }

    /// Precision and recall of each label as columns `Class`, `Precision` and `Recall`; empty if the metrics are
    /// invalid.
    public var precisionRecallDataFrame: DataFrame { counted.precisionRecallDataFrame }

    /// The reason why there are no metrics; `nil` if they are valid.
    public var error: (any Error)? { counted.error }

    /// Whether the metrics could be computed.
    public var isValid: Bool { counted.isValid }
}

extension MLWordTaggerMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The printed accuracy, confusion matrix, precisions and recalls, or the reason why there are none.
    public var description: String { counted.description }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
