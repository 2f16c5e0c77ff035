import Foundation
public import TabularData

/// How well a tagger labels tokens.
public struct MLWordTaggerMetrics: Sendable {
    /// The tokens as examples of a classifier.
    package let counted: MLClassifierMetrics

    init(_ metrics: MLClassifierMetrics) { counted = metrics }

    init(_ error: any Error) { counted = MLClassifierMetrics(error) }

    /// The share of tokens whose label was not recognised; NaN when the metrics are not valid.
    public var taggingError: Double { counted.classificationError }

    /// How often each label was taken for each: the columns `True Label`, `Predicted` and `Count`.
    public var confusionDataFrame: DataFrame { counted.confusionDataFrame }

    /// Precision and recall of each label: the columns `Class`, `Precision` and `Recall`.
    public var precisionRecallDataFrame: DataFrame { counted.precisionRecallDataFrame }

    /// Why there are no counted.
    public var error: (any Error)? { counted.error }

    public var isValid: Bool { counted.isValid }
}

extension MLWordTaggerMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { counted.description }

    public var debugDescription: String { description }
}
