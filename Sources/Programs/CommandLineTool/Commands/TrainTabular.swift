import ArgumentParser
import CreateML
import TabularData

struct TrainTabular: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tabular",
        abstract: "Train a classifier or a regressor from a table.",
        discussion: """
            Examples:
              coreml train tabular houses.csv --target price -o Houses.mlmodel
              coreml train tabular mail.csv --target spam --classifier --algorithm logistic
              coreml train tabular trips.csv --target fare --algorithm boosted-tree --iterations 200 \\
                  --early-stopping 10 --validation held-out.csv --report fare.html
              coreml train tabular big.csv --target y --algorithm random-forest --resume state

            The first line of DATA names the columns; DATA may also be a folder that Turi Create or Create ML wrote (an
            SFrame). Features are columns of numbers, text and true/false; a target of text or true/false makes a
            classifier, one of numbers a regressor, or with --classifier a classifier (its values must be whole numbers).
            Without --algorithm all suitable ones are compared, also with other hyperparameters: on fewer than 5,000 rows
            by cross-validation, and the best is trained on all rows; on more rows once with the defaults, and the one with
            the best score on the held-out rows is kept. Empty cells are missing values, which trees can handle.

            The report has the scores and the candidates; for a regressor a plot of predicted against true values and the
            residuals (true minus predicted); for a classifier the confusion matrix; for both the permutation importance of
            the features: how much worse the predictions of the validation rows (of the training rows, if there are none)
            become when a column is shuffled, on up to 2,000 rows and five times, if that takes only seconds.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    enum Algorithm: String, CaseIterable, ExpressibleByArgument {
        case automatic, linear, logistic
        case supportVector = "support-vector"
        case decisionTree = "decision-tree"
        case boostedTree = "boosted-tree"
        case randomForest = "random-forest"
    }

    @Argument(help: "A .csv, .tsv or .json file, or the folder of an SFrame.")
    var data: String
    @Option(help: "The column to predict.")
    var target: String
    @Option(parsing: .upToNextOption, help: "The columns to predict from; all others by default.")
    var features: [String] = []
    @Option(help: "One of \(Algorithm.allCases.map(\.rawValue).joined(separator: ", ")).")
    var algorithm = Algorithm.automatic
    @Flag(help: "Treat the target's whole numbers as classes.")
    var classifier = false
    @OptionGroup var cells: DelimiterOption
    @OptionGroup var held: ValidationOptions

    @Option(help: "The maximum number of iterations: boosting rounds, trees of a forest, steps of a linear model.")
    var iterations: Int?
    @Option(help: "Trees: the maximum depth.")
    var depth: Int?
    @Option(help: "Trees: the minimum loss reduction of a split (gamma).")
    var minLossReduction: Double?
    @Option(help: "Trees: the minimum child weight on either side of a split.")
    var minChildWeight: Double?
    @Option(help: "Boosted trees and linear models: the step size (learning rate).")
    var stepSize: Double?
    @Option(help: "Boosted trees: stop after this many rounds without a better validation score.")
    var earlyStopping: Int?
    @Option(help: "Boosted trees and forests: the share of rows that each tree is trained on.")
    var rowSubsample: Double?
    @Option(help: "Boosted trees and forests: the share of columns that each tree is trained on.")
    var columnSubsample: Double?
    @Option(help: "Linear models: the L1 penalty.")
    var l1: Double?
    @Option(help: "Linear models: the L2 penalty.")
    var l2: Double?
    @Option(help: "Support vectors: the penalty of misclassified examples (C).")
    var penalty: Double?
    @Option(help: "Linear models: stop when an iteration improves the objective by no more than this.")
    var threshold: Double?

    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard iterations ?? 1 > 0, earlyStopping ?? 1 > 0 else {
            throw ValidationError("--iterations and --early-stopping take numbers from 1")
        }
        let given = options.filter(\.isGiven)
        if algorithm == .automatic {
            if let option = given.first {
                throw ValidationError("\(option.name) needs an --algorithm")
            }
            if held.validation != nil || held.validationShare != nil {
                throw ValidationError("--validation and --validation-share need an --algorithm")
            }
        }
        if let option = given.first(where: { !$0.algorithms.contains(algorithm) }) {
            throw ValidationError("\(option.name) is not a parameter of \(algorithm.rawValue)")
        }
        if classifier, algorithm == .linear { throw ValidationError("a linear model is a regressor; use logistic") }
    }

    /// The options that only some algorithms have.
    private var options: [(name: String, isGiven: Bool, algorithms: Set<Algorithm>)] {
        let (trees, linear): (Set<Algorithm>, Set<Algorithm>) = (
            [.decisionTree, .boostedTree, .randomForest], [.linear, .logistic]
        )
        let vectors = linear.union([.supportVector])
        return [
            ("--iterations", iterations != nil, vectors.union([.boostedTree, .randomForest])),
            ("--depth", depth != nil, trees), ("--min-loss-reduction", minLossReduction != nil, trees),
            ("--min-child-weight", minChildWeight != nil, trees),
            ("--step-size", stepSize != nil, linear.union([.boostedTree])),
            ("--early-stopping", earlyStopping != nil, [.boostedTree]),
            ("--row-subsample", rowSubsample != nil, [.boostedTree, .randomForest]),
            ("--column-subsample", columnSubsample != nil, [.boostedTree, .randomForest]),
            ("--l1", l1 != nil, linear), ("--l2", l2 != nil, linear), ("--penalty", penalty != nil, [.supportVector]),
            ("--threshold", threshold != nil, vectors),
        ]
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("reading \(data)")
        let frame = try TableFile.read(data, delimiter: cells.delimiter)
        try TableFile.require(target, in: frame, data)
        for feature in features { try TableFile.require(feature, in: frame, data) }
        try TableFile.requireRows(frame, data)
        let type = frame[target].wrappedElementType
        let isClassifier = classifier || type == String.self || type == Bool.self
        if algorithm == .automatic { flow.announce("choosing an algorithm") }
        var outcome = try isClassifier ? classify(frame, flow) : regress(frame, flow)
        outcome.facts.insert(("data", "\(data), \(frame.shape.rows) rows"), at: 0)
        outcome.json["rows"] = frame.shape.rows
        try flow.finish(outcome, name: TableFile.name(data))
    }

    // MARK: Training

    private func classify(_ frame: DataFrame, _ flow: TrainingFlow) throws -> TrainingFlow.Outcome {
        switch algorithm {
        case .automatic:
            let model = try flow.train { session in
                try MLClassifier.train(
                    trainingData: frame,
                    targetColumn: target,
                    featureColumns: chosen,
                    sessionParameters: session
                )
            }.product
            var report = TrainingReport(title: "", choice: model.choice)
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
            try add(model.trained, to: &report)
            return outcome(model.algorithm.rawValue + " classifier", model.featureColumns, report) {
                try model.write(toFile: $0, metadata: nil)
            }
        case .logistic:
            var parameters = MLLogisticRegressionClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let l1 { parameters.l1Penalty = l1 }
            if let l2 { parameters.l2Penalty = l2 }
            if let stepSize { parameters.stepSize = stepSize }
            return try train(MLLogisticRegressionClassifier.self, parameters, frame, flow)
        case .supportVector:
            var parameters = MLSupportVectorClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let penalty { parameters.penalty = penalty }
            return try outcome(
                MLSupportVectorClassifier(
                    trainingData: frame,
                    targetColumn: target,
                    featureColumns: chosen,
                    parameters: parameters
                ),
                []
            )
        case .decisionTree:
            var parameters = MLDecisionTreeClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            if let seed = held.seed { parameters.randomSeed = seed }
            return try train(MLDecisionTreeClassifier.self, parameters, frame, flow)
        case .boostedTree:
            var parameters = MLBoostedTreeClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            if let stepSize { parameters.stepSize = stepSize }
            parameters.earlyStoppingRounds = earlyStopping
            return try train(MLBoostedTreeClassifier.self, parameters, frame, flow)
        case .randomForest:
            var parameters = MLRandomForestClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            return try train(MLRandomForestClassifier.self, parameters, frame, flow)
        case .linear:
            throw Failure("a linear model predicts numbers, but '\(target)' has classes; use --algorithm logistic")
        }
    }

    private func regress(_ frame: DataFrame, _ flow: TrainingFlow) throws -> TrainingFlow.Outcome {
        switch algorithm {
        case .automatic:
            let model = try flow.train { session in
                try MLRegressor.train(
                    trainingData: frame,
                    targetColumn: target,
                    featureColumns: chosen,
                    sessionParameters: session
                )
            }.product
            var report = TrainingReport(title: "", choice: model.choice)
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
            try add(model.trained, to: &report)
            return outcome(model.algorithm.rawValue + " regressor", model.featureColumns, report) {
                try model.write(toFile: $0, metadata: nil)
            }
        case .linear:
            var parameters = MLLinearRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let l1 { parameters.l1Penalty = l1 }
            if let l2 { parameters.l2Penalty = l2 }
            if let stepSize { parameters.stepSize = stepSize }
            return try train(MLLinearRegressor.self, parameters, frame, flow)
        case .decisionTree:
            var parameters = MLDecisionTreeRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            if let seed = held.seed { parameters.randomSeed = seed }
            return try train(MLDecisionTreeRegressor.self, parameters, frame, flow)
        case .boostedTree:
            var parameters = MLBoostedTreeRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            if let stepSize { parameters.stepSize = stepSize }
            parameters.earlyStoppingRounds = earlyStopping
            return try train(MLBoostedTreeRegressor.self, parameters, frame, flow)
        case .randomForest:
            var parameters = MLRandomForestRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            return try train(MLRandomForestRegressor.self, parameters, frame, flow)
        case .logistic, .supportVector:
            throw Failure(
                "\(algorithm.rawValue) predicts classes, but '\(target)' has numbers; give --classifier when they are "
                    + "classes, or use --algorithm linear"
            )
        }
    }

    /// Adds the permutation importance of the features.
    private func add(_ trained: _TrainedTable, to report: inout TrainingReport) throws {
        let rows = trained.samplesTraining ? "training" : "validation"
        report.add(try trained.importance(seed: held.seed ?? 42), rows: rows)
    }

    private var chosen: [String]? { features.isEmpty ? nil : features }

    /// The validation rows.
    private func rows() throws -> _TabularValidation {
        try held.choice(none: .none, split: { .split(strategy: $0) }) {
            .dataFrame(try TableFile.read($0, delimiter: cells.delimiter))
        }
    }

    private func apply(_ maxDepth: inout Int, _ minLossReduction: inout Double, _ minChildWeight: inout Double) {
        if let depth { maxDepth = depth }
        if let value = self.minLossReduction { minLossReduction = value }
        if let value = self.minChildWeight { minChildWeight = value }
    }

    private func apply(_ rows: inout Double, _ columns: inout Double, _ randomSeed: inout Int) {
        if let rowSubsample { rows = rowSubsample }
        if let columnSubsample { columns = columnSubsample }
        if let seed = held.seed { randomSeed = seed }
    }

    private func apply(_ maxIterations: inout Int, _ convergenceThreshold: inout Double) {
        if let iterations { maxIterations = iterations }
        if let threshold { convergenceThreshold = threshold }
    }

    /// Trains as a job.
    private func train<Task: _TabularJobTask>(
        _: Task.Type,
        _ parameters: Task.ModelParameters,
        _ frame: DataFrame,
        _ flow: TrainingFlow
    ) throws -> TrainingFlow.Outcome {
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try Task.train(
                trainingData: frame,
                targetColumn: target,
                featureColumns: chosen,
                parameters: parameters,
                sessionParameters: session
            )
        }
        return try outcome(model, curves)
    }

    private func outcome<Task: _TabularTask>(_ model: Task, _ curves: [LearningCurve]) throws -> TrainingFlow.Outcome {
        var report = TrainingReport(title: "", curves: curves)
        if let model = model as? any _TabularClassifier {
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
        } else if let model = model as? any _TabularRegressor {
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
        }
        try add(model._trained, to: &report)
        let name = "\(algorithm.rawValue) \(Task._isClassifier ? "classifier" : "regressor")"
        return outcome(name, model.featureColumns, report) { try model.write(toFile: $0) }
    }

    private func outcome(
        _ name: String,
        _ features: [String],
        _ report: TrainingReport,
        _ write: @escaping (String) throws -> Void
    ) -> TrainingFlow.Outcome {
        var facts: [(name: String, value: String)] = [("features", features.joined(separator: ", "))]
        if let choice = report.choice { facts.append(("chosen", choice.method)) }
        return TrainingFlow.Outcome(
            title: "\(name) of '\(target)'" + (algorithm == .automatic ? ", the best of those tried" : ""),
            algorithm: name,
            facts: facts,
            json: ["features": features],
            report: report,
            write: write
        )
    }
}
