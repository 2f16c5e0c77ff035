import MLFeatures
import MLLinearTraining
import MLNumerics
import MLSpecification

/// The training of a linear model.
///
/// Linear models have no place for missing numbers: training and prediction throw an error that names one.
struct LinearLearner: TabularLearner {
    private let settings: LinearSettings
    private let labels: LabelList?
    private var trainer: LinearTrainer
    private var maxIterations: Int
    private let validation: LinearTrainingMatrix?
    private let measures: RunningMetrics
    private let objective: LinearObjective

    init(_ task: LearnerTask, _ settings: LinearSettings) throws {
        self.settings = settings
        labels = task.labels
        maxIterations = settings.fitting.maxIterations
        try LearnerSettings.linear(settings).validate()
        var fitting = settings.fitting
        switch settings.kind {
        case .linearRegression: objective = .leastSquares
        case .logisticRegression: objective = .logistic(classes: task.labels?.count ?? 0)
        case .supportVector:
            guard task.labels?.count == 2 else {
                throw MLCreateError.generic(
                    reason: "a support vector classifier tells two classes apart, and the target has "
                        + "\(task.labels?.count ?? 0); use logistic regression"
                )
            }
            objective = .smoothedHinge
            fitting.l2Penalty = try LinearTrainingSettings.supportVector(penalty: settings.penalty).l2Penalty
        }
        // This learner limits the iterations itself, as the limit may be raised.
        fitting.maxIterations = .max
        trainer = try LinearTrainer(
            try task.training.linearMatrix(),
            targets: task.targets,
            objective: objective,
            settings: fitting
        )
        validation = try task.validation?.linearMatrix()
        measures = RunningMetrics(labels, task.validationTargets)
    }

    var iteration: Int { trainer.iteration }

    var isFinished: Bool { trainer.isFinished || trainer.iteration >= maxIterations }

    mutating func limit(_ iterations: Int) { maxIterations = iterations }

    mutating func iterate() throws -> [MLProgress.Metric: Double] {
        trainer.step()
        var result: [MLProgress.Metric: Double] = [.loss: trainer.meanLoss]
        guard let validation else { return result }
        let model = trainer.model
        let scores = try model.scores(of: validation)
        let classes = labels == nil ? [] : model.classes(scores)
        let measured = measures.metrics(
            { classes.isEmpty ? scores[$0] : Double(classes[$0]) },
            loss: objective.meanLoss(scores: scores, targets: measures.targets),
            isValidation: true
        )
        result.merge(measured) { $1 }
        return result
    }

    func heldOut() throws -> HeldOutRows {
        guard let validation else { return HeldOutRows() }
        let model = trainer.model
        let scores = try model.scores(of: validation)
        guard labels != nil else {
            return HeldOutRows(
                predictions: scores,
                losses: zip(scores, measures.targets).map { ($0 - $1) * ($0 - $1) }
            )
        }
        let (rows, outputs) = (measures.targets, model.offsets.count)
        let losses = rows.indices.map { row in
            // The score of class 0, the reference, is 0.
            HeldOutRows.logLoss(of: Int(rows[row]), [0] + scores[row * outputs..<(row + 1) * outputs])
        }
        return HeldOutRows(predictions: model.classes(scores).map { Double($0) }, losses: losses)
    }

    func encodedState() throws -> [UInt8] { trainer.state }

    mutating func restore(state: [UInt8]) throws {
        try MLCreateError.translating { try trainer.restore(state) }
    }

    func predictor() throws -> SpecModel.OneOf_Type { Self.predictor(of: trainer.model, labels) }

    /// A linear model as the last of a pipeline.
    static func predictor(of model: LinearModel, _ labels: LabelList?) -> SpecModel.OneOf_Type {
        guard let labels else { return .glmRegressor(model.regressorParameters) }
        var parameters = model.classifierParameters
        switch labels {
        case .strings(let list): parameters.stringClassLabels.vector = list
        case .integers(let list): parameters.int64ClassLabels.vector = list
        }
        return .glmClassifier(parameters)
    }
}

extension EncodedTable {
    /// The rows for linear models: double precision, sparse where the features are.
    func linearMatrix() throws -> LinearTrainingMatrix {
        let blocks = features.map { feature -> LinearTrainingMatrix.Block in
            switch feature {
            case .numbers(let values): .column(values.array)
            case .categories(let values, let count): .categories(values, count: count)
            case .dense(let values, let width): .dense(values, columns: width)
            case .sparse(let sparse):
                .sparse(
                    LinearTrainingMatrix.SparseRows(
                        starts: sparse.starts,
                        columns: sparse.columns,
                        values: sparse.values,
                        columnCount: sparse.width
                    )
                )
            }
        }
        return try MLCreateError.translating { try LinearTrainingMatrix(rowCount: rowCount, blocks: blocks) }
    }
}
