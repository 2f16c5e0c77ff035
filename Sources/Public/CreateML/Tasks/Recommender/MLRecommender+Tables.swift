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
