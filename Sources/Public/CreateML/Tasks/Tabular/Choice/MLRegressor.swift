/// A tabular regressor whose algorithm is chosen by validation.
///
/// Trains the algorithms that suit the data, on small tables with several parameters, and keeps the best.
///
/// A table of fewer than 5,000 rows (fewer with hundreds of columns) is cross-validated. The algorithm with the
/// lowest root mean squared error, the first of equal ones, is trained on all rows. `validationMetrics` are then
/// those of the chosen algorithm on the held-out rows, each counted once; they are slightly better than on rows
/// that took no part in the choice.
///
/// On a larger table each algorithm is trained once with its defaults, and the one with the lowest error on the
/// rows that the automatic split sets aside is kept; `validationMetrics` are of those rows.
///
/// Linear regression is tried, and boosted trees if there are fewer than 200 features; on small tables also random
/// forests and decision trees. If numbers are missing, trees are tried in any case and linear regression is not.
public enum MLRegressor: MLAutomaticTabularTask, Sendable {
    /// The metrics of the kind of task.
    public typealias Metrics = MLRegressorMetrics

    /// Gradient-boosted trees.
    case boostedTree(MLBoostedTreeRegressor)
    /// A decision tree.
    case decisionTree(MLDecisionTreeRegressor)
    /// Linear regression.
    case linear(MLLinearRegressor)
    /// A random forest.
    case randomForest(MLRandomForestRegressor)

    package var task: any TabularTask {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .linear(let task): task
        case .randomForest(let task): task
        }
    }
}

extension MLRegressor: ChosenTask {
    package init(_ trained: TrainedTable, _ settings: LearnerSettings, _ validation: MLTabularValidation) {
        switch settings.algorithm {
        case .boostedTree: self = .boostedTree(MLBoostedTreeRegressor(trained, .init(settings, validation)))
        case .decisionTree: self = .decisionTree(MLDecisionTreeRegressor(trained, .init(settings, validation)))
        case .randomForest: self = .randomForest(MLRandomForestRegressor(trained, .init(settings, validation)))
        case .linear, .logistic, .supportVector:
            self = .linear(MLLinearRegressor(trained, .init(settings, validation)))
        }
    }
}
