import TabularData

extension MLActivityClassifier {
    /// Trains on the recordings of a table.
    /// - Parameters:
    ///   - trainingData: Rows of the sensors, the labels and the recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column that identifies the recording, whose rows are in the order of
    ///     time.
    ///   - parameters: The parameters of training.
    /// - Throws: The table's error if it is invalid, and `MLCreateError` for columns that cannot be used and parameters
    ///   out of range.
    public init(
        trainingData: MLDataTable,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil)
    ) throws {
        try self.init(
            trainingData: .dataFrame(trainingData.dataFrame()),
            featureColumns: featureColumns,
            labelColumn: labelColumn,
            recordingFileColumn: recordingFileColumn,
            parameters: parameters
        )
    }

    /// Evaluates the model on the recordings of a table, row by row; an error is in the metrics.
    public func evaluation(
        on testingData: MLDataTable,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String
    ) -> MLClassifierMetrics {
        do {
            return evaluation(
                on: .dataFrame(try testingData.dataFrame()),
                featureColumns: featureColumns,
                labelColumn: labelColumn,
                recordingFileColumn: recordingFileColumn
            )
        } catch { return MLClassifierMetrics(error) }
    }

    /// Predicts the label of each row, or of each window if `perWindowPrediction` is true.
    public func predictions(from data: MLDataTable, perWindowPrediction: Bool? = false) throws -> [String] {
        try predictions(from: data.dataFrame(), perWindowPrediction: perWindowPrediction)
    }

    /// Starts to train on a table in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: Rows of the sensors, the labels and the recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column that identifies the recording.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: MLDataTable,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLActivityClassifier> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                featureColumns: featureColumns,
                labelColumn: labelColumn,
                recordingFileColumn: recordingFileColumn,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session on a table, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: Rows of the sensors, the labels and the recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column that identifies the recording.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: The table's error if it is invalid, and the errors of `makeTrainingSession` for a data source.
    public static func makeTrainingSession(
        trainingData: MLDataTable,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLActivityClassifier> {
        try makeTrainingSession(
            trainingData: .dataFrame(trainingData.dataFrame()),
            featureColumns: featureColumns,
            labelColumn: labelColumn,
            recordingFileColumn: recordingFileColumn,
            parameters: parameters,
            sessionParameters: sessionParameters
        )
    }
}

extension MLActivityClassifier.ModelParameters {
    /// Creates training parameters with a table of validation recordings.
    /// - Parameters:
    ///   - validationData: Recordings with the columns of the training data; the automatic split of these if `nil`.
    ///   - batchSize: The number of sequences in an optimisation step; 32 if `nil`.
    ///   - maximumIterations: The maximum number of iterations; `nil` continues until the validation loss stops
    ///     falling.
    ///   - predictionWindowSize: The number of rows in a window; 100 if `nil`.
    public init(
        validationData: MLDataTable?,
        batchSize: Int? = 32,
        maximumIterations: Int? = 10,
        predictionWindowSize: Int? = 100
    ) {
        self.init(
            validation: .split(strategy: .automatic),
            batchSize: batchSize,
            maximumIterations: maximumIterations,
            predictionWindowSize: predictionWindowSize
        )
        self.validationData = validationData
    }

    /// The table of validation recordings; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training recordings.
    public var validationData: MLDataTable? {
        get { if case .table(let table) = validating { table } else { nil } }
        set { validating = newValue.map { .table($0) } ?? .validation(.split(strategy: .automatic)) }
    }
}
