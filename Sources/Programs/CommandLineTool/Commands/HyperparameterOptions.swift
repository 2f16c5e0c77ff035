import ArgumentParser
import CreateML

/// The hyperparameters of `coreml train tabular`.
///
/// `CreateML` declares them, their algorithms, defaults and ranges (`Hyperparameter`); this type has the names of the options.
struct HyperparameterOptions: ParsableArguments {
    @Option(help: help("maxIterations")) var iterations: Int?
    @Option(help: help("maxDepth")) var depth: Int?
    @Option(help: help("minLossReduction")) var minLossReduction: Double?
    @Option(help: help("minChildWeight")) var minChildWeight: Double?
    @Option(help: help("stepSize")) var stepSize: Double?
    @Option(help: help("earlyStoppingRounds")) var earlyStopping: Int?
    @Option(help: help("rowSubsample")) var rowSubsample: Double?
    @Option(help: help("columnSubsample")) var columnSubsample: Double?
    @Option(help: help("l1Penalty")) var l1: Double?
    @Option(help: help("l2Penalty")) var l2: Double?
    @Option(help: help("penalty")) var penalty: Double?
    @Option(help: help("convergenceThreshold")) var threshold: Double?

    private static func help(_ name: String) -> ArgumentHelp { ArgumentHelp(Hyperparameter.named(name).help) }

    /// The options on the command line and their values.
    var given: [(option: String, hyperparameter: Hyperparameter, value: HyperparameterValue)] {
        func integer(_ value: Int?) -> HyperparameterValue? { value.map { .integer($0) } }
        func number(_ value: Double?) -> HyperparameterValue? { value.map { .number($0) } }
        let options = [
            ("--iterations", "maxIterations", integer(iterations)),
            ("--depth", "maxDepth", integer(depth)),
            ("--min-loss-reduction", "minLossReduction", number(minLossReduction)),
            ("--min-child-weight", "minChildWeight", number(minChildWeight)),
            ("--step-size", "stepSize", number(stepSize)),
            ("--early-stopping", "earlyStoppingRounds", integer(earlyStopping)),
            ("--row-subsample", "rowSubsample", number(rowSubsample)),
            ("--column-subsample", "columnSubsample", number(columnSubsample)),
            ("--l1", "l1Penalty", number(l1)),
            ("--l2", "l2Penalty", number(l2)),
            ("--penalty", "penalty", number(penalty)),
            ("--threshold", "convergenceThreshold", number(threshold)),
        ]
        return options.compactMap { option, name, value in value.map { (option, Hyperparameter.named(name), $0) } }
    }

    func validate() throws {
        guard iterations ?? 1 > 0, earlyStopping ?? 1 > 0 else {
            throw ValidationError("--iterations and --early-stopping take numbers from 1")
        }
    }

    /// Changes those of an algorithm's settings that are on the command line.
    /// - Parameters:
    ///   - settings: The settings.
    ///   - seed: The seed of an algorithm that draws at random; the default if `nil`.
    func apply(to settings: inout LearnerSettings, seed: Int?) {
        for (_, hyperparameter, value) in given { settings.set(hyperparameter, to: value) }
        if let seed { settings.set(.named("randomSeed"), to: .integer(seed)) }
    }
}
