import ArgumentParser
import CreateML
import Foundation
import MLFiles
import MLKernels
import MLNumerics
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

            The first line of DATA names the columns. Columns of numbers, texts and true/false are learnt from; a target of
            texts or true/false makes a classifier, one of numbers a regressor unless --classifier says otherwise (then
            its values are whole numbers). Without --algorithm those that suit the data are tried, and the one is kept that
            does best on the rows that are set aside. Empty cells are missing values, which trees learn from.

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

    @Argument(help: "A .csv file.")
    var data: String
    @Option(help: "The column to predict.")
    var target: String
    @Option(parsing: .upToNextOption, help: "The columns to predict from; all others by default.")
    var features: [String] = []
    @Option(help: "One of \(Algorithm.allCases.map(\.rawValue).joined(separator: ", ")).")
    var algorithm = Algorithm.automatic
    @Flag(help: "The target's whole numbers are classes.")
    var classifier = false
    @Option(help: "The character between cells.")
    var delimiter = ","

    @Option(help: "A .csv file to validate with; by default some rows of DATA are set aside.")
    var validation: String?
    @Option(help: "The share of the rows of DATA to set aside; 0 for none.")
    var validationShare: Double?
    @Option(help: "The seed of what is drawn at random.")
    var seed: Int?

    @Option(help: "The most iterations: rounds of boosting, trees of a forest, steps of a linear model.")
    var iterations: Int?
    @Option(help: "Trees: the most levels of branches.")
    var depth: Int?
    @Option(help: "Trees: the gain below which a split is taken back.")
    var minLossReduction: Double?
    @Option(help: "Trees: the least weight on either side of a split.")
    var minChildWeight: Double?
    @Option(help: "Boosted trees and linear models: how far a step goes.")
    var stepSize: Double?
    @Option(help: "Boosted trees: end after this many rounds that did not validate better.")
    var earlyStopping: Int?
    @Option(help: "Boosted trees and forests: the share of rows that a tree sees.")
    var rowSubsample: Double?
    @Option(help: "Boosted trees and forests: the share of columns that a tree sees.")
    var columnSubsample: Double?
    @Option(help: "Linear models: the weight of the coefficients' magnitudes.")
    var l1: Double?
    @Option(help: "Linear models: the weight of the coefficients' squares.")
    var l2: Double?
    @Option(help: "Support vectors: the weight of examples on the wrong side.")
    var penalty: Double?
    @Option(help: "Linear models: end when an iteration betters the objective by no more.")
    var threshold: Double?

    @OptionGroup var training: TrainingOptions

    func validate() throws {
        try training.validate()
        guard delimiter.count == 1 else { throw ValidationError("--delimiter takes one character") }
        guard validation == nil || validationShare == nil else {
            throw ValidationError("--validation brings the rows; leave out --validation-share")
        }
        if let validationShare, !(0..<1).contains(validationShare) {
            throw ValidationError("--validation-share takes a number from 0 to below 1")
        }
        guard iterations ?? 1 > 0, earlyStopping ?? 1 > 0 else {
            throw ValidationError("--iterations and --early-stopping take numbers from 1")
        }
        let given = options.filter(\.isGiven)
        if algorithm == .automatic {
            if let option = given.first {
                throw ValidationError("\(option.name) needs an --algorithm")
            }
            if training.resume != nil { throw ValidationError("--resume needs an --algorithm") }
            if validation != nil || validationShare != nil {
                throw ValidationError("--validation and --validation-share need an --algorithm")
            }
        }
        if let option = given.first(where: { !$0.algorithms.contains(algorithm) }) {
            throw ValidationError("\(option.name) is no parameter of \(algorithm.rawValue)")
        }
        if classifier, algorithm == .linear { throw ValidationError("a linear model is a regressor; use logistic") }
    }

    /// The options that some algorithms have and others do not.
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
        let start = ContinuousClock.now
        if let threads = training.threads { Workers.limit(to: threads) }
        Interruption.watch()
        let frame = try TableFile.read(data, delimiter: delimiter)
        guard let column = frame.columns.first(where: { $0.name == target }) else {
            throw Failure(
                "\(data) has no column '\(target)'; its columns are \(frame.columns.map(\.name).joined(separator: ", "))"
            )
        }
        let isClassifier =
            classifier || column.wrappedElementType == String.self || column.wrappedElementType == Bool.self
        let outcome = try isClassifier ? classify(frame) : regress(frame)
        try finish(outcome, frame.shape.rows, seconds: (ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: Training

    /// What is the same for all kinds of models once they are trained.
    private struct Outcome {
        let description: String
        let features: [String]
        let write: (String) throws -> Void
        var report: TrainingReport
    }

    private func classify(_ frame: DataFrame) throws -> Outcome {
        switch algorithm {
        case .automatic:
            let model = try MLClassifier(trainingData: frame, targetColumn: target, featureColumns: chosen)
            var report = TrainingReport(title: "")
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
            return Outcome(
                description: model.algorithmName + " classifier",
                features: model.featureColumns,
                write: { try model.write(toFile: $0, metadata: nil) },
                report: report
            )
        case .logistic:
            var parameters = MLLogisticRegressionClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let l1 { parameters.l1Penalty = l1 }
            if let l2 { parameters.l2Penalty = l2 }
            if let stepSize { parameters.stepSize = stepSize }
            return try train(MLLogisticRegressionClassifier.self, parameters, frame)
        case .supportVector:
            var parameters = MLSupportVectorClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let penalty { parameters.penalty = penalty }
            return try outcome(
                try MLSupportVectorClassifier(
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
            if let seed { parameters.randomSeed = seed }
            return try train(MLDecisionTreeClassifier.self, parameters, frame)
        case .boostedTree:
            var parameters = MLBoostedTreeClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            if let stepSize { parameters.stepSize = stepSize }
            parameters.earlyStoppingRounds = earlyStopping
            return try train(MLBoostedTreeClassifier.self, parameters, frame)
        case .randomForest:
            var parameters = MLRandomForestClassifier.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            return try train(MLRandomForestClassifier.self, parameters, frame)
        case .linear:
            throw Failure("a linear model predicts numbers, but '\(target)' has classes; use --algorithm logistic")
        }
    }

    private func regress(_ frame: DataFrame) throws -> Outcome {
        switch algorithm {
        case .automatic:
            let model = try MLRegressor(trainingData: frame, targetColumn: target, featureColumns: chosen)
            var report = TrainingReport(title: "")
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
            return Outcome(
                description: model.algorithmName + " regressor",
                features: model.featureColumns,
                write: { try model.write(toFile: $0, metadata: nil) },
                report: report
            )
        case .linear:
            var parameters = MLLinearRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxIterations, &parameters.convergenceThreshold)
            if let l1 { parameters.l1Penalty = l1 }
            if let l2 { parameters.l2Penalty = l2 }
            if let stepSize { parameters.stepSize = stepSize }
            return try train(MLLinearRegressor.self, parameters, frame)
        case .decisionTree:
            var parameters = MLDecisionTreeRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            if let seed { parameters.randomSeed = seed }
            return try train(MLDecisionTreeRegressor.self, parameters, frame)
        case .boostedTree:
            var parameters = MLBoostedTreeRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            if let stepSize { parameters.stepSize = stepSize }
            parameters.earlyStoppingRounds = earlyStopping
            return try train(MLBoostedTreeRegressor.self, parameters, frame)
        case .randomForest:
            var parameters = MLRandomForestRegressor.ModelParameters(validation: try rows())
            apply(&parameters.maxDepth, &parameters.minLossReduction, &parameters.minChildWeight)
            apply(&parameters.rowSubsample, &parameters.columnSubsample, &parameters.randomSeed)
            if let iterations { parameters.maxIterations = iterations }
            return try train(MLRandomForestRegressor.self, parameters, frame)
        case .logistic, .supportVector:
            throw Failure(
                "\(algorithm.rawValue) predicts classes, but '\(target)' has numbers; give --classifier when they are "
                    + "classes, or use --algorithm linear"
            )
        }
    }

    private var chosen: [String]? { features.isEmpty ? nil : features }

    /// The rows to validate with.
    private func rows() throws -> _TabularValidation {
        if let validation { return .dataFrame(try TableFile.read(validation, delimiter: delimiter)) }
        switch validationShare {
        case 0?: return .none
        case let share?: return .split(strategy: .fixed(ratio: share, seed: seed ?? 42))
        case nil: return .split(strategy: .automatic)
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
        if let seed { randomSeed = seed }
    }

    private func apply(_ maxIterations: inout Int, _ convergenceThreshold: inout Double) {
        if let iterations { maxIterations = iterations }
        if let threshold { convergenceThreshold = threshold }
    }

    /// Trains as a job, with progress and checkpoints.
    private func train<Task: _TabularJobTask>(
        _: Task.Type,
        _ parameters: Task.ModelParameters,
        _ frame: DataFrame
    ) throws -> Outcome {
        let progress = TrainingProgress(json: training.json)
        let session = MLTrainingSessionParameters(
            sessionDirectory: training.resume.map { URL(fileURLWithPath: $0, isDirectory: true) },
            reportInterval: 1,
            checkpointInterval: training.checkpointInterval,
            iterations: max(1000, iterations ?? 0)
        )
        let job = try Task.train(
            trainingData: frame,
            targetColumn: target,
            featureColumns: chosen,
            parameters: parameters,
            sessionParameters: session
        )
        do {
            return try outcome(try progress.result(of: job), progress.curves)
        } catch MLCreateError.cancelled where Interruption.signal != 0 {
            var text = "interrupted; no model is written"
            if let folder = training.resume { text += "; run the same command again to go on from '\(folder)'" }
            FileHandle.standardError.write(Data("\(text)\n".utf8))
            throw ExitCode(128 + Interruption.signal)
        }
    }

    private func outcome<Task: _TabularTask>(_ model: Task, _ curves: [LearningCurve]) throws -> Outcome {
        var report = TrainingReport(title: "", curves: curves)
        if let model = model as? any _TabularClassifier {
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
        } else if let model = model as? any _TabularRegressor {
            report.add(training: model.trainingMetrics, validation: model.validationMetrics)
        }
        return Outcome(
            description: "\(algorithm.rawValue) \(Task._isClassifier ? "classifier" : "regressor")",
            features: model.featureColumns,
            write: { try model.write(toFile: $0) },
            report: report
        )
    }

    // MARK: The end

    private func finish(_ outcome: Outcome, _ rowCount: Int, seconds: Double) throws {
        let path = training.output ?? TableFile.name(data) + ".mlmodel"
        try outcome.write(path)
        var report = outcome.report
        let choice = algorithm == .automatic ? ", the best of those tried" : ""
        report.title = "\(path): \(outcome.description) of '\(target)'\(choice)"
        report.facts = [
            ("data", "\(data), \(rowCount) rows"),
            ("features", outcome.features.joined(separator: ", ")),
            ("time", String(format: "%.1f s", seconds)),
        ]
        if let page = training.report {
            try failing { () throws(ModelError) in try FileAccess.write(report.html, to: page) }
        }
        guard training.json else {
            print(report.text)
            return
        }
        var object = report.json
        object["model"] = path
        object["algorithm"] = outcome.description
        object["rows"] = rowCount
        object["features"] = outcome.features
        object["seconds"] = seconds
        print(try JSONFeature.text(object))
    }
}

extension MLClassifier {
    fileprivate var algorithmName: String {
        switch self {
        case .boostedTree: "boosted-tree"
        case .decisionTree: "decision-tree"
        case .logisticRegression: "logistic"
        case .randomForest: "random-forest"
        case .supportVector: "support-vector"
        }
    }
}

extension MLRegressor {
    fileprivate var algorithmName: String {
        switch self {
        case .boostedTree: "boosted-tree"
        case .decisionTree: "decision-tree"
        case .linear: "linear"
        case .randomForest: "random-forest"
        }
    }
}

/// Tables on the command line.
enum TableFile {
    static func read(_ path: String, delimiter: String = ",") throws -> DataFrame {
        guard FileManager.default.fileExists(atPath: path) else { throw Failure("cannot read '\(path)'") }
        var options = CSVReadingOptions(delimiter: delimiter.first ?? ",")
        options.floatingPointType = .double
        do {
            return try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: path), options: options)
        } catch let error as CSVReadingError {
            throw Failure("\(path): \(error)")
        }
    }

    /// The name of a file without its folder and its extension.
    static func name(_ path: String) -> String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
}
