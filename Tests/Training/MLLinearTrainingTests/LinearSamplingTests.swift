import MLLinearTraining
import MLTrainingCore
import Testing

/// Newton's first steps, which look at a sample of the examples.
@Suite struct LinearSamplingTests {
    static let count = 24_000

    /// Two classes, or three, of points whose second column, when asked for, lies far out in a few rows.
    private static func table(classes: Int, outliers: Bool = false) -> (rows: [[Double]], targets: [Double]) {
        var noise = Noise(state: 97)
        var (rows, targets): ([[Double]], [Double]) = ([], [])
        for row in 0..<count {
            let values = [noise.normal(), outliers ? (row % 6000 == 700 ? 1e4 : 0) : noise.normal()]
            let sum = 2 * values[0] - Swift.min(values[1], 3) + noise.normal()
            rows.append(values)
            targets.append(Double(Swift.max(0, Swift.min(classes - 1, Int(sum + Double(classes) / 2)))))
        }
        return (rows, targets)
    }

    private static func matrix(_ rows: [[Double]]) throws -> LinearTrainingMatrix {
        try LinearTrainingMatrix(rowCount: rows.count, blocks: [.dense(rows.flatMap { $0 }, columns: 2)])
    }

    private static func problem(_ matrix: LinearTrainingMatrix, _ targets: [Double], _ classes: Int) -> LinearProblem {
        LinearProblem(
            matrix.tiles,
            targets: targets,
            weights: nil,
            objective: .logistic(classes: classes),
            settings: LinearTrainingSettings()
        )
    }

    @Test func sampleEstimatesTheSecondDerivatives() throws {
        let (rows, targets) = Self.table(classes: 2)
        let problem = Self.problem(try Self.matrix(rows), targets, 2)
        #expect(problem.hessianSampling == Self.count / 3000)
        var evaluation = LinearProblem.Evaluation(problem)
        problem.score([0.1, 1, -0.5], into: &evaluation.scores)
        problem.evaluate(&evaluation)
        let whole = problem.hessian(evaluation)
        let sampled = problem.hessian(evaluation, sampling: problem.hessianSampling)
        let size = whole.max() ?? 0
        #expect(whole != sampled && zip(whole, sampled).allSatisfy { abs($0 - $1) < 0.1 * size })
    }

    /// Sorted examples are the worst sample of all that tiles can give.
    @Test(arguments: [2, 3], [false, true])
    func endIsTheMinimum(classes: Int, sorted: Bool) throws {
        var (rows, targets) = Self.table(classes: classes)
        if sorted {
            let order = rows.indices.sorted { rows[$0][0] < rows[$1][0] }
            (rows, targets) = (order.map { rows[$0] }, order.map { targets[$0] })
        }
        let matrix = try Self.matrix(rows)
        #expect(Self.problem(matrix, targets, classes).hessianSampling > 1)
        var trainer = try LinearTrainer(matrix, targets: targets, objective: .logistic(classes: classes))
        try trainer.train()
        #expect(trainer.isConverged && trainer.iteration < 10)
        var settings = LinearTrainingSettings()
        settings.convergenceThreshold = 0
        settings.maxIterations = 100
        var longer = try LinearTrainer(
            matrix,
            targets: targets,
            objective: .logistic(classes: classes),
            settings: settings
        )
        try longer.train()
        for (found, exact) in zip(trainer.model.weights.joined(), longer.model.weights.joined()) {
            #expect(abs(found - exact) < 1e-6 * abs(exact))
        }
        #expect(longer.objectiveValue <= trainer.objectiveValue)
    }

    @Test func columnsThatVaryInFewRowsAreNotSampled() throws {
        let (rows, targets) = Self.table(classes: 2, outliers: true)
        let matrix = try Self.matrix(rows)
        #expect(Self.problem(matrix, targets, 2).hessianSampling == 1)
        var trainer = try LinearTrainer(matrix, targets: targets, objective: .logistic(classes: 2))
        try trainer.train()
        #expect(trainer.isConverged)
    }

    @Test func resumedFitIsTheSame() throws {
        let (rows, targets) = Self.table(classes: 2)
        let matrix = try Self.matrix(rows)
        var whole = try LinearTrainer(matrix, targets: targets, objective: .logistic(classes: 2))
        var states = [whole.state]
        while !whole.isFinished {
            whole.step()
            states.append(whole.state)
        }
        for state in states {
            var resumed = try LinearTrainer(matrix, targets: targets, objective: .logistic(classes: 2))
            try resumed.restore(state)
            try resumed.train()
            #expect(resumed.model == whole.model)
        }
    }
}
