/// The parameters of a tabular task: those of its algorithm, and the choice of validation rows.
public protocol MLTabularParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The choice of validation rows.
    typealias ValidationData = MLTabularValidation

    /// The rows that the model is validated on during and after training.
    var validation: MLTabularValidation { get set }

    /// Creates default parameters, with the automatic split of the training data for validation.
    init()
}

extension MLTabularParameters {
    /// The table of validation rows; `nil` for any other choice.
    ///
    /// Setting `nil` chooses the automatic split of the training data.
    public var validationData: MLDataTable? {
        get { if case .table(let table) = validation { table } else { nil } }
        set { validation = MLTabularValidation(newValue) }
    }
}

/// Parameters that are the settings of an algorithm.
package protocol TabularParameters: MLTabularParameters {
    /// The settings of the algorithm by default.
    static var standard: LearnerSettings { get }
    /// The algorithm and its hyperparameters.
    var settings: LearnerSettings { get }

    /// Makes parameters of settings.
    /// - Precondition: The settings are of the same algorithm.
    init(_ settings: LearnerSettings, _ validation: MLTabularValidation)
}

extension TabularParameters {
    /// Creates default parameters, with the automatic split of the training data for validation.
    public init() { self.init(Self.standard, .split(strategy: .automatic)) }

    /// The parameters, one a line.
    public var description: String {
        (settings.described.map { "\($0.name): \($0.value)" } + ["validation: \(validation)"])
            .joined(separator: "\n")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// Parameters of an algorithm that grows trees.
protocol TreeParameters: TabularParameters {
    static var kind: TreeSettings.Kind { get }
    var trees: TreeSettings { get set }

    init(trees: TreeSettings, validation: MLTabularValidation)
}

extension TreeParameters {
    package static var standard: LearnerSettings { .trees(TreeSettings(kind)) }
    package var settings: LearnerSettings { .trees(trees) }

    package init(_ settings: LearnerSettings, _ validation: MLTabularValidation) {
        guard case .trees(let trees) = settings else { preconditionFailure("\(settings.algorithm) grows no trees") }
        self.init(trees: trees, validation: validation)
    }
}

/// Parameters of an algorithm that fits a linear model.
protocol LinearParameters: TabularParameters {
    static var kind: LinearSettings.Kind { get }
    var linear: LinearSettings { get set }

    init(linear: LinearSettings, validation: MLTabularValidation)
}

extension LinearParameters {
    package static var standard: LearnerSettings { .linear(LinearSettings(kind)) }
    package var settings: LearnerSettings { .linear(linear) }

    package init(_ settings: LearnerSettings, _ validation: MLTabularValidation) {
        guard case .linear(let linear) = settings else { preconditionFailure("\(settings.algorithm) is not linear") }
        self.init(linear: linear, validation: validation)
    }
}
