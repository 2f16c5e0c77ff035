/// The algorithms that were compared for a task, and their scores on rows that they were not trained on.
package struct AlgorithmChoice: Sendable {
    package enum Measure: Sendable { case accuracy, rootMeanSquaredError }

    /// The choice of held-out rows.
    package enum Rows: Sendable, Equatable {
        /// One split, of as many rows as the automatic split sets aside.
        case split
        /// All rows by turns, in so many folds and so many repeats; later repeats leave out algorithms that fell
        /// behind.
        case crossValidation(folds: Int, repeats: Int)
    }

    /// An algorithm with its parameters.
    package struct Trial: Sendable {
        package var algorithm: TabularAlgorithm
        /// The parameters that are not the algorithm's defaults.
        package var parameters: [(name: String, value: String)]
        /// The score over all held-out rows.
        package var score: Double
        /// The standard deviation of the score between folds; `nil` with one.
        package var deviation: Double?
        /// The number of folds that it was tried on.
        package var folds: Int
        package var isChosen: Bool
    }

    package var measure: Measure
    package var rows: Rows
    /// The trials, the best first; none if the table had too few rows to hold some out.
    package var trials: [Trial]
}
