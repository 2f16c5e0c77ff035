import MLLinearTraining
import MLNumerics
import MLTrainingCore
import Testing

@Suite struct LinearMinimumTests {
    /// The gradient is what the objective does when one coefficient moves; the Hessian what the gradient does.
    @Test(arguments: allObjectives)
    func derivativesAreThoseOfTheObjective(objective: LinearObjective) throws {
        var noise = Noise(state: 4)
        let examples = Examples(&noise, rows: 700, dense: 5, sparse: 30, categories: 12)
        let targets = targets(objective, examples.rows, &noise)
        let weights = (0..<700).map { _ in 0.5 + noise.number() }
        var settings = LinearTrainingSettings()
        settings.l2Penalty = 0.7
        for weights in [nil, weights] {
            let problem = LinearProblem(
                try examples.matrix.tiles,
                targets: targets,
                weights: weights,
                objective: objective,
                settings: settings
            )
            #expect(problem.tiles.sparseWidth > 0)
            let point = (0..<problem.coefficientCount).map { _ in noise.normal() * 0.2 }
            func value(_ point: [Double]) -> (Double, [Double], LinearProblem.Evaluation) {
                var evaluation = LinearProblem.Evaluation(problem)
                problem.score(point, into: &evaluation.scores)
                problem.evaluate(&evaluation)
                return (
                    evaluation.loss + problem.penalty(point),
                    problem.gradient(evaluation.residual, at: point), evaluation
                )
            }
            let (here, gradient, evaluation) = value(point)
            let model = LinearModel(point, of: problem.tiles, objective: objective)
            let plain = plainObjective(model, examples.rows, targets, weights, settings)
            #expect(abs(here - plain) < 1e-9 * plain)
            let hessian = objective == .smoothedHinge ? [] : problem.hessian(evaluation)
            let largest = gradient.map(abs).max() ?? 0
            for place in stride(from: 0, to: point.count, by: 3) {
                let step = 1e-5
                var (less, more) = (point, point)
                less[place] -= step
                more[place] += step
                let (below, above) = (value(less), value(more))
                #expect(abs((above.0 - below.0) / (2 * step) - gradient[place]) < 1e-5 * largest)
                guard !hessian.isEmpty else { continue }
                let row = hessian[place * point.count..<(place + 1) * point.count]
                let size = row.map(abs).max() ?? 0
                for (other, second) in zip(point.indices, row) {
                    let expected = (above.1[other] - below.1[other]) / (2 * step)
                    #expect(abs(second - expected) < 1e-4 * size + 1e-6)
                }
            }
        }
    }

    /// The mean loss leaves the penalties out, in every state of a fit, and is that of the model on its own examples.
    @Test(arguments: allObjectives, [0, 1.5])
    func meanLossIsThatOfTheModel(objective: LinearObjective, l1: Double) throws {
        var noise = Noise(state: 13)
        for sparse in [0, 700] {
            let examples = Examples(&noise, rows: 400, dense: 4, sparse: sparse, categories: 3)
            let targets = targets(objective, examples.rows, &noise)
            var settings = LinearTrainingSettings()
            settings.l1Penalty = l1
            settings.l2Penalty = 20
            settings.maxIterations = 6
            let matrix = try examples.matrix
            var trainer = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
            while true {
                let plain = plainObjective(trainer.model, examples.rows, targets, nil, noPenalty) / 400
                let scores = try trainer.model.scores(of: matrix)
                #expect(abs(trainer.meanLoss - plain) < 1e-7 * (1 + plain))
                #expect(abs(objective.meanLoss(scores: scores, targets: targets) - plain) < 1e-9 * (1 + plain))
                var resumed = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
                try resumed.restore(trainer.state)
                #expect(abs(resumed.meanLoss - plain) < 1e-7 * (1 + plain))
                if trainer.isFinished { break }
                trainer.step()
            }
        }
    }

    private var noPenalty: LinearTrainingSettings {
        var settings = LinearTrainingSettings()
        (settings.l1Penalty, settings.l2Penalty) = (0, 0)
        return settings
    }

    @Test func classesWithoutAScoreDoNotCount() {
        let objective = LinearObjective.logistic(classes: 3)
        let known = objective.meanLoss(scores: [1, 2, 0, 0], targets: [2, 0])
        #expect(objective.meanLoss(scores: [1, 2, 9, 9, 0, 0], targets: [2, -1, 0]) == known && known > 0)
        #expect(objective.meanLoss(scores: [1, 2], targets: [-1]) == 0)
    }

    /// At the end nothing that moves a coefficient lessens the objective, whichever method was used.
    @Test(arguments: allObjectives, [0, 1.5])
    func endIsTheMinimum(objective: LinearObjective, l1: Double) throws {
        var noise = Noise(state: 11)
        for (dense, sparse) in [(6, 0), (4, 40), (3, 700)] {
            let examples = Examples(&noise, rows: 600, dense: dense, sparse: sparse, categories: 4)
            let targets = targets(objective, examples.rows, &noise)
            for rescaling in [true, false] {
                var settings = LinearTrainingSettings()
                settings.maxIterations = 3000
                settings.convergenceThreshold = 0
                settings.l1Penalty = objective == .leastSquares ? 300 * l1 : l1
                settings.l2Penalty = 0.5
                settings.featureRescaling = rescaling
                let matrix = try examples.matrix
                var trainer = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
                var last = trainer.objectiveValue
                while !trainer.isFinished {
                    trainer.step()
                    #expect(trainer.objectiveValue <= last * (1 + 1e-12))
                    last = trainer.objectiveValue
                }
                let plain = plainObjective(trainer.model, examples.rows, targets, nil, settings)
                #expect(abs(plain - trainer.objectiveValue) < 1e-7 * plain)
                // The optimality conditions, in stored columns.
                let problem = LinearProblem(
                    matrix.tiles,
                    targets: targets,
                    weights: nil,
                    objective: objective,
                    settings: settings
                )
                var evaluation = LinearProblem.Evaluation(problem)
                let found = stored(trainer.model, matrix.tiles)
                problem.score(found, into: &evaluation.scores)
                problem.evaluate(&evaluation)
                let gradient = problem.gradient(evaluation.residual, at: found)
                let start = problem.start
                problem.score(start, into: &evaluation.scores)
                problem.evaluate(&evaluation)
                let first = problem.gradient(evaluation.residual, at: start).map(abs).max() ?? 0
                for place in gradient.indices {
                    let penalty = problem.l1[place % problem.width]
                    let rest =
                        found[place] == 0
                        ? Swift.max(0, abs(gradient[place]) - penalty)
                        : abs(gradient[place] + (found[place] > 0 ? penalty : -penalty))
                    #expect(rest < 2e-5 * first, "\(place): \(rest) of \(first), \(dense)+\(sparse), \(rescaling)")
                }
                if l1 > 0, sparse == 40 { #expect(trainer.model.weights.joined().contains(0)) }
            }
        }
    }

    /// A model's coefficients as those of stored columns.
    private func stored(_ model: LinearModel, _ tiles: LinearTiles) -> [Double] {
        var result: [Double] = []
        for (weights, offset) in zip(model.weights, model.offsets) {
            var own = [offset] + tiles.columns.dropFirst().map { weights[$0] }
            for place in 1..<tiles.width {
                own[0] += own[place] * tiles.means[place]
                own[place] *= tiles.scales[place]
            }
            result += own
        }
        return result
    }

    /// Large enough penalties leave the offset alone: the mean, or the log-odds.
    @Test func largePenaltiesLeaveTheOffset() throws {
        var noise = Noise(state: 23)
        let examples = Examples(&noise, rows: 300, dense: 4, sparse: 0, categories: 3)
        let numbers = targets(.leastSquares, examples.rows, &noise)
        var settings = LinearTrainingSettings()
        settings.l1Penalty = 1e7
        settings.l2Penalty = 0
        settings.convergenceThreshold = 0
        var trainer = try LinearTrainer(
            examples.matrix,
            targets: numbers,
            objective: .leastSquares,
            settings: settings
        )
        try trainer.train()
        #expect(trainer.model.weights[0].allSatisfy { $0 == 0 })
        #expect(abs(trainer.model.offsets[0] - numbers.reduce(0, +) / 300) < 1e-9)
    }

    /// Columns of zeros, of one value, and copies change neither predictions nor cause trouble.
    @Test(arguments: allObjectives, [0, 0.01])
    func uselessColumnsAreHarmless(objective: LinearObjective, l2: Double) throws {
        var noise = Noise(state: 37)
        let examples = Examples(&noise, rows: 200, dense: 3, sparse: 0, categories: 0)
        let targets = targets(objective, examples.rows, &noise)
        let copy = examples.rows.map { 2 * $0[0] - $0[1] }
        var settings = LinearTrainingSettings()
        settings.l2Penalty = l2
        settings.maxIterations = 200
        settings.convergenceThreshold = 0
        let extended = try LinearTrainingMatrix(
            rowCount: 200,
            blocks: examples.blocks + [
                .column([Double](repeating: 0, count: 200)), .column([Double](repeating: 0.1, count: 200)),
                .column(copy), .categories([Int32](repeating: -1, count: 200), count: 2),
                .column(examples.rows.map { $0[0] }),
            ]
        )
        var plain = try LinearTrainer(examples.matrix, targets: targets, objective: objective, settings: settings)
        var trainer = try LinearTrainer(extended, targets: targets, objective: objective, settings: settings)
        try plain.train()
        try trainer.train()
        let weights = trainer.model.weights
        #expect(weights.allSatisfy { $0[4] == 0 && $0[5] == 0 && $0[7] == 0 && $0[8] == 0 })
        #expect(weights.joined().allSatisfy { $0.isFinite })
        if l2 == 0, objective != .smoothedHinge {
            let expected = try plain.model.scores(of: examples.matrix)
            let found = try trainer.model.scores(of: extended)
            let size = expected.map(abs).max() ?? 0
            #expect(zip(expected, found).allSatisfy { abs($0 - $1) < 1e-5 * size })
        }
    }

    /// Sizes of numbers far from 1 neither overflow nor lose the fit.
    @Test(arguments: [1e-250, 1e-20, 1, 1e20, 1e200])
    func sizesOfNumbersDoNotMatter(size: Double) throws {
        var noise = Noise(state: 41)
        let values = (0..<900).map { _ in noise.normal() }
        let targets = (0..<300).map { (row: Int) -> Double in
            let (first, last) = (values[3 * row], values[3 * row + 2])
            return first - 2 * last + 5
        }
        let matrix = try LinearTrainingMatrix(rowCount: 300, blocks: [.dense(values.map { $0 * size }, columns: 3)])
        var settings = LinearTrainingSettings()
        settings.l2Penalty = 0
        var trainer = try LinearTrainer(matrix, targets: targets, objective: .leastSquares, settings: settings)
        try trainer.train()
        let model = trainer.model
        #expect(trainer.isConverged && trainer.iteration == 1)
        for (weight, expected) in zip(model.weights[0], [1.0, 0, -2]) {
            #expect(abs(weight * size - expected) < 1e-10)
        }
        #expect(abs(model.offsets[0] - 5) < 1e-10)
    }

    /// An example with the weight 2 is an example that occurs twice.
    @Test(arguments: allObjectives)
    func weightsCountExamples(objective: LinearObjective) throws {
        var noise = Noise(state: 53)
        let count = 150
        let values = (0..<count * 2).map { _ in noise.normal() }
        let rows = (0..<count).map { Array(values[2 * $0..<2 * $0 + 2]) }
        let targets = targets(objective, rows, &noise)
        let isTwice = (0..<count).map { _ in noise.number() < 0.4 }
        var settings = LinearTrainingSettings()
        settings.featureRescaling = false
        settings.maxIterations = 500
        settings.convergenceThreshold = 0
        let order = (0..<count).flatMap { isTwice[$0] ? [$0, $0] : [$0] }
        var weighted = try LinearTrainer(
            LinearTrainingMatrix(rowCount: count, blocks: [.dense(values, columns: 2)]),
            targets: targets,
            weights: isTwice.map { $0 ? 2 : 1 },
            objective: objective,
            settings: settings
        )
        var repeated = try LinearTrainer(
            LinearTrainingMatrix(
                rowCount: order.count,
                blocks: [.dense(order.flatMap { rows[$0] }, columns: 2)]
            ),
            targets: order.map { targets[$0] },
            objective: objective,
            settings: settings
        )
        try weighted.train()
        try repeated.train()
        for (left, right) in zip(weighted.model.weights.joined(), repeated.model.weights.joined()) {
            #expect(abs(left - right) < 1e-5 * (1 + abs(right)))
        }
    }
}
