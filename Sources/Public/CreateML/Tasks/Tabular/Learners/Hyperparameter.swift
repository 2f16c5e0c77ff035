import MLLinearTraining
import MLTrainingCore
import MLTreeTraining

/// A hyperparameter of tabular algorithms, declared once for all of them.
///
/// Descriptions, session files, the comparison of a resumed session and the options of `coreml train tabular` follow from
/// `all`. Its type is that of its field, its default that of the settings of an algorithm, and its range that of the trainer's
/// settings (`TreeTrainingSettings.Ranges`, `LinearTrainingSettings.Ranges`).
package struct Hyperparameter: Sendable {
    /// The name in Apple's interface.
    package let name: String
    /// The algorithms that have it, and its meaning.
    private let meaning: String
    /// The algorithms that have it.
    package let algorithms: Set<TabularAlgorithm>
    /// The algorithms whose sessions go on with another value.
    let varying: Set<TabularAlgorithm>
    /// Its values for trees; `nil` if all values of its type are.
    let treeRange: ParameterRange?
    /// Its values for linear models; `nil` if all values of its type are.
    let linearRange: ParameterRange?
    /// Its place in the settings of trees; `nil` for one of linear models only.
    let trees: SettingsField<TreeSettings>?
    /// Its place in the settings of linear models; `nil` for one of trees only.
    let linear: SettingsField<LinearSettings>?

    private init(
        _ name: String,
        of algorithms: Set<TabularAlgorithm>,
        varying: Set<TabularAlgorithm> = [],
        treeRange: ParameterRange? = nil,
        linearRange: ParameterRange? = nil,
        trees: SettingsField<TreeSettings>? = nil,
        linear: SettingsField<LinearSettings>? = nil,
        help: String
    ) {
        self.name = name
        meaning = help
        self.algorithms = algorithms
        self.varying = varying
        self.treeRange = treeRange
        self.linearRange = linearRange
        self.trees = trees
        self.linear = linear
    }

    private static let treeKinds: Set<TabularAlgorithm> = [.decisionTree, .boostedTree, .randomForest]
    private static let ensembles: Set<TabularAlgorithm> = [.boostedTree, .randomForest]
    private static let regressions: Set<TabularAlgorithm> = [.linear, .logistic]
    private static let linearKinds: Set<TabularAlgorithm> = [.linear, .logistic, .supportVector]

    /// All hyperparameters, in the order of descriptions.
    package static let all: [Hyperparameter] = [
        Hyperparameter(
            "maxDepth",
            of: treeKinds,
            treeRange: TreeTrainingSettings.Ranges.maxDepth,
            trees: .integer(\.growing.maxDepth),
            help: "Trees: the maximum depth."
        ),
        Hyperparameter(
            "maxIterations",
            of: ensembles.union(linearKinds),
            varying: linearKinds.union([.boostedTree]),
            treeRange: TreeTrainingSettings.Ranges.maxIterations,
            linearRange: LinearTrainingSettings.Ranges.maxIterations,
            trees: .integer(\.maxIterations),
            linear: .integer(\.fitting.maxIterations),
            help: "The maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model."
        ),
        Hyperparameter(
            "minLossReduction",
            of: treeKinds,
            treeRange: TreeTrainingSettings.Ranges.minLossReduction,
            trees: .number(\.growing.minLossReduction),
            help: "Trees: the minimum loss reduction of a split (gamma)."
        ),
        Hyperparameter(
            "minChildWeight",
            of: treeKinds,
            treeRange: TreeTrainingSettings.Ranges.minChildWeight,
            trees: .number(\.growing.minChildWeight),
            help: "Trees: the minimum child weight on either side of a split."
        ),
        // A decision tree draws nothing at random.
        Hyperparameter(
            "randomSeed",
            of: treeKinds,
            varying: [.decisionTree],
            trees: .integer(\.randomSeed),
            help: "Trees: the random seed."
        ),
        Hyperparameter(
            "penalty",
            of: [.supportVector],
            linearRange: LinearTrainingSettings.Ranges.penalty,
            linear: .number(\.penalty),
            help: "Support vectors: the penalty of misclassified examples (C)."
        ),
        Hyperparameter(
            "l1Penalty",
            of: regressions,
            linearRange: LinearTrainingSettings.Ranges.l1Penalty,
            linear: .number(\.fitting.l1Penalty),
            help: "Linear models: the L1 penalty."
        ),
        Hyperparameter(
            "l2Penalty",
            of: regressions,
            linearRange: LinearTrainingSettings.Ranges.l2Penalty,
            linear: .number(\.fitting.l2Penalty),
            help: "Linear models: the L2 penalty."
        ),
        Hyperparameter(
            "stepSize",
            of: regressions.union([.boostedTree]),
            treeRange: TreeTrainingSettings.Ranges.stepSize,
            linearRange: LinearTrainingSettings.Ranges.stepSize,
            trees: .number(\.growing.stepSize),
            linear: .number(\.fitting.stepSize),
            help: "Boosted trees and linear models: the step size (learning rate)."
        ),
        Hyperparameter(
            "earlyStoppingRounds",
            of: [.boostedTree],
            treeRange: .atLeast(1),
            trees: .optional(\.earlyStoppingRounds),
            help: "Boosted trees: stop after this many rounds without a better validation score."
        ),
        Hyperparameter(
            "rowSubsample",
            of: ensembles,
            treeRange: TreeTrainingSettings.Ranges.rowSubsample,
            trees: .number(\.growing.rowSubsample),
            help: "Boosted trees and forests: the share of rows that each tree is trained on."
        ),
        Hyperparameter(
            "columnSubsample",
            of: ensembles,
            treeRange: TreeTrainingSettings.Ranges.columnSubsample,
            trees: .number(\.growing.columnSubsample),
            help: "Boosted trees and forests: the share of columns that each tree is trained on."
        ),
        Hyperparameter(
            "convergenceThreshold",
            of: linearKinds,
            linearRange: LinearTrainingSettings.Ranges.convergenceThreshold,
            linear: .number(\.fitting.convergenceThreshold),
            help: "Linear models: stop when an iteration improves the objective by no more than this."
        ),
        Hyperparameter(
            "featureRescaling",
            of: linearKinds,
            linear: .flag(\.fitting.featureRescaling),
            help: "Linear models: whether penalties apply to coefficients of rescaled columns."
        ),
    ]

    /// Its meaning, defaults and range, for the help of a command line.
    package var help: String {
        let defaults = TabularAlgorithm.allCases.filter(algorithms.contains).compactMap { algorithm in
            LearnerSettings(defaultsOf: algorithm)[self].map { (algorithm: algorithm.rawValue, value: $0.description) }
        }
        var values: [String] = []
        for (_, value) in defaults where !values.contains(value) { values.append(value) }
        let listed = values.map { value in
            let names = defaults.filter { $0.value == value }.map(\.algorithm)
            return values.count == 1 ? value : "\(value) (\(names.joined(separator: ", ")))"
        }
        return "\(meaning) Default: \(listed.joined(separator: ", ")); \(rangeText)."
    }

    private var rangeText: String {
        switch (treeRange, linearRange) {
        case (let trees?, let linear?) where trees != linear: "\(trees) for trees, \(linear) for linear models"
        case (let range?, _), (nil, let range?): "\(range)"
        case (nil, nil): "any value"
        }
    }

    /// The hyperparameter of a name.
    /// - Precondition: There is one.
    package static func named(_ name: String) -> Hyperparameter {
        guard let found = all.first(where: { $0.name == name }) else {
            preconditionFailure("no algorithm has a hyperparameter '\(name)'")
        }
        return found
    }
}

/// The value of a hyperparameter.
package enum HyperparameterValue: Hashable, Sendable, CustomStringConvertible {
    case integer(Int)
    case number(Double)
    case flag(Bool)
    /// No value, for one that is optional.
    case unset

    /// The value as a number; `nil` for flags and no value.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .flag, .unset: nil
        }
    }

    package var description: String {
        switch self {
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .flag(let value): "\(value)"
        case .unset: "none"
        }
    }
}

/// The place of a hyperparameter in the settings of a family of algorithms, which also gives its type.
enum SettingsField<Settings>: Sendable {
    case integer(any WritableKeyPath<Settings, Int> & Sendable)
    case number(any WritableKeyPath<Settings, Double> & Sendable)
    case flag(any WritableKeyPath<Settings, Bool> & Sendable)
    case optional(any WritableKeyPath<Settings, Int?> & Sendable)

    func value(in settings: Settings) -> HyperparameterValue {
        switch self {
        case .integer(let path): .integer(settings[keyPath: path])
        case .number(let path): .number(settings[keyPath: path])
        case .flag(let path): .flag(settings[keyPath: path])
        case .optional(let path): settings[keyPath: path].map { .integer($0) } ?? .unset
        }
    }

    /// - Precondition: The value is of the field's type.
    func set(_ value: HyperparameterValue, in settings: inout Settings) {
        switch (self, value) {
        case (.integer(let path), .integer(let value)): settings[keyPath: path] = value
        case (.number(let path), .number(let value)): settings[keyPath: path] = value
        case (.flag(let path), .flag(let value)): settings[keyPath: path] = value
        case (.optional(let path), .integer(let value)): settings[keyPath: path] = value
        case (.optional(let path), .unset): settings[keyPath: path] = nil
        default: preconditionFailure("\(value) is of another type than the hyperparameter")
        }
    }

    func encode(
        _ settings: Settings,
        _ name: String,
        to container: inout KeyedEncodingContainer<SettingsKey>
    ) throws {
        let key = SettingsKey(name)
        switch self {
        case .integer(let path): try container.encode(settings[keyPath: path], forKey: key)
        case .number(let path): try container.encode(settings[keyPath: path], forKey: key)
        case .flag(let path): try container.encode(settings[keyPath: path], forKey: key)
        case .optional(let path): try container.encodeIfPresent(settings[keyPath: path], forKey: key)
        }
    }

    func decode(
        into settings: inout Settings,
        _ name: String,
        from container: KeyedDecodingContainer<SettingsKey>
    ) throws {
        let key = SettingsKey(name)
        switch self {
        case .integer(let path): settings[keyPath: path] = try container.decode(Int.self, forKey: key)
        case .number(let path): settings[keyPath: path] = try container.decode(Double.self, forKey: key)
        case .flag(let path): settings[keyPath: path] = try container.decode(Bool.self, forKey: key)
        case .optional(let path): settings[keyPath: path] = try container.decodeIfPresent(Int.self, forKey: key)
        }
    }
}

/// The key of a hyperparameter in a session's file: its name.
struct SettingsKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
