import Glibc
import MLFeatures
import MLKernels
import MLLinearTraining
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// Numbers from a generator of the tests' own (Lehmer), so that data is the same everywhere.
struct Noise {
    var state: UInt64

    mutating func number() -> Double {
        state = state &* 48271 % 2_147_483_647
        return Double(state) / 2_147_483_647
    }

    /// About normal, with the mean 0.
    mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + number() } }
}

/// Examples in all kinds of blocks, and the same as plain rows.
struct Examples {
    var blocks: [LinearTrainingMatrix.Block] = []
    var rows: [[Double]]

    init(_ noise: inout Noise, rows count: Int, dense: Int, sparse: Int, categories: Int) {
        var table = [[Double]](repeating: [], count: count)
        let values = (0..<count * dense).map { place in noise.normal() * Double(place % dense + 1) + 3 }
        for row in 0..<count { table[row] += values[row * dense..<(row + 1) * dense] }
        if dense > 0 { blocks.append(.dense(values, columns: dense)) }
        if categories > 0 {
            let own = (0..<count).map { _ in Int32(noise.number() * Double(categories + 1)) - 1 }
            for row in 0..<count {
                table[row] += (0..<categories).map { $0 == Int(own[row]) ? 1 : 0 }
            }
            blocks.append(.categories(own, count: categories))
        }
        if sparse > 0 {
            var entries = LinearTrainingMatrix.SparseRows(starts: [0], columns: [], values: [], columnCount: sparse)
            for row in 0..<count {
                var own = [Double](repeating: 0, count: sparse)
                for _ in 0..<3 {
                    let (column, value) = (Int(noise.number() * Double(sparse) * 0.999), noise.normal())
                    own[column] += value
                    entries.columns.append(Int32(column))
                    entries.values.append(value)
                }
                entries.starts.append(entries.columns.count)
                table[row] += own
            }
            blocks.append(.sparse(entries))
        }
        let extra = (0..<count).map { _ in noise.number() * 100 - 20 }
        for row in 0..<count { table[row].append(extra[row]) }
        blocks.append(.column(extra))
        rows = table
    }

    var matrix: LinearTrainingMatrix {
        get throws { try LinearTrainingMatrix(rowCount: rows.count, blocks: blocks) }
    }
}

private let allObjectives: [LinearObjective] = [
    .leastSquares, .logistic(classes: 2), .logistic(classes: 4), .smoothedHinge,
]

private func targets(_ objective: LinearObjective, _ rows: [[Double]], _ noise: inout Noise) -> [Double] {
    rows.map { row in
        let sum = row[0] - 0.3 * (row.last ?? 0) / 10 + row[row.count / 2] + noise.normal()
        return switch objective {
        case .leastSquares: sum * 10 + 4
        case .logistic(let classes): Double(Swift.max(0, Swift.min(classes - 1, Int(sum + Double(classes) / 2))))
        case .smoothedHinge: sum > 2 ? 1 : 0
        }
    }
}

/// The objective computed in the plainest way from a model in the caller's columns.
private func plainObjective(
    _ model: LinearModel,
    _ rows: [[Double]],
    _ targets: [Double],
    _ weights: [Double]?,
    _ settings: LinearTrainingSettings
) -> Double {
    var total = 0.0
    for (index, row) in rows.enumerated() {
        let scores = zip(model.weights, model.offsets).map { weights, offset in
            zip(weights, row).reduce(offset) { $0 + $1.0 * $1.1 }
        }
        let loss: Double
        switch model.objective {
        case .leastSquares: loss = (scores[0] - targets[index]) * (scores[0] - targets[index])
        case .logistic:
            let all = [0] + scores
            let highest = all.max() ?? 0
            loss = log(all.reduce(0) { $0 + exp($1 - highest) }) + highest - all[Int(targets[index])]
        case .smoothedHinge:
            let z = 30 * (1 - (targets[index] > 0 ? 1 : -1) * scores[0])
            loss = (Swift.max(z, 0) + log1p(exp(-z.magnitude))) / 30
        }
        total += loss * (weights?[index] ?? 1)
    }
    for weights in model.weights {
        for (column, weight) in weights.enumerated() {
            let scale =
                settings.featureRescaling
                ? (rows.reduce(0) { $0 + $1[column] * $1[column] } / Double(rows.count)).squareRoot() : 1
            total += settings.l2Penalty * weight * weight * scale * scale
            total += settings.l1Penalty * abs(weight) * scale
        }
    }
    return total
}

@Suite struct LinearTrainingTests {
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
        try trainer.run()
        #expect(trainer.model.weights[0].allSatisfy { $0 == 0 })
        #expect(abs(trainer.model.offsets[0] - numbers.reduce(0, +) / 300) < 1e-9)
    }

    @Test func threadsDoNotMatter() throws {
        var noise = Noise(state: 61)
        let examples = Examples(&noise, rows: 9000, dense: 20, sparse: 90, categories: 30)
        let wide = Examples(&noise, rows: 3000, dense: 300, sparse: 900, categories: 5)
        for (objective, examples) in [
            (LinearObjective.logistic(classes: 2), examples), (.logistic(classes: 3), examples),
            (.leastSquares, wide), (.smoothedHinge, wide), (.logistic(classes: 3), wide),
        ] {
            let targets = targets(objective, examples.rows, &noise)
            var fitted: [LinearModel] = []
            for threads in [1, 2, 3] {
                Workers.limit(to: threads)
                defer { Workers.limit(to: 0) }
                var trainer = try LinearTrainer(examples.matrix, targets: targets, objective: objective)
                try trainer.run()
                fitted.append(trainer.model)
            }
            #expect(fitted[0] == fitted[1] && fitted[1] == fitted[2])
        }
    }

    @Test(arguments: allObjectives, [0, 1.0])
    func resumedFitIsTheSame(objective: LinearObjective, l1: Double) throws {
        var noise = Noise(state: 71)
        for sparse in [0, 800] {
            let examples = Examples(&noise, rows: 500, dense: 3, sparse: sparse, categories: 3)
            let targets = targets(objective, examples.rows, &noise)
            var settings = LinearTrainingSettings()
            settings.l1Penalty = l1
            settings.maxIterations = 14
            settings.convergenceThreshold = 0
            let matrix = try examples.matrix
            var whole = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
            var states = [whole.state]
            while !whole.isFinished {
                whole.step()
                states.append(whole.state)
            }
            for state in states {
                var resumed = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
                try resumed.restore(state)
                try resumed.run()
                #expect(resumed.model == whole.model && resumed.iteration == whole.iteration)
                #expect(resumed.isConverged == whole.isConverged)
            }
            // Damaged states are refused, and nothing traps.
            var victim = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
            let good = states[states.count / 2]
            for length in [0, 7, 8, 40, good.count - 8, good.count - 1] {
                #expect(throws: ModelError.self) { try victim.restore(Array(good.prefix(length))) }
            }
            #expect(throws: ModelError.self) { try victim.restore(good + [0]) }
            for _ in 0..<200 {
                var bad = good
                bad[Int(noise.number() * Double(bad.count - 1))] ^= UInt8(1 + noise.number() * 254)
                do {
                    try victim.restore(bad)
                    victim.step()
                } catch {
                    #expect(!error.message.isEmpty)
                }
            }
            var other = try LinearTrainer(
                matrix,
                targets: targets.map { objective == .leastSquares ? $0 + 1 : $0 == 0 ? 1 : 0 },
                objective: objective,
                settings: settings
            )
            #expect(throws: ModelError.self) { try other.restore(good) }
        }
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
        try plain.run()
        try trainer.run()
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
        try trainer.run()
        let model = trainer.model
        #expect(trainer.isConverged && trainer.iteration == 1)
        for (weight, expected) in zip(model.weights[0], [1.0, 0, -2]) {
            #expect(abs(weight * size - expected) < 1e-10)
        }
        #expect(abs(model.offsets[0] - 5) < 1e-10)
    }

    /// An example with the weight 2 is an example that is there twice.
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
        try weighted.run()
        try repeated.run()
        for (left, right) in zip(weighted.model.weights.joined(), repeated.model.weights.joined()) {
            #expect(abs(left - right) < 1e-5 * (1 + abs(right)))
        }
    }

    /// The file's model gives the scores that training kept.
    @Test(arguments: allObjectives)
    func specificationPredictsTheSame(objective: LinearObjective) throws {
        var noise = Noise(state: 29)
        let examples = Examples(&noise, rows: 60, dense: 3, sparse: 5, categories: 2)
        let targets = targets(objective, examples.rows, &noise)
        var trainer = try LinearTrainer(examples.matrix, targets: targets, objective: objective)
        try trainer.run()
        let scores = try trainer.model.scores(of: examples.matrix)
        let width = examples.rows[0].count
        var description = SpecModelDescription()
        var input = SpecFeatureDescription()
        input.name = "x"
        input.type.multiArrayType.shape = [Int64(width)]
        input.type.multiArrayType.dataType = .double
        description.input = [input]
        var output = SpecFeatureDescription()
        output.name = "y"
        description.predictedFeatureName = "y"
        let engine: any ModelEngine
        if objective == .leastSquares {
            output.type.doubleType = SpecDoubleFeatureType()
            description.output = [output]
            engine = try GLMRegressor(trainer.model.regressorParameters, description)
        } else {
            output.type.int64Type = SpecInt64FeatureType()
            description.output = [output]
            var parameters = trainer.model.classifierParameters
            parameters.int64ClassLabels.vector = (0...Int64(objective.outputCount)).map { $0 }
            engine = try GLMClassifier(parameters, description)
        }
        let classes = trainer.model.classes(scores)
        for (row, values) in examples.rows.enumerated() {
            let x = Tensor(values: values, scalarType: .float64, shape: [width])
            switch try engine.prediction(from: ["x": .tensor(x)])["y"] {
            case .double(let value)?: #expect(abs(value - scores[row]) < 1e-9 * (1 + abs(value)))
            case .int64(let label)?: #expect(label == classes[row])
            default: Issue.record("no answer")
            }
        }
    }

    @Test func cancelledFitStops() throws {
        var noise = Noise(state: 83)
        let examples = Examples(&noise, rows: 100, dense: 3, sparse: 600, categories: 0)
        let targets = targets(.smoothedHinge, examples.rows, &noise)
        var settings = LinearTrainingSettings()
        settings.convergenceThreshold = 0
        var trainer = try LinearTrainer(
            examples.matrix,
            targets: targets,
            objective: .smoothedHinge,
            settings: settings
        )
        var asked = 0
        #expect(throws: ModelError.self) {
            try trainer.run {
                asked += 1
                return asked > 2
            }
        }
        #expect(trainer.iteration == 2 && !trainer.isFinished)
    }

    @Test func unusableInputIsNamed() {
        func message(_ body: () throws(ModelError) -> Void) -> String {
            do { try body() } catch { return error.description }
            return ""
        }
        func matrix(_ rows: Int, _ blocks: LinearTrainingMatrix.Block...) -> String {
            message { () throws(ModelError) in _ = try LinearTrainingMatrix(rowCount: rows, blocks: blocks) }
        }
        #expect(matrix(0).contains("no examples"))
        #expect(matrix(2).isEmpty)
        #expect(matrix(2, .column([1])).contains("2 examples"))
        #expect(matrix(2, .column([1, 2]), .dense([1, 2, 3, .nan], columns: 2)).contains("column 2 is nan in row 1"))
        #expect(matrix(2, .column([1, -.infinity])).contains("column 0 is -inf in row 1"))
        #expect(matrix(1, .categories([3], count: 3)).contains("category 3 of 3"))
        typealias Sparse = LinearTrainingMatrix.SparseRows
        func sparse(_ starts: [Int], _ columns: [Int32], _ values: [Double]) -> String {
            matrix(2, .sparse(Sparse(starts: starts, columns: columns, values: values, columnCount: 4)))
        }
        #expect(sparse([0, 1, 2], [0, 3], [1, 2]).isEmpty)
        #expect(sparse([0, 1, 2], [0, 4], [1, 2]).contains("column 4 of 4"))
        #expect(sparse([0, 1, 2], [0, -1], [1, 2]).contains("column -1 of 4"))
        #expect(sparse([0, 1, 2], [0, 1], [1, .nan]).contains("column 1 is nan in row 1"))
        #expect(sparse([0, 2, 1], [0, 1], [1, 1]).contains("row 2"))
        #expect(sparse([1, 1, 2], [0, 1], [1, 1]).contains("row 0"))
        #expect(sparse([0, 1], [0], [1]).contains("starts"))
        #expect(sparse([0, 1, 3], [0, 1], [1, 1]).contains("entries"))
        func train(
            _ targets: [Double],
            _ objective: LinearObjective = .leastSquares,
            weights: [Double]? = nil,
            _ change: (inout LinearTrainingSettings) -> Void = { _ in }
        ) -> String {
            message { () throws(ModelError) in
                var settings = LinearTrainingSettings()
                change(&settings)
                _ = try LinearTrainer(
                    try LinearTrainingMatrix(rowCount: 3, blocks: [.column([1, 2, 3])]),
                    targets: targets,
                    weights: weights,
                    objective: objective,
                    settings: settings
                )
            }
        }
        #expect(train([1, 2, 3]).isEmpty)
        #expect(train([1, 2]).contains("2 targets for 3"))
        #expect(train([1, .nan, 2]).contains("row 1"))
        #expect(train([1, 1e300, 2]).contains("overflows"))
        #expect(train([0, 1, 2], .smoothedHinge).contains("row 2"))
        #expect(train([1, 1, 1], .logistic(classes: 2)).contains("every example is of class 1"))
        #expect(train([0, 0, 0], .logistic(classes: 1)).contains("1 classes"))
        #expect(train([1, 2, 3], weights: [1, 0, 1]).contains("weight of row 1"))
        #expect(train([1, 2, 3]) { $0.maxIterations = 0 }.contains("maxIterations"))
        #expect(train([1, 2, 3]) { $0.stepSize = .nan }.contains("stepSize"))
        #expect(train([1, 2, 3]) { $0.l2Penalty = -1 }.contains("l2Penalty"))
        #expect(train([1, 2, 3]) { $0.l1Penalty = .infinity }.contains("l1Penalty"))
        let penalty = message { () throws(ModelError) in _ = try LinearTrainingSettings.supportVector(penalty: 0) }
        #expect(penalty.contains("penalty is 0.0"))
    }
}
