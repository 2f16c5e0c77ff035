import MLKernels
package import MLNumerics

/// Fits a linear model, one iteration at a time.
///
/// Below 500 coefficients an iteration is a Newton step; the first five use a Hessian computed on a sample when there
/// are many examples (`LinearProblem.hessianSampling`). Above, an iteration is one of L-BFGS with a memory of 11, or of
/// accelerated proximal gradients (FISTA) with an L1 penalty. The smoothed hinge is always fitted by the latter two.
/// Every step is followed by a line search, so that the objective never rises. The same examples and settings give the
/// same model with any number of threads.
package struct LinearTrainer: Sendable {
    package let objective: LinearObjective
    package let settings: LinearTrainingSettings
    /// The number of iterations so far.
    package private(set) var iteration = 0
    /// Whether the last iteration reduced the objective by no more than the threshold, or no iteration can reduce it.
    ///
    /// Newton's method, whose last iterations each double the number of correct digits, continues to a millionth of the
    /// threshold. With a threshold of 0 a fit ends when rounding of the objective hides any progress five times in a
    /// row.
    package private(set) var isConverged = false
    /// The objective at the current coefficients: losses of all examples and penalties.
    package private(set) var objectiveValue: Double

    let problem: LinearProblem
    private(set) var coefficients: [Double]
    private(set) var solver: Solver
    /// The evaluation at the current coefficients; valid when `isEvaluated`.
    private var current: LinearProblem.Evaluation
    private var isEvaluated = true
    /// The number of consecutive iterations that reduced the objective by no more than the threshold.
    private(set) var stalls = 0
    private var trial: LinearProblem.Evaluation

    enum Solver: Sendable {
        case newton
        case limitedMemory(LBFGS)
        case proximal(ProximalGradient)
    }

    /// The sampling of tiles for the Hessian of the first iterations, whose progress is limited by the shape of the
    /// loss, not by the accuracy of the derivatives.
    private let hessianSampling: Int
    static let sampledIterations = 5

    /// The number of coefficients from which Newton's method is too expensive.
    package static let newtonLimit = 500

    /// Prepares the training of a linear model.
    ///
    /// - Parameters:
    ///   - matrix: The features.
    ///   - targets: For each example a number, or the index of its class.
    ///   - weights: For each example a number above 0; all 1 when `nil`.
    ///   - objective: The kind of model and its loss.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` for settings out of range, and for targets that do not fit the objective.
    package init(
        _ matrix: LinearTrainingMatrix,
        targets: [Double],
        weights: [Double]? = nil,
        objective: LinearObjective,
        settings: LinearTrainingSettings = LinearTrainingSettings()
    ) throws(ModelError) {
        try settings.validate()
        try Self.validate(targets, weights, objective, matrix.rowCount)
        self.objective = objective
        self.settings = settings
        let problem = LinearProblem(
            matrix.tiles,
            targets: targets,
            weights: weights,
            objective: objective,
            settings: settings
        )
        self.problem = problem
        coefficients = problem.start
        var hessianSampling = 1
        if problem.coefficientCount < Self.newtonLimit, objective != .smoothedHinge {
            solver = .newton
            if objective != .leastSquares { hessianSampling = problem.hessianSampling }
        } else if problem.hasL1 {
            solver = .proximal(ProximalGradient(problem, start: coefficients, stepSize: settings.stepSize))
        } else {
            solver = .limitedMemory(LBFGS())
        }
        self.hessianSampling = hessianSampling
        current = LinearProblem.Evaluation(problem)
        trial = current
        problem.score(coefficients, into: &current.scores)
        problem.evaluate(&current)
        objectiveValue = current.loss + problem.penalty(coefficients)
        guard objectiveValue.isFinite else {
            throw ModelError(
                .invalidInput,
                "the loss of the targets overflows; divide them, or their weights, by their largest magnitude"
            )
        }
    }

    private static func validate(
        _ targets: [Double],
        _ weights: [Double]?,
        _ objective: LinearObjective,
        _ count: Int
    ) throws(ModelError) {
        guard targets.count == count else {
            throw ModelError(.invalidInput, "there are \(targets.count) targets for \(count) examples")
        }
        let classes = objective.classCount
        if let classes, !(2...32768).contains(classes) {
            throw ModelError(.invalidInput, "the targets have \(classes) classes; a classifier needs 2 to 32,768")
        }
        for (row, target) in targets.enumerated() {
            guard target.isFinite else {
                throw ModelError(.invalidInput, "the target of row \(row) is \(target); remove the row")
            }
            if let classes, target < 0 || target >= Double(classes) || target != target.rounded() {
                throw ModelError(.invalidInput, "the target of row \(row) is \(target), not one of \(classes) classes")
            }
        }
        if classes != nil, targets.allSatisfy({ $0 == targets[0] }) {
            throw ModelError(
                .invalidInput,
                "every example is of class \(Int(targets[0])); a classifier learns from examples of at least two classes"
            )
        }
        guard let weights else { return }
        guard weights.count == count else {
            throw ModelError(.invalidInput, "there are \(weights.count) weights for \(count) examples")
        }
        if let row = weights.firstIndex(where: { !($0 > 0 && $0.isFinite) }) {
            throw ModelError(.invalidInput, "the weight of row \(row) is \(weights[row]); weights are above 0")
        }
    }

    /// Whether training is finished: converged, or the maximum number of iterations is reached.
    package var isFinished: Bool { isConverged || iteration >= settings.maxIterations }

    /// The model at the current coefficients.
    package var model: LinearModel { LinearModel(coefficients, of: problem.tiles, objective: objective) }

    /// The mean of the examples' losses at the current coefficients, without penalties.
    package var meanLoss: Double {
        // Losses not evaluated yet are known from the objective.
        let losses = isEvaluated ? current.loss : Swift.max(0, objectiveValue - problem.penalty(coefficients))
        return losses / problem.weights.reduce(0, +)
    }

    /// Performs one iteration; does nothing when training is finished.
    package mutating func step() {
        guard !isFinished else { return }
        if !isEvaluated {
            problem.score(coefficients, into: &current.scores)
            problem.evaluate(&current)
            objectiveValue = current.loss + problem.penalty(coefficients)
            isEvaluated = true
        }
        let before = objectiveValue
        var isExact = false
        let moved: Bool
        switch solver {
        case .newton:
            (moved, isExact) = newton()
        case .limitedMemory(var memory):
            solver = .newton  // so that the memory is not copied
            moved = limitedMemory(&memory)
            solver = .limitedMemory(memory)
        case .proximal(var state):
            solver = .newton
            moved = proximal(&state)
            solver = .proximal(state)
        }
        iteration += 1
        var threshold = settings.convergenceThreshold
        if case .newton = solver { threshold *= 1e-6 }
        stalls = before - objectiveValue <= threshold ? stalls + 1 : 0
        isConverged = isExact || !moved || stalls >= (threshold > 0 ? 1 : 5)
    }

    /// Continues from there; the caller has checked that the values are those of such a fit.
    mutating func resume(
        iteration: Int,
        isConverged: Bool,
        stalls: Int,
        objectiveValue: Double,
        coefficients: [Double],
        solver: Solver
    ) {
        self.iteration = iteration
        self.isConverged = isConverged
        self.stalls = stalls
        self.objectiveValue = objectiveValue
        self.coefficients = coefficients
        self.solver = solver
        isEvaluated = false
    }

    // MARK: Newton's method

    private mutating func newton() -> (moved: Bool, isExact: Bool) {
        let gradient = problem.gradient(current.residual, at: coefficients)
        let hessian = problem.hessian(current, sampling: iteration < Self.sampledIterations ? hessianSampling : 1)
        if problem.hasL1 {
            let width = problem.width
            let l1 = problem.l1
            let step = NewtonStep.solve(hessian, gradient, penalty: { l1[$0 % width] }, at: coefficients)
            return (compositeSearch(step, gradient), false)
        }
        let step = NewtonStep.solve(hessian, gradient)
        if objective == .leastSquares, settings.stepSize == 1 {
            // The quadratic model is the objective itself: its minimum needs no line search.
            for position in step.indices { coefficients[position] += step[position] }
            objectiveValue = Swift.max(0, objectiveValue + zip(step, gradient).reduce(0) { $0 + $1.0 * $1.1 } / 2)
            isEvaluated = false
            return (true, true)
        }
        return (search(step, gradient), false)
    }

    /// Halves the step of a problem with an L1 penalty until it satisfies the sufficient decrease condition.
    private mutating func compositeSearch(_ step: [Double], _ gradient: [Double]) -> Bool {
        let width = problem.width
        var predictedChange = 0.0
        for (position, change) in step.enumerated() {
            predictedChange += gradient[position] * change
            predictedChange +=
                problem.l1[position % width]
                * ((coefficients[position] + change).magnitude - coefficients[position].magnitude)
        }
        guard predictedChange < 0 else { return false }
        var length = settings.stepSize
        for _ in 0..<50 {
            let candidate = zip(coefficients, step).map { $0 + length * $1 }
            problem.score(candidate, into: &trial.scores)
            problem.evaluate(&trial)
            let value = trial.loss + problem.penalty(candidate)
            if value <= objectiveValue + 1e-4 * length * predictedChange {
                accept(candidate, value)
                return true
            }
            length /= 2
        }
        return false
    }

    private mutating func accept(_ candidate: [Double], _ value: Double) {
        coefficients = candidate
        swap(&current, &trial)
        objectiveValue = value
    }

    // MARK: L-BFGS

    private mutating func limitedMemory(_ memory: inout LBFGS) -> Bool {
        let gradient = memory.gradient ?? problem.gradient(current.residual, at: coefficients)
        let curvatures = problem.typicalCurvatures
        var step = memory.direction(gradient, curvatures)
        if !memory.isEmpty, zip(step, gradient).reduce(0, { $0 + $1.0 * $1.1 }) >= 0 {
            memory.removeAll()
            step = memory.direction(gradient, curvatures)
        }
        let old = coefficients
        guard search(step, gradient) else { return false }
        let next = problem.gradient(current.residual, at: coefficients)
        memory.append(
            change: zip(coefficients, old).map { $0 - $1 },
            gradientChange: zip(next, gradient).map { $0 - $1 }
        )
        memory.gradient = next
        return true
    }

    /// Line search for the strong Wolfe conditions; false when rounding hides any descent.
    ///
    /// Scores are linear in the coefficients: the first trial costs a pass over the examples, later ones only the
    /// losses.
    private mutating func search(_ direction: [Double], _ gradient: [Double]) -> Bool {
        let first = zip(direction, gradient).reduce(0) { $0 + $1.0 * $1.1 }
        guard first < 0 else { return false }
        let initial = settings.stepSize
        func moved(_ length: Double) -> [Double] { zip(coefficients, direction).map { $0 + length * $1 } }
        /// The penalty's slope along the direction.
        func penaltySlope(_ candidate: [Double]) -> Double {
            var sum = 0.0
            for position in direction.indices {
                sum += 2 * problem.l2[position % problem.width] * candidate[position] * direction[position]
            }
            return sum
        }
        var candidate = moved(initial)
        problem.score(candidate, into: &trial.scores)
        problem.evaluate(&trial)
        let full = trial.scores
        var (low, high, length) = (0.0, Double.infinity, initial)
        var (lowSlope, highSlope) = (first, Double.nan)
        let noise = 1e-13 * objectiveValue.magnitude
        for turn in 0..<60 {
            let value = trial.loss + problem.penalty(candidate)
            let slope =
                problem.slope(trial.residual, from: current.scores, to: full) / initial + penaltySlope(candidate)
            let descends =
                value <= objectiveValue + 1e-4 * length * first
                || value <= objectiveValue + noise && slope <= -0.8 * first && slope.isFinite
            if descends, slope.magnitude <= -0.9 * first {
                if turn > 0 {
                    // Recomputed from the coefficients, so that a resumed fit is identical bit for bit.
                    problem.score(candidate, into: &trial.scores)
                    problem.evaluate(&trial)
                }
                // A step so small that only rounding makes it look like a descent is rejected.
                let exact = trial.loss + problem.penalty(candidate)
                guard candidate != coefficients, exact <= objectiveValue + noise else { return false }
                accept(candidate, exact)
                return true
            }
            if !descends || slope > 0 {
                (high, highSlope) = (length, slope)
            } else {
                (low, lowSlope) = (length, slope)
            }
            if high == .infinity {
                length *= 2
            } else {
                // The zero of the secant of the slopes, kept away from both ends.
                let crossing = low + (high - low) * lowSlope / (lowSlope - highSlope)
                let (minimum, maximum) = (low + 0.1 * (high - low), high - 0.1 * (high - low))
                length = crossing.isFinite ? Swift.min(Swift.max(crossing, minimum), maximum) : (low + high) / 2
            }
            candidate = moved(length)
            let share = length / initial
            for position in full.indices {
                trial.scores[position] = current.scores[position] + share * (full[position] - current.scores[position])
            }
            problem.evaluate(&trial)
        }
        return false
    }

    // MARK: Proximal gradients

    private mutating func proximal(_ state: inout ProximalGradient) -> Bool {
        let (width, l1) = (problem.width, problem.l1)
        let old = coefficients
        var momentum = (1 + (1 + 4 * state.momentum * state.momentum).squareRoot()) / 2
        let share = (state.momentum - 1) / momentum
        var origin = coefficients
        if share > 0 {
            for position in old.indices { origin[position] += share * (old[position] - state.previous[position]) }
        }
        for attempt in 0..<2 {
            if attempt > 0 || share <= 0 { origin = old }
            problem.score(origin, into: &trial.scores)
            problem.evaluate(&trial)
            let gradient = problem.gradient(trial.residual, at: origin)
            let smooth = trial.loss + problem.penalty(origin) - l1Penalty(origin)
            for _ in 0..<60 {
                let candidate = origin.indices.map { position in
                    NewtonStep.softThresholded(
                        origin[position] - gradient[position] / state.curvature,
                        l1[position % width] / state.curvature
                    )
                }
                var bound = smooth
                var turns = 0.0
                for position in candidate.indices {
                    let change = candidate[position] - origin[position]
                    bound += change * (gradient[position] + change * state.curvature / 2)
                    turns -= change * (candidate[position] - old[position])
                }
                problem.score(candidate, into: &trial.scores)
                problem.evaluate(&trial)
                let value = trial.loss + problem.penalty(candidate)
                guard value - l1Penalty(candidate) <= bound + 1e-14 * bound.magnitude else {
                    state.curvature *= 2
                    continue
                }
                if value > objectiveValue { break }
                // A step against the momentum resets it (O'Donoghue and Candès, 2015).
                if turns > 0 { momentum = 1 }
                state.momentum = momentum
                state.previous = old
                state.curvature *= 0.95
                let moved = candidate != old
                accept(candidate, value)
                return moved
            }
            momentum = 1
        }
        return false
    }

    private func l1Penalty(_ coefficients: [Double]) -> Double {
        var sum = 0.0
        for position in coefficients.indices {
            sum += problem.l1[position % problem.width] * coefficients[position].magnitude
        }
        return sum
    }
}
