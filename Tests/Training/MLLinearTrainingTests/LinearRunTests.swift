import MLKernels
import MLLinearTraining
import MLNumerics
import MLTrainingCore
import Testing

@Suite struct LinearRunTests {
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
                try trainer.train()
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
                try resumed.train()
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
            try trainer.train {
                asked += 1
                return asked > 2
            }
        }
        #expect(trainer.iteration == 2 && !trainer.isFinished)
    }
}
