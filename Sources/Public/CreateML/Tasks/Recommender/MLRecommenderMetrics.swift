public import TabularData

/// The performance of a recommender: how many chosen items are among the recommended ones.
public struct MLRecommenderMetrics {
    /// Precision and recall for each number of recommendations: the columns `cutoff`, `precision` and `recall`.
    ///
    /// Precision is the share of the recommendations that a user chose, recall the share of the user's choices that
    /// were recommended, both averaged over users. The frame is empty if the metrics are invalid.
    public var precisionRecallDataFrame: DataFrame { table }
    /// Whether items that a user chose in the training data were not recommended.
    public let excludingObserved: Bool
    /// The reason why there are no metrics; `nil` if they are valid.
    public let error: (any Error)?
    private let table: DataFrame

    init(cutoffs: [Int], precisions: [Double], recalls: [Double], excludingObserved: Bool) {
        var table = DataFrame()
        table.append(column: Column(name: "cutoff", contents: cutoffs))
        table.append(column: Column(name: "precision", contents: precisions))
        table.append(column: Column(name: "recall", contents: recalls))
        self.table = table
        self.excludingObserved = excludingObserved
        error = nil
    }

    /// Creates metrics from given values; they are invalid if the table is.
    /// - Parameters:
    ///   - precisionRecall: Precision and recall as columns `cutoff`, `precision` and `recall`.
    ///   - excludingObserved: Whether items that a user chose in the training data were not recommended.
    public init(precisionRecall: MLDataTable, excludingObserved: Bool) {
        self.excludingObserved = excludingObserved
        do {
            table = try precisionRecall.dataFrame()
            error = nil
        } catch {
            table = DataFrame()
            self.error = error
        }
    }

    /// Metrics that could not be computed.
    init(_ error: any Error, excludingObserved: Bool) {
        table = DataFrame()
        self.excludingObserved = excludingObserved
        self.error = error
    }

    /// Whether the metrics could be computed.
    public var isValid: Bool { error == nil }
}
