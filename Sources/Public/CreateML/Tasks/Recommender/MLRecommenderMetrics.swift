public import TabularData

/// How many of the items that users chose are among those recommended to them.
public struct MLRecommenderMetrics {
    /// A row for each number of recommendations (`cutoff`): the share of them that users chose (`precision`), and the
    /// share of what users chose that is among them (`recall`), both the mean over users.
    public var precisionRecallDataFrame: DataFrame { table }
    /// Whether items of the training data were left out of the recommendations.
    public let excludingObserved: Bool
    /// Why there are no metrics.
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

    /// Metrics that somebody else computed; not valid when the table is not.
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

    public var isValid: Bool { error == nil }
}
