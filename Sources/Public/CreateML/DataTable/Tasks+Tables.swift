import TabularData

extension MLRecommender {
    /// - Parameters:
    ///   - trainingData: a row for each choice.
    ///   - userColumn: who chose: strings or integers.
    ///   - itemColumn: what was chosen: strings or integers.
    ///   - ratingColumn: how much the user likes the item, a number.
    /// - Throws: why the table is not valid, and what is wrong with its columns or the parameters.
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

    /// How many of the items in test data are among those recommended to their users.
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

    /// The items most similar to each of some; see `getSimilarItems(fromItems:maxCount:)` of identifiers.
    public func getSimilarItems<T>(
        fromItems: MLDataColumn<T>,
        maxCount: Int = 10
    ) throws -> MLDataTable where T: MLDataValueConvertible {
        try getSimilarItems(
            fromItems: fromItems.present("item").map { ColumnIdentifier(identifierValue: $0.dataValue) },
            maxCount: maxCount
        )
    }

    /// The best items for each of some users; see the same of identifiers.
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

/// An identifier out of a column.
private struct ColumnIdentifier: MLIdentifier, CustomStringConvertible {
    let identifierValue: MLDataValue

    var description: String { identifierValue.description }
}

extension MLActivityClassifier {
    /// Trains on the recordings of a table.
    /// - Throws: why the table is not valid, and what is wrong with its columns or the parameters.
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

    /// How well the recordings of a table are recognised; what cannot be used is in the metrics' `error`.
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

    /// The activity of each row, or of each window.
    public func predictions(from data: MLDataTable, perWindowPrediction: Bool? = false) throws -> [String] {
        try predictions(from: data.dataFrame(), perWindowPrediction: perWindowPrediction)
    }

    /// Begins to train in the background; goes on when there is a session in the session directory.
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

    /// A session that has not begun, or the one in the session directory, if there is one.
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
    /// - Parameter validationData: a table of recordings with the columns of the training data; without one a part of the
    ///   training data validates.
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

    /// The table that validates; `nil` when it is something else.  Setting `nil` has a part of the training data validate.
    public var validationData: MLDataTable? {
        get { if case .table(let table) = validating { table } else { nil } }
        set { validating = newValue.map { .table($0) } ?? .validation(.split(strategy: .automatic)) }
    }
}
