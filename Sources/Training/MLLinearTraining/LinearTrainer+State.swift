package import MLNumerics
import MLTrainingCore

extension LinearTrainer: IterativeTraining {
    private static let magic = "LMLFIT1\u{0}"

    /// The state from which a fit of the same examples continues exactly as if it had not been interrupted.
    package var state: [UInt8] {
        var writer = CheckpointWriter(magic: Self.magic, fingerprint: fingerprint, iteration: iteration)
        writer.write(UInt64(isConverged ? 1 : 0))
        writer.write(UInt64(stalls))
        writer.write(objectiveValue)
        writer.append(coefficients)
        switch solver {
        case .newton: writer.write(UInt64(0))
        case .limitedMemory(let memory):
            writer.write(UInt64(1))
            writer.write(UInt64(memory.pairs.count))
            for pair in memory.pairs {
                writer.append(pair.change)
                writer.append(pair.gradientChange)
            }
        case .proximal(let state):
            writer.write(UInt64(2))
            writer.write(state.momentum)
            writer.write(state.curvature)
            writer.append(state.previous)
        }
        return writer.bytes
    }

    /// Continues from the state of a fit of the same examples, objective and penalties.
    ///
    /// - Throws: `.malformed` for bytes that are not a state, `.invalidInput` for the state of another fit.
    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the state of a linear fit", remedy: "start the fit again")
        let iteration = try reader.readHeader(magic: Self.magic, fingerprint: fingerprint)
        let isConverged = try reader.readInt(in: 0...1, "whether the fit has converged") == 1
        let stalls = try reader.readInt(in: 0...5, "the number of stalls")
        let value = try reader.readFiniteDouble()
        let count = coefficients.count
        let coefficients = try reader.readFiniteDoubles(count)
        let solver: Solver
        switch (try reader.readInt(in: 0...2, "the kind of solver"), self.solver) {
        case (0, .newton): solver = .newton
        case (1, .limitedMemory):
            var memory = LBFGS()
            for _ in 0..<(try reader.readInt(in: 0...LBFGS.capacity, "the number of pairs")) {
                let (change, gradientChange) = (
                    try reader.readFiniteDoubles(count), try reader.readFiniteDoubles(count)
                )
                memory.append(change: change, gradientChange: gradientChange)
            }
            solver = .limitedMemory(memory)
        case (2, .proximal(var proximal)):
            proximal.momentum = try reader.readFiniteDouble()
            proximal.curvature = try reader.readFiniteDouble()
            proximal.previous = try reader.readFiniteDoubles(count)
            guard proximal.momentum >= 1, proximal.curvature > 0 else { throw reader.damaged("the momentum") }
            solver = .proximal(proximal)
        default: throw reader.damaged("it is of another kind of solver")
        }
        try reader.finish()
        guard iteration <= Int32.max else { throw reader.damaged("the number of iterations") }
        resume(
            iteration: iteration,
            isConverged: isConverged,
            stalls: stalls,
            objectiveValue: value,
            coefficients: coefficients,
            solver: solver
        )
    }

    /// A fingerprint of the examples and of everything that determines the optimum and the path to it.
    private var fingerprint: UInt64 {
        var hash = Fingerprint(.fnv1aWords)
        hash.add(problem.tiles.rowCount)
        hash.add(problem.width)
        switch objective {
        case .leastSquares: hash.add(1)
        case .logistic(let classes): hash.add(classes << 8 | 2)
        case .smoothedHinge: hash.add(3)
        }
        hash.add([settings.l1Penalty, settings.l2Penalty, settings.stepSize, settings.featureRescaling ? 1 : 0])
        for list in [problem.tiles.scales, problem.tiles.means, problem.targets, problem.weights] { hash.add(list) }
        hash.add(problem.tiles.columns.map { Int($0) })
        return hash.value
    }
}
