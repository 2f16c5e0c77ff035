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
              coreml train tabular trips.csv --target fare --algorithm boosted-tree \\
                --iterations 200 --early-stopping 10 --validation held-out.csv \\
                --report fare.html
              coreml train tabular big.csv --target y --algorithm random-forest \\
                --resume state

            The first line of a .csv or .tsv file names the columns; a .json file is a list of objects, whose members are the \
            columns; a folder is an SFrame, as Turi Create and Create ML write them. Features are columns of numbers, text and \
            true/false; a target of text or true/false makes a classifier, one of numbers a regressor, or with --classifier a \
            classifier (its values must be whole numbers).
            Without --algorithm all suitable ones are compared, also with other hyperparameters: on fewer than 5,000 rows \
            by cross-validation, and the best is trained on all rows; on more rows once with the defaults, and the one with \
            the best score on the held-out rows is kept. Empty cells are missing values, which trees can handle.

            The report has the scores and the candidates; for a regressor a plot of predicted against true values and the \
            residuals (true minus predicted); for a classifier the confusion matrix; for both the permutation importance of \
            the features: how much worse the predictions of the validation rows (of the training rows, if there are none) \
            become when a column is shuffled, on up to 2,000 rows and five times, if that takes only seconds.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    /// The algorithm of `--algorithm`: `automatic`, or the name of one.
    enum Algorithm: Hashable, RawRepresentable, CaseIterable, ExpressibleByArgument {
        case automatic
        case named(TabularAlgorithm)

        static var allCases: [Algorithm] { [.automatic] + TabularAlgorithm.allCases.map { .named($0) } }

        var rawValue: String {
            switch self {
            case .automatic: "automatic"
            case .named(let algorithm): algorithm.rawValue
            }
        }

        init?(rawValue: String) {
            guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = found
        }
    }

    @Argument(help: "A .csv, .tsv or .json file, or the folder of an SFrame.")
    var data: String
    @Option(help: "The column to predict.")
    var target: String
    @Option(parsing: .upToNextOption, help: "The columns to predict from; all others by default.")
    var features: [String] = []
    @Option(help: "One of \(Algorithm.allCases.map(\.rawValue).joined(separator: ", ")).")
    var algorithm = Algorithm.automatic
    @Flag(help: "Treat the target's integers as classes.")
    var classifier = false
    @OptionGroup var cells: DelimiterOption
    @OptionGroup var held: ValidationOptions
    @Option(
        help: """
            The random seed of trees, of --validation-share and of the permutation importance; without --algorithm of the \
            importance alone. By default 42.
            """
    )
    var seed: Int?

    @OptionGroup var hyperparameters: HyperparameterOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        let given = hyperparameters.given
        switch algorithm {
        case .automatic:
            if let (option, _, _) = given.first { throw ValidationError("\(option) needs an --algorithm") }
            if held.validation != nil || held.validationShare != nil {
                throw ValidationError("--validation and --validation-share need an --algorithm")
            }
        case .named(let algorithm):
            if let (option, _, _) = given.first(where: { !$0.hyperparameter.algorithms.contains(algorithm) }) {
                throw ValidationError("\(option) is not a parameter of \(algorithm.rawValue)")
            }
        }
        if classifier, algorithm == .named(.linear) {
            throw ValidationError("a linear model is a regressor; use logistic")
        }
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
        case .automatic: return try choose(MLClassifier.self, frame, flow)
        case .named(.logistic): return try train(MLLogisticRegressionClassifier.self, frame, flow)
        case .named(.supportVector):
            return try outcome(
                MLSupportVectorClassifier(
                    trainingData: frame,
                    targetColumn: target,
                    featureColumns: chosen,
                    parameters: parameters()
                ),
                algorithm.rawValue,
                TrainingReport(title: "", curves: [])
            )
        case .named(.decisionTree): return try train(MLDecisionTreeClassifier.self, frame, flow)
        case .named(.boostedTree): return try train(MLBoostedTreeClassifier.self, frame, flow)
        case .named(.randomForest): return try train(MLRandomForestClassifier.self, frame, flow)
        case .named(.linear):
            throw Failure("a linear model predicts numbers, but '\(target)' has classes; use --algorithm logistic")
        }
    }

    private func regress(_ frame: DataFrame, _ flow: TrainingFlow) throws -> TrainingFlow.Outcome {
        switch algorithm {
        case .automatic: return try choose(MLRegressor.self, frame, flow)
        case .named(.linear): return try train(MLLinearRegressor.self, frame, flow)
        case .named(.decisionTree): return try train(MLDecisionTreeRegressor.self, frame, flow)
        case .named(.boostedTree): return try train(MLBoostedTreeRegressor.self, frame, flow)
        case .named(.randomForest): return try train(MLRandomForestRegressor.self, frame, flow)
        case .named(.logistic), .named(.supportVector):
            throw Failure(
                "\(algorithm.rawValue) predicts classes, but '\(target)' has numbers; give --classifier when they are "
                    + "classes, or use --algorithm linear"
            )
        }
    }

    /// Trains a task that chooses its algorithm, as a job.
    private func choose<Model: ChosenTask>(
        _: Model.Type,
        _ frame: DataFrame,
        _ flow: TrainingFlow
    ) throws -> TrainingFlow.Outcome where Model.Metrics: ReportedMetrics {
        let model = try flow.train { session in
            try Model.train(
                trainingData: frame,
                targetColumn: target,
                featureColumns: chosen,
                sessionParameters: session
            )
        }.product
        return try outcome(model, model.algorithm.rawValue, TrainingReport(title: "", choice: model.choice))
    }

    /// Adds the permutation importance of the features.
    private func add(_ trained: TrainedTable, to report: inout TrainingReport) throws {
        let rows = trained.samplesTraining ? "training" : "validation"
        report.add(try trained.importance(seed: seed ?? 42), rows: rows)
    }

    private var chosen: [String]? { features.isEmpty ? nil : features }

    /// The validation rows.
    private func rows() throws -> MLTabularValidation {
        try held.choice(seed: seed, none: .none, split: { .split(strategy: $0) }) {
            .dataFrame(try TableFile.read($0, delimiter: cells.delimiter))
        }
    }

    /// The parameters of an algorithm, with those of the command line.
    private func parameters<Parameters: TabularParameters>() throws -> Parameters {
        var settings = Parameters.standard
        hyperparameters.apply(to: &settings, seed: seed)
        return Parameters(settings, try rows())
    }

    /// Trains as a job.
    private func train<Task: TabularJobTask>(
        _: Task.Type,
        _ frame: DataFrame,
        _ flow: TrainingFlow
    ) throws -> TrainingFlow.Outcome where Task.Metrics: ReportedMetrics {
        let parameters: Task.ModelParameters = try parameters()
        let (model, curves) = try flow.train(iterations: hyperparameters.iterations) { session in
            try Task.train(
                trainingData: frame,
                targetColumn: target,
                featureColumns: chosen,
                parameters: parameters,
                sessionParameters: session
            )
        }
        return try outcome(model, algorithm.rawValue, TrainingReport(title: "", curves: curves))
    }

    private func outcome<Model: TabularModel>(
        _ model: Model,
        _ algorithm: String,
        _ started: TrainingReport
    ) throws -> TrainingFlow.Outcome where Model.Metrics: ReportedMetrics {
        var report = started
        model.trainingMetrics.add(to: &report, validation: model.validationMetrics)
        try add(model.trained, to: &report)
        let name = "\(algorithm) \(Model.isClassifier ? "classifier" : "regressor")"
        var facts: [(name: String, value: String)] = [("features", model.featureColumns.joined(separator: ", "))]
        if let choice = report.choice { facts.append(("chosen", choice.method)) }
        return TrainingFlow.Outcome(
            title: "\(name) of '\(target)'" + (self.algorithm == .automatic ? ", the best of those tried" : ""),
            algorithm: name,
            facts: facts,
            json: ["features": model.featureColumns],
            report: report,
            write: { try model.write(toFile: $0, metadata: nil) }
        )
    }
}

/// Metrics that a report shows.
private protocol ReportedMetrics {
    /// Adds these, of the training rows, and those of the validation rows.
    func add(to report: inout TrainingReport, validation: Self)
}

extension MLClassifierMetrics: ReportedMetrics {
    func add(to report: inout TrainingReport, validation: MLClassifierMetrics) {
        report.add(training: self, validation: validation)
    }
}

extension MLRegressorMetrics: ReportedMetrics {
    func add(to report: inout TrainingReport, validation: MLRegressorMetrics) {
        report.add(training: self, validation: validation)
    }
}
