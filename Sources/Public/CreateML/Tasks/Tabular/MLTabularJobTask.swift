public import TabularData

/// A tabular task that can be trained in the background.
public protocol MLTabularJobTask: MLTabularTask, MLSessionTask {
    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    static func makeTrainingSession(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]?,
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self>
}

// Members with default arguments call the requirements of the same names.
extension MLTabularJobTask {
    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<Self> {
        try resume(
            try makeTrainingSession(
                trainingData: trainingData,
                targetColumn: targetColumn,
                featureColumns: featureColumns,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try makeTrainingSession(
            trainingData: trainingData,
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters,
            sessionParameters: sessionParameters
        )
    }

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
        parameters: ModelParameters = ModelParameters(),
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
        parameters: ModelParameters = ModelParameters(),
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
