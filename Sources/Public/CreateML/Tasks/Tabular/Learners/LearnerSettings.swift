import MLLinearTraining
import MLTrainingCore
import MLTreeTraining

/// The algorithms of tabular tasks, by their names on the command line.
package enum TabularAlgorithm: String, CaseIterable, Sendable {
    case linear, logistic
    case supportVector = "support-vector"
    case decisionTree = "decision-tree"
    case boostedTree = "boosted-tree"
    case randomForest = "random-forest"
}

/// The algorithm of a tabular task and its hyperparameters.
package enum LearnerSettings: Codable, Hashable, Sendable {
    case trees(TreeSettings)
    case linear(LinearSettings)

    /// The defaults of an algorithm.
    init(defaultsOf algorithm: TabularAlgorithm) {
        self =
            switch algorithm {
            case .linear: .linear(LinearSettings(.linearRegression))
            case .logistic: .linear(LinearSettings(.logisticRegression))
            case .supportVector: .linear(LinearSettings(.supportVector))
            case .decisionTree: .trees(TreeSettings(.decisionTree))
            case .boostedTree: .trees(TreeSettings(.boostedTree))
            case .randomForest: .trees(TreeSettings(.randomForest))
            }
    }

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

    /// Whether a number may be missing from a row.
    var allowsMissing: Bool { if case .trees = self { true } else { false } }

    var maxIterations: Int {
        switch self {
        case .trees(let settings): settings.rounds
        case .linear(let settings): settings.fitting.maxIterations
        }
    }

    // MARK: Hyperparameters

    /// The value of a hyperparameter; `nil` if the algorithm does not have it.
    package subscript(hyperparameter: Hyperparameter) -> HyperparameterValue? {
        guard hyperparameter.algorithms.contains(algorithm) else { return nil }
        return switch self {
        case .trees(let settings): hyperparameter.trees?.value(in: settings)
        case .linear(let settings): hyperparameter.linear?.value(in: settings)
        }
    }

    /// Sets a hyperparameter; without effect if the algorithm does not have it.
    /// - Precondition: The value is of the hyperparameter's type.
    package mutating func set(_ hyperparameter: Hyperparameter, to value: HyperparameterValue) {
        guard hyperparameter.algorithms.contains(algorithm) else { return }
        switch self {
        case .trees(var settings):
            hyperparameter.trees?.set(value, in: &settings)
            self = .trees(settings)
        case .linear(var settings):
            hyperparameter.linear?.set(value, in: &settings)
            self = .linear(settings)
        }
    }

    /// The hyperparameters that the user can set, for descriptions.
    var described: [(name: String, value: String)] {
        Hyperparameter.all.compactMap { hyperparameter in
            self[hyperparameter].map { (hyperparameter.name, $0.description) }
        }
    }

    /// The hyperparameters that a session compares.
    var compared: [SessionParameter] {
        Hyperparameter.all.compactMap { hyperparameter in
            guard !hyperparameter.varying.contains(algorithm), let value = self[hyperparameter] else { return nil }
            return SessionParameter(hyperparameter.name, value)
        }
    }

    /// Checks the ranges of the hyperparameters that the algorithm has.
    /// - Throws: `MLCreateError.generic` naming the first out of range.
    func validate() throws {
        for hyperparameter in Hyperparameter.all {
            let range =
                switch self {
                case .trees: hyperparameter.treeRange
                case .linear: hyperparameter.linearRange
                }
            guard let range, let value = self[hyperparameter], let number = value.number, !range.contains(number) else {
                continue
            }
            throw MLCreateError.generic(reason: "\(hyperparameter.name) is \(value); it must be \(range)")
        }
    }
}

/// The settings of a family of algorithms, archived under the names of its hyperparameters.
protocol FamilySettings: Codable {
    associatedtype Kind: Codable

    static var family: any KeyPath<Hyperparameter, SettingsField<Self>?> & Sendable { get }
    var kind: Kind { get }
    /// Settings with the defaults of an algorithm.
    init(_ kind: Kind)
}

extension FamilySettings {
    private static var kindKey: SettingsKey { SettingsKey("kind") }

    /// Writes all hyperparameters of the family, whether or not the algorithm has them.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SettingsKey.self)
        try container.encode(kind, forKey: Self.kindKey)
        for hyperparameter in Hyperparameter.all {
            try hyperparameter[keyPath: Self.family]?.encode(self, hyperparameter.name, to: &container)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SettingsKey.self)
        self.init(try container.decode(Kind.self, forKey: Self.kindKey))
        for hyperparameter in Hyperparameter.all {
            try hyperparameter[keyPath: Self.family]?.decode(into: &self, hyperparameter.name, from: container)
        }
    }
}

/// The settings of the algorithms that grow trees.
package struct TreeSettings: FamilySettings, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case decisionTree, boostedTree, randomForest }

    static var family: any KeyPath<Hyperparameter, SettingsField<TreeSettings>?> & Sendable { \.trees }

    let kind: Kind
    /// The hyperparameters of a tree, with their defaults for boosted trees and their ranges.
    var growing = TreeTrainingSettings()
    var maxIterations = 10
    var earlyStoppingRounds: Int?

    init(_ kind: Kind) {
        self.kind = kind
        switch kind {
        case .decisionTree:
            growing.stepSize = 1
            maxIterations = 1
        case .boostedTree: break
        case .randomForest:
            growing.stepSize = 1
            growing.rowSubsample = 0.8
            growing.columnSubsample = 0.8
        }
    }

    var randomSeed: Int {
        get { Int(truncatingIfNeeded: growing.randomSeed) }
        set { growing.randomSeed = UInt64(truncatingIfNeeded: newValue) }
    }

    var rounds: Int { kind == .decisionTree ? 1 : maxIterations }
}

/// The settings of the algorithms that fit linear models.
package struct LinearSettings: FamilySettings, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable { case linearRegression, logisticRegression, supportVector }

    static var family: any KeyPath<Hyperparameter, SettingsField<LinearSettings>?> & Sendable { \.linear }

    let kind: Kind
    /// The hyperparameters of a fit, with their defaults for linear and logistic regression and their ranges.
    var fitting = LinearTrainingSettings()
    /// The penalty of support vector classifiers, in place of `fitting.l2Penalty`.
    var penalty = 1.0

    init(_ kind: Kind) {
        self.kind = kind
        if kind == .supportVector { fitting.maxIterations = 11 }
    }
}
