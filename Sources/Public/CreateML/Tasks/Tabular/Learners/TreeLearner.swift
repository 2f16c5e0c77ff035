import MLFeatures
import MLNumerics
import MLSpecification
import MLTreeTraining

/// The training of trees: an iteration is a round of boosting, or a tree of a forest (one for each class).
struct TreeLearner: TabularLearner {
    private var settings: TreeSettings
    private let labels: LabelList?
    private let objective: TreeObjective
    private var trainer: TreeTrainer
    private let measures: RunningMetrics
    private let validation: TreeTrainingTable?
    private let validationMeasures: RunningMetrics
    /// The sums of the validation rows: [rows × outputs].
    private var validationSums: [Float]
    /// The lowest validation loss, and the iteration at which it was reached.
    private var best = (loss: Double.infinity, iteration: 0)

    init(_ task: LearnerTask, _ settings: TreeSettings) throws {
        self.settings = settings
        labels = task.labels
        objective = TreeObjective(classes: task.labels?.count)
        try LearnerSettings.trees(settings).validate()
        guard settings.earlyStoppingRounds == nil || task.validation != nil else {
            throw MLCreateError.generic(
                reason: "earlyStoppingRounds needs validation data, and there are none: pass some, or a split by a "
                    + "fixed ratio (the automatic one sets no rows aside when there are fewer than 50)"
            )
        }
        let (table, targets, objective) = (try task.training.treeTable(task.layout), task.targets, self.objective)
        var growing = settings.growing
        growing.ensemble = settings.kind == .randomForest ? .forest : .boosted
        // This learner limits the iterations itself, as the limit may be raised.
        growing.maxIterations = .max
        trainer = try MLCreateError.translating { [growing] in
            try TreeTrainer(table, targets: targets.map { Float($0) }, objective: objective, settings: growing)
        }
        measures = RunningMetrics(labels, task.targets)
        validation = try task.validation?.treeTable(task.layout)
        validationMeasures = RunningMetrics(labels, task.validationTargets)
        validationSums = [Float](
            repeating: objective.baseScore,
            count: task.validationTargets.count * objective.outputCount
        )
    }

    var iteration: Int { trainer.iteration }

    var isFinished: Bool {
        if iteration >= settings.rounds { return true }
        guard let rounds = settings.earlyStoppingRounds else { return false }
        return iteration - best.iteration >= rounds
    }

    mutating func limit(_ iterations: Int) {
        if settings.kind == .boostedTree { settings.maxIterations = iterations }
    }

    mutating func iterate() throws -> [MLProgress.Metric: Double] {
        trainer.step()
        let validationMetrics = try validate(trainer.trees.suffix(objective.outputCount))
        let (sums, scale) = (trainer.sums, scale(iteration))
        var result = measures.metrics(
            { prediction(sums, $0, scale) },
            loss: loss(sums, measures.targets, scale),
            isValidation: false
        )
        result.merge(validationMetrics) { $1 }
        return result
    }

    /// The factor of the sums after some iterations: a forest averages its trees.
    private func scale(_ iterations: Int) -> Float {
        settings.kind == .randomForest ? 1 / Float(max(iterations, 1)) : 1
    }

    /// Adds the trees of an iteration to the sums of the validation rows, and measures them.
    /// - Throws: `MLCreateError` if training may stop early and no iteration so far has a loss that can be compared:
    ///   the model would have no trees.
    private mutating func validate(_ trees: ArraySlice<RegressionTree>) throws -> [MLProgress.Metric: Double] {
        guard let validation else { return [:] }
        for (output, tree) in trees.enumerated() {
            tree.add(to: &validationSums, of: validation, output: output, stride: objective.outputCount)
        }
        let (sums, scale) = (validationSums, scale(trees.endIndex / objective.outputCount))
        let loss = loss(sums, validationMeasures.targets, scale)
        if loss < best.loss { best = (loss, trees.endIndex / objective.outputCount) }
        guard best.iteration > 0 || settings.earlyStoppingRounds == nil else {
            let maximum = validationMeasures.targets.map(\.magnitude).max() ?? 0
            throw MLCreateError.generic(
                reason: "the validation loss is \(loss), so that early stopping cannot find the best iteration; the "
                    + "greatest validation target is \(maximum): check it, or leave earlyStoppingRounds out"
            )
        }
        return validationMeasures.metrics({ prediction(sums, $0, scale) }, loss: loss, isValidation: true)
    }

    /// The score of the base and the scaled sum of leaves.
    private func scaled(_ sum: Float, _ scale: Float) -> Float {
        scale == 1 ? sum : objective.baseScore + (sum - objective.baseScore) * scale
    }

    /// The predicted number, or the index of the predicted class.
    private func prediction(_ sums: [Float], _ row: Int, _ scale: Float) -> Double {
        let outputs = objective.outputCount
        switch objective {
        case .squaredError: return Double(scaled(sums[row], scale))
        case .logistic: return sums[row] >= 0 ? 1 : 0
        case .softmax:
            var highest = row * outputs
            for position in row * outputs + 1..<(row + 1) * outputs where sums[position] > sums[highest] {
                highest = position
            }
            return Double(highest - row * outputs)
        }
    }

    /// The mean loss of the rows whose class is known: the log loss, or the mean squared error.
    private func loss(_ sums: [Float], _ targets: [Double], _ scale: Float) -> Double {
        let outputs = objective.outputCount
        let scores = scale == 1 ? sums : sums.map { scaled($0, scale) }
        guard targets.contains(where: { $0 < 0 }), labels != nil else {
            return objective.loss(sums: scores, targets: targets.map { Float($0) })
        }
        let known = targets.indices.filter { targets[$0] >= 0 }
        return objective.loss(
            sums: known.flatMap { scores[$0 * outputs..<($0 + 1) * outputs] },
            targets: known.map { Float(targets[$0]) }
        )
    }

    func heldOut() throws -> HeldOutRows {
        let (targets, scale, outputs) = (validationMeasures.targets, scale(iteration), objective.outputCount)
        let predictions = targets.indices.map { prediction(validationSums, $0, scale) }
        guard labels != nil else {
            return HeldOutRows(
                predictions: predictions,
                losses: zip(predictions, targets).map { ($0 - $1) * ($0 - $1) }
            )
        }
        let losses = targets.indices.map { row in
            let sums = validationSums[row * outputs..<(row + 1) * outputs].map { Double(scaled($0, scale)) }
            return HeldOutRows.logLoss(of: Int(targets[row]), outputs == 1 ? [0] + sums : sums)
        }
        return HeldOutRows(predictions: predictions, losses: losses)
    }

    // MARK: Checkpoints

    func encodedState() throws -> [UInt8] { trainer.state }

    mutating func restore(state: [UInt8]) throws {
        try MLCreateError.translating { try trainer.restore(state) }
        best = (.infinity, 0)
        for position in validationSums.indices { validationSums[position] = objective.baseScore }
        let trees = trainer.trees
        for start in stride(from: 0, to: trees.count, by: objective.outputCount) {
            _ = try validate(trees[start..<start + objective.outputCount])
        }
    }

    // MARK: Model

    /// The trees of the model: if training may stop early, those up to the best iteration.
    private var counted: [RegressionTree] {
        var trees = trainer.trees
        if settings.earlyStoppingRounds != nil {
            trees = Array(trees.prefix(best.iteration * objective.outputCount))
        }
        let scale = scale(iteration)
        if scale != 1 {
            for tree in trees.indices {
                for node in trees[tree].nodes.indices { trees[tree].nodes[node].value *= scale }
            }
        }
        return trees
    }

    func predictor() throws -> SpecModel.OneOf_Type { Self.predictor(of: counted, objective, labels) }

    /// The last model of a pipeline, of trees for the classes, or for numbers without them.
    static func predictor(
        of trees: [RegressionTree],
        _ objective: TreeObjective,
        _ labels: LabelList?
    ) -> SpecModel.OneOf_Type {
        let parameters = TreeTrainer.parameters(of: trees, objective: objective)
        guard let labels else {
            var model = SpecTreeEnsembleRegressor()
            model.treeEnsemble = parameters
            model.postEvaluationTransform = .noTransform
            return .treeEnsembleRegressor(model)
        }
        var model = SpecTreeEnsembleClassifier()
        model.treeEnsemble = parameters
        model.postEvaluationTransform = labels.count == 2 ? .regressionLogistic : .classificationSoftMax
        switch labels {
        case .strings(let list): model.stringClassLabels.vector = list
        case .integers(let list): model.int64ClassLabels.vector = list
        }
        return .treeEnsembleClassifier(model)
    }
}

extension TreeObjective {
    /// The objective for so many classes, or for numbers without them.
    init(classes: Int?) {
        self =
            switch classes {
            case nil: .squaredError
            case 2: .logistic
            case let count?: .softmax(classes: count)
            }
    }
}
