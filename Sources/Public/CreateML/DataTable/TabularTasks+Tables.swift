import TabularData

extension _TabularValidation {
    /// Rows of a table; without one a part of the training data.
    init(_ table: MLDataTable?) { self = table.map { .table($0) } ?? .split(strategy: .automatic) }
}

extension _TabularParameters {
    /// The table that validates; `nil` when it is something else.  Setting `nil` has a part of the training data validate.
    public var validationData: MLDataTable? {
        get { if case .table(let table) = validation { table } else { nil } }
        set { validation = _TabularValidation(newValue) }
    }
}

extension _TabularTask {
    /// Trains on the rows of a table.
    /// - Parameters:
    ///   - targetColumn: numbers for a regressor; strings or integers for a classifier.
    ///   - featureColumns: all but the target when `nil`.
    /// - Throws: why the table is not valid, and `MLCreateError` for columns that are missing or cannot be used, and
    ///   parameters out of their range.
    public init(
        trainingData: MLDataTable,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic
    ) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters
        )
    }

    /// Predicts the target of every row.
    /// - Returns: numbers for a regressor, strings or integers for a classifier.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

extension _TabularRegressor {
    /// How well the model predicts other rows; an error, such as why the table is not valid, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLRegressorMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLRegressorMetrics(error) }
    }
}

extension _TabularClassifier {
    /// How well the model predicts other rows; an error, such as why the table is not valid, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLClassifierMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLClassifierMetrics(error) }
    }
}

extension _TabularJobTask {
    /// Begins to train in the background; goes on when there is a session in the session directory.
    public static func train(
        trainingData: MLDataTable,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic,
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<Self> {
        try train(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters,
            sessionParameters: sessionParameters
        )
    }

    /// A session that has not begun, or the one in the session directory, if there is one.
    public static func makeTrainingSession(
        trainingData: MLDataTable,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic,
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try makeTrainingSession(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters,
            sessionParameters: sessionParameters
        )
    }
}

extension MLRegressor {
    /// Trains the algorithms that suit the rows of a table, and keeps the best.
    public init(trainingData: MLDataTable, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns
        )
    }

    /// How well the model predicts other rows; an error is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLRegressorMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLRegressorMetrics(error) }
    }

    /// Predicts the target of every row.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

extension MLClassifier {
    /// Trains the algorithms that suit the rows of a table, and keeps the best.
    public init(trainingData: MLDataTable, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns
        )
    }

    /// How well the model predicts other rows; an error is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLClassifierMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLClassifierMetrics(error) }
    }

    /// Predicts the target of every row.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

extension MLDataTable {
    /// The rows of a frame that metrics hold; not valid when the metrics are not.
    fileprivate init(metrics frame: DataFrame, _ error: (any Error)?) {
        self.init(catching: {
            if let error { throw error }
            return try MLDataTable(converting: frame)
        })
    }
}

extension MLClassifierMetrics {
    /// How often each label was taken for each: the columns `True Label`, `Predicted` and `Count`.
    public var confusion: MLDataTable { MLDataTable(metrics: confusionDataFrame, error) }

    /// Precision and recall of each label: the columns `Class`, `Precision` and `Recall`.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}

extension MLWordTaggerMetrics {
    /// How often each label was taken for each: the columns `True Label`, `Predicted` and `Count`.
    public var confusion: MLDataTable { MLDataTable(metrics: confusionDataFrame, error) }

    /// Precision and recall of each label: the columns `Class`, `Precision` and `Recall`.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}

extension MLRecommenderMetrics {
    /// A row for each number of recommendations: the columns `cutoff`, `precision` and `recall`.
    public var precisionRecall: MLDataTable { MLDataTable(metrics: precisionRecallDataFrame, error) }
}
