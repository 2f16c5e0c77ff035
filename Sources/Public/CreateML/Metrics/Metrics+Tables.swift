import TabularData

extension MLDataTable {
    /// A table of a frame of metrics; invalid if the metrics are.
    fileprivate init(metrics frame: DataFrame, _ error: (any Error)?) {
        self.init(catching: {
            if let error { throw error }
            return try MLDataTable(converting: frame)
        })
    }
}

extension MLClassifierMetrics {
    /// The confusion matrix as columns `True Label`, `Predicted` and `Count`; invalid if the metrics are.
    public var confusion: MLDataTable { MLDataTable(metrics: confusionDataFrame, error) }

    /// Precision and recall of each class as columns `Class`, `Precision` and `Recall`; invalid if the metrics are.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}

extension MLWordTaggerMetrics {
    /// The confusion matrix as columns `True Label`, `Predicted` and `Count`; invalid if the metrics are.
    public var confusion: MLDataTable { MLDataTable(metrics: confusionDataFrame, error) }

    /// Precision and recall of each label as columns `Class`, `Precision` and `Recall`; invalid if the metrics are.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}

extension MLRecommenderMetrics {
    /// Precision and recall for each number of recommendations as columns `cutoff`, `precision` and `recall`.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}
