/// The memory of L-BFGS: the changes of the gradient along the last steps.
///
/// Nocedal and Wright, "Numerical Optimization" (2006), section 7.2.
struct LBFGS: Sendable {
    static let capacity = 11

    struct Pair: Sendable {
        var change: [Double]
        var gradientChange: [Double]
        /// change · gradientChange.
        var product: Double
    }

    /// The pairs of steps, the oldest first.
    private(set) var pairs: [Pair] = []
    /// The gradient at the current coefficients, when it is known.
    var gradient: [Double]?

    var isEmpty: Bool { pairs.isEmpty }

    mutating func removeAll() { pairs = [] }

    mutating func append(change: [Double], gradientChange: [Double]) {
        let product = Self.dot(change, gradientChange)
        guard product > 1e-300, product > 1e-16 * Self.dot(gradientChange, gradientChange).squareRoot() else { return }
        if pairs.count == Self.capacity { pairs.removeFirst() }
        pairs.append(Pair(change: change, gradientChange: gradientChange, product: product))
    }

    /// The step that the memory suggests; without any pairs, the negative gradient scaled by `curvatures`.
    func direction(_ gradient: [Double], _ curvatures: [Double]) -> [Double] {
        var step = gradient.map { -$0 }
        var fractions = [Double](repeating: 0, count: pairs.count)
        for index in pairs.indices.reversed() {
            fractions[index] = Self.dot(pairs[index].change, step) / pairs[index].product
            Self.add(-fractions[index], pairs[index].gradientChange, to: &step)
        }
        // The initial Hessian: a diagonal, scaled by the curvature along the last step.
        var scale = 1.0
        if let last = pairs.last {
            var squares = 0.0
            for position in curvatures.indices {
                squares += last.gradientChange[position] * last.gradientChange[position] / curvatures[position]
            }
            scale = last.product / squares
        }
        for position in step.indices { step[position] *= scale / curvatures[position] }
        for index in pairs.indices {
            let share = Self.dot(pairs[index].gradientChange, step) / pairs[index].product
            Self.add(fractions[index] - share, pairs[index].change, to: &step)
        }
        return step
    }

    private static func dot(_ a: [Double], _ b: [Double]) -> Double {
        precondition(a.count == b.count)
        let (x, y) = (a.span, b.span)
        let whole = x.count / 8 * 8
        var sum = Vector.zero
        for position in stride(from: 0, to: whole, by: 8) { sum += load(x, at: position) * load(y, at: position) }
        var total = sum.sum()
        for position in whole..<x.count { total += x[position] * y[position] }
        return total
    }

    private static func add(_ factor: Double, _ a: [Double], to b: inout [Double]) {
        for position in b.indices { b[position] += factor * a[position] }
    }
}

/// The state of accelerated proximal gradients.
///
/// Beck and Teboulle, "A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems" (2009).
struct ProximalGradient: Sendable {
    /// The coefficients before the last iteration.
    var previous: [Double]
    var momentum = 1.0
    /// An upper bound of the objective's second derivative along the steps, found by doubling.
    var curvature: Double

    init(_ problem: LinearProblem, start: [Double], stepSize: Double) {
        previous = start
        curvature = problem.typicalCurvatures.reduce(0, Swift.max) / stepSize
    }
}

extension LinearProblem {
    /// For each coefficient a typical second derivative of the objective: stored columns have a mean square of at most
    /// 1.
    var typicalCurvatures: [Double] {
        let total = weights.reduce(0, +) * objective.typicalCurvature
        return (0..<coefficientCount).map { total + 2 * l2[$0 % width] }
    }
}
