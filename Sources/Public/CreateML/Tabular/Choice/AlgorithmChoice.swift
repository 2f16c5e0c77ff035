/// What an algorithm was chosen from, and how well each did on rows that it was not trained on.
package struct AlgorithmChoice: Sendable {
    package enum Measure: Sendable { case accuracy, rootMeanSquaredError }

    /// Which rows were held out.
    package enum Rows: Sendable, Equatable {
        /// As many as the automatic split sets aside, once.
        case split
        /// All, in so many parts by turns, shared out so many times.  No repeat tries what has fallen behind in those
        /// before it.
        case crossValidation(folds: Int, repeats: Int)
    }

    /// An algorithm with its parameters.
    package struct Trial: Sendable {
        package var algorithm: TabularAlgorithm
        /// The parameters that are not the algorithm's defaults.
        package var parameters: [(name: String, value: String)]
        /// Of all rows that were held out.
        package var score: Double
        /// The standard deviation of the score between folds; `nil` with one.
        package var deviation: Double?
        /// The folds that it was tried on.
        package var folds: Int
        package var isChosen: Bool
    }

    package var measure: Measure
    package var rows: Rows
    /// The best one first; without any the table had too few rows to hold some out.
    package var trials: [Trial]
}

extension MLRegressor {
    /// The algorithm of the case.
    package var algorithm: TabularAlgorithm { task.algorithm }

    /// What the algorithm was chosen from; `nil` for a task that was put into a case.
    package var choice: AlgorithmChoice? { trained.choice }

    /// What training gave.
    package var trained: _TrainedTable { task._trained }
}

extension MLClassifier {
    /// The algorithm of the case.
    package var algorithm: TabularAlgorithm { task.algorithm }

    /// What the algorithm was chosen from; `nil` for a task that was put into a case.
    package var choice: AlgorithmChoice? { trained.choice }

    /// What training gave.
    package var trained: _TrainedTable { task._trained }
}

extension _TabularTask {
    fileprivate var algorithm: TabularAlgorithm { modelParameters._settings.content.algorithm }
}
