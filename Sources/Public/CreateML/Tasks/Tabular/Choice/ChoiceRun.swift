import Foundation
import MLFeatures
import MLTrainingCore
import TabularData

/// The choice of an algorithm; a trial is an iteration.
///
/// Small tables are cross-validated, and the chosen algorithm is trained on all rows. On large tables each algorithm
/// is trained once, without the rows that the automatic split sets aside, and the best one is kept.
struct ChoiceRun<Product: ChosenTask>: TrainingRun {
    static var taskName: String { "\(Product.self)" }

    private let table: PreparedTable
    private let task: LearnerTask
    /// `nil` for a large table.
    private let folds: TableFolds?
    private var trials: ChoiceTrials
    /// The fold that is being tried.
    private var fold: (repeated: Int, number: Int, task: LearnerTask)?
    /// The best candidate so far, of a large table.
    private var kept: (candidate: Int, learner: any TabularLearner)?

    init(_ frame: DataFrame, _ target: String, _ features: [String]?) throws {
        func table(_ validation: MLTabularValidation) throws -> PreparedTable {
            try PreparedTable(
                frame,
                target: target,
                features: features,
                isClassifier: Product.isClassifier,
                allowsMissing: true,
                validation: validation
            )
        }
        let whole = try table(.none)
        let isSmall = ChoicePlan(TableShape(whole)).isCrossValidated
        try self.init(isSmall ? whole : table(.split(strategy: .automatic)))
    }

    private init(_ table: PreparedTable) throws {
        self.table = table
        task = try table.learnerTask()
        let shape = TableShape(table)
        let candidates = ChoiceCandidates(shape)
        guard table.validation == nil else {
            folds = nil
            trials = ChoiceTrials(candidates.turis, folds: [1], measure: Product.isClassifier ? .accuracy : .squares)
            return
        }
        let plan = ChoicePlan(shape)
        let folds = TableFolds(
            task.targets,
            count: plan.folds,
            repeats: plan.repeats,
            isClassifier: Product.isClassifier
        )
        self.folds = folds
        trials = ChoiceTrials(
            plan.isVaried ? candidates.varied : candidates.standard,
            folds: folds.held.map(\.count),
            measure: Product.isClassifier ? .accuracyAndLoss : .squares
        )
    }

    var parameters: [SessionParameter] {
        [
            SessionParameter("targetColumn", table.target),
            SessionParameter("featureColumns", table.layout.features.map(\.name).joined(separator: ", ")),
        ]
    }

    var fingerprint: UInt64 { table.fingerprint }
    var phase: MLPhase { .training }
    var iteration: Int { trials.count }
    var plan: [PlannedPhase] { [PlannedPhase(.training, trials.maximumTrialCount)] }
    var isFinished: Bool { trials.next == nil }

    // MARK: Trials

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        guard let next = trials.next else { return [:] }
        let candidate = trials.candidates[next.candidate]
        var learner = try learner(candidate.settings, on: try heldOut(next.repeated, next.fold))
        var scores: [ChoiceTrials.Score] = []
        while !learner.isFinished {
            try cancellation.check()
            _ = try learner.iterate()
            if candidate.stages.contains(learner.iteration) { scores.append(try score(learner)) }
        }
        if candidate.stages.isEmpty { scores = [try score(learner)] }
        trials.add(scores)
        if folds == nil, trials.best?.candidate == next.candidate { kept = (next.candidate, learner) }
        let summary = trials.summary(next.candidate)
        return [Product.isClassifier ? .validationAccuracy : .validationRootMeanSquaredError: summary?.score ?? .nan]
    }

    private func learner(_ settings: LearnerSettings, on task: LearnerTask) throws -> any TabularLearner {
        try MLCreateError.translating {
            switch settings {
            case .trees(let settings): try TreeLearner(task, settings)
            case .linear(let settings): try LinearLearner(task, settings)
            }
        }
    }

    /// The task without the rows of a fold, which become validation rows.
    private mutating func heldOut(_ repeated: Int, _ number: Int) throws -> LearnerTask {
        guard let folds else { return task }
        if let fold, fold.repeated == repeated, fold.number == number { return fold.task }
        let held = folds.held[repeated][number]
        let part = task.holdingOut(held)
        fold = (repeated, number, part)
        return part
    }

    private func score(_ learner: any TabularLearner) throws -> ChoiceTrials.Score {
        let rows = try learner.heldOut()
        let targets = fold?.task.validationTargets ?? task.validationTargets
        let losses = rows.losses.reduce(0, +)
        guard Product.isClassifier else {
            return ChoiceTrials.Score(rows: rows.losses.count, errors: losses, losses: losses)
        }
        let wrong = zip(rows.predictions, targets).reduce(0.0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        return ChoiceTrials.Score(rows: targets.count, errors: wrong, losses: losses)
    }

    // MARK: Product

    mutating func finish() throws -> Product {
        guard trials.next == nil else {
            throw MLCreateError.generic(
                reason:
                    "the session's iterations end after \(trials.count) trials, before an algorithm is chosen; allow "
                    + "\(trials.maximumTrialCount)"
            )
        }
        let best = trials.best ?? (0, 0)
        guard trials.candidates.indices.contains(best.candidate) else {
            throw MLCreateError.generic(reason: "no algorithm suits the data")
        }
        let candidate = trials.candidates[best.candidate]
        let settings = candidate.settings(after: best.stage)
        guard let folds else {
            guard let kept, kept.candidate == best.candidate else {
                throw MLCreateError.generic(reason: "the best algorithm is missing")
            }
            let trained = try TrainedTable(table, try kept.learner.predictor(), choice: choice(best.candidate))
            return Product(trained, settings, .split(strategy: .automatic))
        }
        let learner = try trained(settings, on: task)
        let trained = try TrainedTable(
            table,
            try learner.predictor(),
            crossValidated: try crossValidated(settings, folds),
            choice: choice(best.candidate)
        )
        return Product(trained, settings, .none)
    }

    private func trained(_ settings: LearnerSettings, on task: LearnerTask) throws -> any TabularLearner {
        var learner = try learner(settings, on: task)
        while !learner.isFinished { _ = try learner.iterate() }
        return learner
    }

    /// The predictions of the chosen algorithm for each row, made without training on it, in the first repeat.
    private func crossValidated(
        _ settings: LearnerSettings,
        _ folds: TableFolds
    ) throws -> (truth: [Double], predictions: [Double])? {
        var truth: [Double] = []
        var predictions: [Double] = []
        for held in folds.held.first ?? [] {
            let part = task.holdingOut(held)
            truth += part.validationTargets
            predictions += try trained(settings, on: part).heldOut().predictions
        }
        return truth.isEmpty ? nil : (truth, predictions)
    }

    private func choice(_ chosen: Int) -> AlgorithmChoice {
        let standard = ChoiceCandidates(TableShape(table)).standard
        let tried = trials.candidates.indices.compactMap { number -> AlgorithmChoice.Trial? in
            guard let summary = trials.summary(number) else { return nil }
            let settings = trials.candidates[number].settings(after: summary.stage)
            let usual = standard.first { $0.settings.algorithm == settings.algorithm }?.settings.described ?? []
            return AlgorithmChoice.Trial(
                algorithm: settings.algorithm,
                parameters: settings.described.filter { own in !usual.contains { $0 == own } },
                score: summary.score,
                deviation: summary.deviation,
                folds: summary.folds,
                isChosen: number == chosen
            )
        }
        func isBefore(_ a: AlgorithmChoice.Trial, _ b: AlgorithmChoice.Trial) -> Bool {
            if a.isChosen != b.isChosen { return a.isChosen }
            if a.folds != b.folds { return a.folds > b.folds }
            return Product.isClassifier ? a.score > b.score : a.score < b.score
        }
        return AlgorithmChoice(
            measure: Product.isClassifier ? .accuracy : .rootMeanSquaredError,
            rows: folds.map { .crossValidation(folds: $0.count, repeats: $0.held.count) } ?? .split,
            trials: tried.sorted(by: isBefore)
        )
    }

    // MARK: Archive

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        table.encode(to: &writer)
        return writer.bytes
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the session's data")
        let table = try PreparedTable(from: &reader)
        try reader.finish()
        guard (table.labels != nil) == Product.isClassifier else { throw reader.damaged("the targets") }
        try self.init(table)
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        trials.encode(to: &writer)
        writer.write(kept != nil)
        if let kept { writer.write(try kept.learner.encodedState()) }
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the checkpoint's trials")
        var restored = trials
        try restored.restore(from: &reader)
        var keeping: (candidate: Int, learner: any TabularLearner)?
        if try reader.readBool() {
            let learnerState: [UInt8] = try reader.readArray()
            guard folds == nil, let best = restored.best else { throw reader.damaged("a learner") }
            var learner = try learner(restored.candidates[best.candidate].settings, on: task)
            try learner.restore(state: learnerState)
            keeping = (best.candidate, learner)
        }
        try reader.finish()
        (trials, kept) = (restored, keeping)
    }
}

extension LearnerTask {
    /// The task without some of the training rows, ascending, which become validation rows.
    fileprivate func holdingOut(_ held: [Int]) -> LearnerTask {
        let rest = TableFolds.rest(of: held, count: targets.count)
        return LearnerTask(
            layout: layout,
            labels: labels,
            training: training.rows(rest),
            targets: rest.map { targets[$0] },
            validation: training.rows(held),
            validationTargets: held.map { targets[$0] }
        )
    }
}
