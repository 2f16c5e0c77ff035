import CreateML
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Foundation
import TabularData

/// Training of tasks on tables.
enum TabularTasks {
    /// A task of one algorithm, with jobs and sessions.
    static func train<Task: TabularJobTask>(
        _: Task.Type,
        _ request: TrainingRequest,
        _ training: Training
    ) throws -> TrainedModel where Task.Metrics: FactualMetrics {
        let frame = try request.table()
        let (target, features) = try columns(request)
        let parameters: Task.ModelParameters = try parameters(request)
        try request.options.finish()
        let model = try training.result {
            try Task.train(
                trainingData: frame,
                targetColumn: target,
                featureColumns: features,
                parameters: parameters,
                sessionParameters: request.session
            )
        }
        return trained(model, request.task)
    }

    /// A task without jobs.
    static func train<Task: TabularTask>(
        whole _: Task.Type,
        _ request: TrainingRequest,
        _ training: Training
    ) throws -> TrainedModel where Task.Metrics: FactualMetrics {
        guard request.session.sessionDirectory == nil else {
            throw TrainingError("\(request.task) is trained in one go, without checkpoints; leave out session")
        }
        let frame = try request.table()
        let (target, features) = try columns(request)
        let parameters: Task.ModelParameters = try parameters(request)
        try request.options.finish()
        // The frame is read only.
        nonisolated(unsafe) let rows = frame
        let model = try training.finished({
            try Task(trainingData: rows, targetColumn: target, featureColumns: features, parameters: parameters)
        })
        return trained(model, request.task)
    }

    /// The model of a session that was started earlier, trained to its end.
    static func resume<Task: TabularJobTask>(
        _: Task.Type,
        _ request: TrainingRequest,
        _ training: Training
    ) throws -> TrainedModel where Task.Metrics: FactualMetrics {
        trained(try training.resumed(Task.self, request), request.task)
    }

    /// A task that chooses its algorithm.
    static func choose<Model: ChosenTask>(
        _: Model.Type,
        _ request: TrainingRequest,
        _ training: Training
    ) throws -> TrainedModel where Model.Metrics: FactualMetrics {
        let frame = try request.table()
        let (target, features) = try columns(request)
        try request.options.finish()
        let model = try training.result {
            try Model.train(
                trainingData: frame,
                targetColumn: target,
                featureColumns: features,
                sessionParameters: request.session
            )
        }
        var facts = ModelFacts(task: request.task, description: "\(model)")
        facts.algorithm = model.algorithm.rawValue
        return trained(model, facts)
    }

    /// A model that a task on tables wrote to a file.
    static func loaded(_ path: String) throws -> TrainedModel {
        let file = try MLCreateError.translating { try ModelFile.open(path: path) }
        return model(of: try TrainedTable(loading: file.whole().specification), "a model from \(path)")
    }

    /// A model of boosted trees that were grown elsewhere, as JSON states them.
    static func grown(_ json: String) throws -> TrainedModel {
        let trees = try JSONDecoder().decode(GrownTrees.self, from: Data(json.utf8))
        return model(of: try TrainedTable(trees), "a model of boosted trees")
    }

    /// A linear model that was fitted elsewhere, as JSON states it.
    static func fitted(_ json: String) throws -> TrainedModel {
        let weights = try JSONDecoder().decode(FittedWeights.self, from: Data(json.utf8))
        return model(of: try TrainedTable(weights), "a linear model")
    }

    /// A model that is known only by its pipeline.
    private static func model(of trained: TrainedTable, _ description: String) -> TrainedModel {
        var facts = ModelFacts(task: "", description: description)
        complete(&facts, trained, trained.targetColumn, trained.features)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                try evaluation(input) { frame in
                    trained.classes == nil
                        ? MetricsFacts(trained.regressorMetrics(on: frame))
                        : MetricsFacts(trained.classifierMetrics(on: frame))
                }
            },
            predict: { try predictions($0, trained, trained.predicted(from:)) },
            write: { try trained.write(to: $0, metadata: $1) }
        )
    }

    // MARK: Parts

    private static func columns(_ request: TrainingRequest) throws -> (target: String, features: [String]?) {
        guard let target = try request.options.text("target") else {
            throw TrainingError("\(request.task) needs the name of the column to predict: pass target")
        }
        return (target, try request.options.texts("features"))
    }

    /// The parameters of an algorithm, with those of the request.
    private static func parameters<Parameters: TabularParameters>(_ request: TrainingRequest) throws -> Parameters {
        var settings = Parameters.standard
        if let provided = try request.options.options("parameters") {
            for hyperparameter in Hyperparameter.all {
                guard let standard = settings[hyperparameter] else { continue }
                let value: HyperparameterValue? =
                    switch standard {
                    case .integer, .unset: try provided.integer(hyperparameter.name).map { .integer($0) }
                    case .number: try provided.number(hyperparameter.name).map { .number($0) }
                    case .flag: try provided.flag(hyperparameter.name).map { .flag($0) }
                    }
                if let value { settings.set(hyperparameter, to: value) }
            }
            try provided.finish()
        }
        let validation: MLTabularValidation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { frame, _ in .dataFrame(try frame.required("validation")) }
        )
        return Parameters(settings, validation)
    }

    private static func trained<Task: TabularTask>(
        _ model: Task,
        _ task: String
    ) -> TrainedModel where Task.Metrics: FactualMetrics {
        var facts = ModelFacts(task: task, description: "\(model)")
        let settings = model.modelParameters.settings
        facts.parameters = Hyperparameter.all.reduce(into: [:]) { values, hyperparameter in
            values[hyperparameter.name] = settings[hyperparameter].map(ParameterValue.init)
        }
        return trained(model, facts)
    }

    private static func trained<Model: TabularModel>(
        _ model: Model,
        _ started: ModelFacts
    ) -> TrainedModel where Model.Metrics: FactualMetrics {
        var facts = started
        facts.training = model.trainingMetrics.facts
        facts.validation = model.validationMetrics.facts
        complete(&facts, model.trained, model.targetColumn, model.featureColumns)
        return TrainedModel(
            facts: facts,
            evaluate: { try evaluation($0) { (frame: DataFrame) in model.evaluation(on: frame).facts } },
            predict: { try predictions($0, model.trained, model.trained.predicted(from:)) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    private static func complete(
        _ facts: inout ModelFacts,
        _ trained: TrainedTable,
        _ target: String,
        _ features: [String]
    ) {
        facts.features = features
        facts.target = target
        facts.labels = trained.classes.map(MetricsFacts.Label.all)
        guard let choice = trained.choice else { return }
        facts.trials = choice.trials.map { trial in
            ModelFacts.Trial(
                algorithm: trial.algorithm.rawValue,
                score: trial.score,
                parameters: Dictionary(uniqueKeysWithValues: trial.parameters.map { ($0.name, $0.value) }),
                isChosen: trial.isChosen
            )
        }
    }

    private static func evaluation<Metrics>(
        _ input: TrainedModel.Input,
        _ body: (DataFrame) -> Metrics
    ) throws -> Metrics {
        try input.options.finish()
        return body(try input.frame.required("evaluation"))
    }

    /// The predicted column, or with the option `probabilities` a column for each class.
    private static func predictions(
        _ input: TrainedModel.Input,
        _ trained: TrainedTable,
        _ labels: (DataFrame) throws -> AnyColumn
    ) throws -> DataFrame {
        let frame = try input.frame.required("prediction")
        let wantsProbabilities = try input.options.flag("probabilities") ?? false
        try input.options.finish()
        guard wantsProbabilities else { return DataFrame(try labels(frame)) }
        let (classes, values) = try trained.probabilities(from: frame)
        return DataFrame(labels: (0..<classes.count).map(classes.text), probabilities: values)
    }
}

/// Metrics whose facts are known.
protocol FactualMetrics {
    var facts: MetricsFacts { get }
}

extension MLClassifierMetrics: FactualMetrics {
    var facts: MetricsFacts { MetricsFacts(self) }
}

extension MLRegressorMetrics: FactualMetrics {
    var facts: MetricsFacts { MetricsFacts(self) }
}
