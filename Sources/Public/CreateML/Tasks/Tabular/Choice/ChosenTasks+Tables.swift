import TabularData

extension MLRegressor {
    /// Trains the algorithms that suit the rows of a table and keeps the best; see the initializer with a data frame.
    public init(trainingData: MLDataTable, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns
        )
    }

    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLRegressorMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLRegressorMetrics(error) }
    }

    /// Predicts the target of every row of a table, as floating-point numbers.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

extension MLClassifier {
    /// Trains the algorithms that suit the rows of a table and keeps the best; see the initializer with a data frame.
    public init(trainingData: MLDataTable, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns
        )
    }

    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLClassifierMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLClassifierMetrics(error) }
    }

    /// Predicts the class of every row of a table, as strings or integers.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

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
