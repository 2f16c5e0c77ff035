import MLFeatures
import MLLinearTraining
import MLTreeTraining

/// An algorithm with parameters that the automatic choice tries.
struct ChoiceCandidate: Sendable {
    var settings: LearnerSettings
    /// The numbers of iterations, ascending, after which it is scored; only at the end if there are none.
    ///
    /// The best stage is taken.
    var stages: [Int] = []
    /// Whether the parameters differ from the algorithm's defaults.
    var isVaried = false

    /// The settings after a stage.
    func settings(after stage: Int) -> LearnerSettings {
        guard !stages.isEmpty, case .trees(var trees) = settings else { return settings }
        trees.maxIterations = stages[stage]
        return .trees(trees)
    }

    /// The candidate with changed parameters.
    fileprivate func with(stages: [Int] = [], _ change: (inout TreeSettings) -> Void) -> ChoiceCandidate {
        guard case .trees(var trees) = settings else { return self }
        change(&trees)
        return ChoiceCandidate(settings: .trees(trees), stages: stages, isVaried: true)
    }

    fileprivate func with(l2Penalty: Double) -> ChoiceCandidate {
        guard case .linear(var linear) = settings else { return self }
        linear.fitting.l2Penalty = l2Penalty
        return ChoiceCandidate(settings: .linear(linear), isVaried: true)
    }
}

/// The properties of a table that decide which algorithms are tried on it.
struct TableShape {
    /// The number of features from which trees are not tried for two classes or for regression.
    static let fewFeatures = 200

    let rows: Int
    /// The length of the feature vector.
    let features: Int
    /// `nil` for a regressor.
    let classes: Int?
    let hasMissing: Bool

    init(_ table: PreparedTable) {
        rows = table.training.rowCount + (table.validation?.rowCount ?? 0)
        features = table.layout.width
        classes = table.labels?.count
        hasMissing = table.training.hasMissing || table.validation?.hasMissing == true
    }

    fileprivate var isForTrees: Bool { features < Self.fewFeatures || hasMissing || (classes ?? 2) > 2 }
}

/// The algorithms with their defaults, and the candidates that are tried.
struct ChoiceCandidates {
    private let shape: TableShape
    private let boosted = ChoiceCandidate(settings: .trees(TreeSettings(.boostedTree)))
    private let forest = ChoiceCandidate(settings: .trees(TreeSettings(.randomForest)))
    private let tree = ChoiceCandidate(settings: .trees(TreeSettings(.decisionTree)))
    private let line: ChoiceCandidate
    private let vectors = ChoiceCandidate(settings: .linear(LinearSettings(.supportVector)))

    init(_ shape: TableShape) {
        self.shape = shape
        line = ChoiceCandidate(
            settings: .linear(LinearSettings(shape.classes == nil ? .linearRegression : .logisticRegression))
        )
    }

    /// Turi Create's candidates.
    ///
    /// For regression they are linear regression and, with fewer than 200 features, boosted trees; for two classes
    /// support vectors, logistic regression and, with fewer than 200 features, all kinds of trees; for more classes
    /// logistic regression and all kinds of trees. If numbers are missing, trees are tried in any case and linear
    /// models are not.
    var turis: [ChoiceCandidate] {
        guard let classes = shape.classes else {
            return (shape.hasMissing ? [] : [line]) + (shape.isForTrees ? [boosted] : [])
        }
        return (shape.isForTrees ? [boosted, forest, tree] : []) + (shape.hasMissing || classes > 2 ? [] : [vectors])
            + (shape.hasMissing ? [] : [line])
    }

    /// Turi Create's candidates, and random forests and decision trees for regression.
    var standard: [ChoiceCandidate] {
        turis + (shape.classes == nil && shape.isForTrees ? [forest, tree] : [])
    }

    /// The standard candidates, and the algorithms with other parameters than their defaults.
    var varied: [ChoiceCandidate] {
        let rounds = [10, 20, 30, 50, 75, 100, 150, 200]
        var result = standard
        if !shape.hasMissing { result += [0.1, 1, 10].map { line.with(l2Penalty: $0) } }
        guard shape.isForTrees else { return result }
        for (depth, share) in [(2, 1.0), (3, 1), (6, 1), (3, 0.8)] {
            result.append(
                boosted.with(stages: rounds) {
                    $0.growing.maxDepth = depth
                    $0.maxIterations = rounds.last ?? $0.maxIterations
                    $0.growing.stepSize = 0.1
                    $0.growing.rowSubsample = share
                    $0.growing.columnSubsample = share
                }
            )
        }
        result.append(
            forest.with {
                $0.growing.maxDepth = 10
                $0.maxIterations = 100
            }
        )
        result.append(tree.with { $0.growing.maxDepth = 3 })
        return result
    }
}
