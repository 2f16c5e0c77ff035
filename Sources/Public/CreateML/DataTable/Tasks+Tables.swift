import TabularData

extension MLRecommender {
    /// Trains on the choices of users in a table.
    /// - Parameters:
    ///   - trainingData: A row for each choice.
    ///   - userColumn: The name of the column of users: strings or integers.
    ///   - itemColumn: The name of the column of items: strings or integers.
    ///   - ratingColumn: The name of the column of ratings, of numbers; without it every choice has the rating 1.
    ///   - parameters: The parameters of training.
    /// - Throws: The table's error if it is invalid, and `MLCreateError` for columns that cannot be used and parameters
    ///   out of range.
    public init(
        trainingData: MLDataTable,
        userColumn: String,
        itemColumn: String,
        ratingColumn: String? = nil,
        parameters: ModelParameters = ModelParameters(nearestItems: nil)
    ) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            userColumn: userColumn,
            itemColumn: itemColumn,
            ratingColumn: ratingColumn,
            parameters: parameters
        )
    }

    /// Evaluates the recommendations by the choices in a table; see the method for a data frame.
    public func evaluation(
        on testingData: MLDataTable,
        userColumn: String,
        itemColumn: String,
        ratingColumn: String? = nil,
        cutoffs: [Int] = [1, 2, 3, 4, 5],
        excludingObserved: Bool = true
    ) -> MLRecommenderMetrics {
        do {
            return evaluation(
                on: try testingData.dataFrame(),
                userColumn: userColumn,
                itemColumn: itemColumn,
                ratingColumn: ratingColumn,
                cutoffs: cutoffs,
                excludingObserved: excludingObserved
            )
        } catch { return MLRecommenderMetrics(error, excludingObserved: excludingObserved) }
    }

    /// Returns the items most similar to each item of a column; see the method for identifiers.
    public func getSimilarItems<T>(
        fromItems: MLDataColumn<T>,
        maxCount: Int = 10
    ) throws -> MLDataTable where T: MLDataValueConvertible {
        try getSimilarItems(
            fromItems: fromItems.present("item").map { ColumnIdentifier(identifierValue: $0.dataValue) },
            maxCount: maxCount
        )
    }

    /// Returns the best items for each user of a column; see the method for identifiers.
    public func recommendations<T>(
        fromUsers: MLDataColumn<T>,
        maxCount: Int = 10,
        restrictingToItems: MLDataColumn<T>? = nil,
        excluding userItemObservations: MLDataTable? = nil,
        excludingObserved: Bool = true
    ) throws -> MLDataTable where T: MLDataValueConvertible, T: MLIdentifier {
        try recommendations(
            fromUsers: fromUsers.present("user") as [any MLIdentifier],
            maxCount: maxCount,
            restrictingToItems: restrictingToItems?.present("item"),
            excluding: userItemObservations,
            excludingObserved: excludingObserved
        )
    }
}

/// An identifier from a column.
private struct ColumnIdentifier: MLIdentifier, CustomStringConvertible {
    let identifierValue: MLDataValue

    var description: String { identifierValue.description }
}

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
