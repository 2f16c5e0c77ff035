import TabularData

extension _TabularValidation {
    /// The rows of a table, or the automatic split of the training data without one.
    init(_ table: MLDataTable?) { self = table.map { .table($0) } ?? .split(strategy: .automatic) }
}

extension _TabularParameters {
    /// The table of validation rows; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training data.
    public var validationData: MLDataTable? {
        get { if case .table(let table) = validation { table } else { nil } }
        set { validation = _TabularValidation(newValue) }
    }
}

extension _TabularTask {
    /// Trains on the rows of a table.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor, strings or integers for a
    ///     classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    /// - Throws: The table's error if it is invalid; `MLCreateError` for columns that are missing or cannot be used,
    ///   and for parameters out of range.
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

    /// Predicts the target of every row of a table.
    /// - Parameter data: Rows with the feature columns.
    /// - Returns: Floating-point numbers for a regressor, strings or integers for a classifier.
    /// - Throws: The table's error if it is invalid; `MLCreateError` for columns that are missing or of another type.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }
}

extension _TabularRegressor {
    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLRegressorMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLRegressorMetrics(error) }
    }
}

extension _TabularClassifier {
    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLClassifierMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLClassifierMetrics(error) }
    }
}

extension _TabularJobTask {
    /// Starts to train on a table in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor, strings or integers for a
    ///     classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The table's error if it is invalid, and the errors of `makeTrainingSession` for a data frame.
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

    /// Makes a training session on a table, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor, strings or integers for a
    ///     classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: The table's error if it is invalid, and the errors of `makeTrainingSession` for a data frame.
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
