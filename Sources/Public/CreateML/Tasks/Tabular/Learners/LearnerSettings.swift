/// The algorithm of a tabular task and its parameters.
package enum LearnerSettings: Codable, Hashable, Sendable {
    case trees(TreeSettings)
    case linear(LinearSettings)

    /// The parameters that a session compares; the number of iterations is left out where the algorithm can continue.
    var compared: [SessionParameter] {
        switch self {
        case .trees(let settings): settings.compared
        case .linear(let settings): settings.compared
        }
    }

    /// Whether a number may be missing from a row.
    var allowsMissing: Bool { if case .trees = self { true } else { false } }

    /// The parameters that the user can set, for descriptions.
    var described: [(name: String, value: String)] {
        switch self {
        case .trees(let settings): settings.described
        case .linear(let settings): settings.described
        }
    }

    var maxIterations: Int {
        switch self {
        case .trees(let settings): settings.rounds
        case .linear(let settings): settings.maxIterations
        }
    }
}

/// The algorithms of tabular tasks, by their names on the command line.
package enum TabularAlgorithm: String, Sendable {
    case linear, logistic
    case supportVector = "support-vector"
    case decisionTree = "decision-tree"
    case boostedTree = "boosted-tree"
    case randomForest = "random-forest"
}

extension LearnerSettings {
    var algorithm: TabularAlgorithm {
        switch self {
        case .trees(let settings):
            switch settings.kind {
            case .decisionTree: .decisionTree
            case .boostedTree: .boostedTree
            case .randomForest: .randomForest
            }
        case .linear(let settings):
            switch settings.kind {
            case .linearRegression: .linear
            case .logisticRegression: .logistic
            case .supportVector: .supportVector
            }
        }
    }
}

/// The parameters of the algorithms that grow trees.
package struct TreeSettings: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case decisionTree, boostedTree, randomForest }

    var kind: Kind
    var maxDepth: Int
    var maxIterations = 1
    var minLossReduction: Double
    var minChildWeight: Double
    var randomSeed: Int
    var stepSize = 1.0
    var earlyStoppingRounds: Int?
    var rowSubsample = 1.0
    var columnSubsample = 1.0

    var rounds: Int { kind == .decisionTree ? 1 : maxIterations }

    /// Without the seed of a decision tree, which draws nothing at random.
    var compared: [SessionParameter] {
        described.filter { parameter in
            switch parameter.name {
            case "maxIterations": kind == .randomForest
            case "randomSeed": kind != .decisionTree
            default: true
            }
        }
        .map { SessionParameter($0.name, $0.value) }
    }

    var described: [(name: String, value: String)] {
        var result = [("maxDepth", "\(maxDepth)")]
        if kind != .decisionTree { result.append(("maxIterations", "\(maxIterations)")) }
        result += [
            ("minLossReduction", "\(minLossReduction)"), ("minChildWeight", "\(minChildWeight)"),
            ("randomSeed", "\(randomSeed)"),
        ]
        if kind == .boostedTree {
            result.append(("stepSize", "\(stepSize)"))
            result.append(("earlyStoppingRounds", earlyStoppingRounds.map { "\($0)" } ?? "none"))
        }
        if kind != .decisionTree {
            result += [("rowSubsample", "\(rowSubsample)"), ("columnSubsample", "\(columnSubsample)")]
        }
        return result
    }
}

/// The parameters of the algorithms that fit linear models.
package struct LinearSettings: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case linearRegression, logisticRegression, supportVector }

    var kind: Kind
    var maxIterations: Int
    var l1Penalty = 0.0
    var l2Penalty = 0.01
    /// The penalty of support vector classifiers.
    var penalty = 1.0
    var stepSize = 1.0
    var convergenceThreshold: Double
    var featureRescaling: Bool

    var compared: [SessionParameter] {
        described.filter { $0.name != "maxIterations" }.map { SessionParameter($0.name, $0.value) }
    }

    var described: [(name: String, value: String)] {
        var result = [("maxIterations", "\(maxIterations)")]
        if kind == .supportVector {
            result.append(("penalty", "\(penalty)"))
        } else {
            result += [
                ("l1Penalty", "\(l1Penalty)"), ("l2Penalty", "\(l2Penalty)"), ("stepSize", "\(stepSize)"),
            ]
        }
        result += [
            ("convergenceThreshold", "\(convergenceThreshold)"), ("featureRescaling", "\(featureRescaling)"),
        ]
        return result
    }
}
