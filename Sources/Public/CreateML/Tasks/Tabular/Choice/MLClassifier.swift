/// A tabular classifier whose algorithm is chosen by validation.
///
/// Trains the algorithms that suit the data, on small tables with several parameters, and keeps the best.
///
/// A table of fewer than 5,000 rows (fewer with hundreds of columns) is cross-validated. The algorithm with the
/// lowest classification error plus a tenth of the log loss, the first of equal ones, is trained on all rows.
/// `validationMetrics` are then those of the chosen algorithm on the held-out rows, each counted once; they are
/// slightly better than on rows that took no part in the choice.
///
/// On a larger table each algorithm is trained once with its defaults, and the one with the lowest error on the
/// rows that the automatic split sets aside is kept; `validationMetrics` are of those rows.
///
/// For two classes logistic regression and support vectors are tried, and all kinds of trees if there are fewer
/// than 200 features; for more classes logistic regression and all kinds of trees. If numbers are missing, trees
/// are tried in any case and linear models are not.
public enum MLClassifier: MLAutomaticTabularTask, Sendable {
    /// The metrics of the kind of task.
    public typealias Metrics = MLClassifierMetrics

    /// Gradient-boosted trees.
    case boostedTree(MLBoostedTreeClassifier)
    /// A decision tree.
    case decisionTree(MLDecisionTreeClassifier)
    /// Logistic regression.
    case logisticRegression(MLLogisticRegressionClassifier)
    /// A random forest.
    case randomForest(MLRandomForestClassifier)
    /// A linear support vector classifier.
    case supportVector(MLSupportVectorClassifier)

    package var task: any TabularTask {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .logisticRegression(let task): task
        case .randomForest(let task): task
        case .supportVector(let task): task
        }
    }
}

extension MLClassifier: ChosenTask {
    package init(_ trained: TrainedTable, _ settings: LearnerSettings, _ validation: MLTabularValidation) {
        switch settings.algorithm {
        case .boostedTree: self = .boostedTree(MLBoostedTreeClassifier(trained, .init(settings, validation)))
        case .decisionTree: self = .decisionTree(MLDecisionTreeClassifier(trained, .init(settings, validation)))
        case .randomForest: self = .randomForest(MLRandomForestClassifier(trained, .init(settings, validation)))
        case .supportVector: self = .supportVector(MLSupportVectorClassifier(trained, .init(settings, validation)))
        case .logistic, .linear:
            self = .logisticRegression(MLLogisticRegressionClassifier(trained, .init(settings, validation)))
        }
    }
}
