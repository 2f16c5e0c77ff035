import Foundation
public import TabularData

/// How well a tagger labels tokens.
public struct MLWordTaggerMetrics: Sendable {
    private let metrics: MLClassifierMetrics

    init(_ metrics: MLClassifierMetrics) { self.metrics = metrics }

    /// The share of tokens whose label was not recognised; NaN when the metrics are not valid.
    public var taggingError: Double { metrics.classificationError }

    /// How often each label was taken for each: the columns `True Label`, `Predicted` and `Count`.
    public var confusionDataFrame: DataFrame { metrics.confusionDataFrame }

    /// Precision and recall of each label: the columns `Class`, `Precision` and `Recall`.
    public var precisionRecallDataFrame: DataFrame { metrics.precisionRecallDataFrame }

    /// Why there are no metrics.
    public var error: (any Error)? { metrics.error }

    public var isValid: Bool { metrics.isValid }
}

extension MLWordTaggerMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { metrics.description }

    public var debugDescription: String { description }
}
