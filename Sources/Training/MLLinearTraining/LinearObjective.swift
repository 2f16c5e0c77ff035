import Glibc
import MLKernels

/// The loss function of a linear model, which determines the meaning of its scores.
///
/// Losses are sums over the examples.
package enum LinearObjective: Hashable, Sendable {
    /// The squared error; the score is the prediction.
    case leastSquares
    /// The log loss; scores are the log-odds of classes 1, 2, … against class 0.
    case logistic(classes: Int)
    /// The smoothed hinge loss log(1 + exp(γ (1 - ±score))) / γ with Turi Create's γ = 30; the score of class 1 of two
    /// is above 0.
    ///
    /// Zhang, Jin, Yang and Hauptmann, "Modified Logistic Regression: An Approximation to SVM and Its Applications in
    /// Large-Scale Text Categorization" (2003).
    case smoothedHinge

    static var sharpness: Double { 30 }

    /// The number of scores per example.
    package var outputCount: Int {
        if case .logistic(let classes) = self { classes - 1 } else { 1 }
    }

    var classCount: Int? {
        switch self {
        case .leastSquares: nil
        case .logistic(let classes): classes
        case .smoothedHinge: 2
        }
    }

    /// A typical second derivative of the loss with respect to a score.
    var typicalCurvature: Double {
        switch self {
        case .leastSquares: 2
        case .logistic(let classes): 1 / Double(classes) * (1 - 1 / Double(classes))
        case .smoothedHinge: 1
        }
    }
}

extension LinearObjective {
    /// The mean loss of examples that need not be those of training.
    /// - Parameters:
    ///   - scores: [examples × outputs], as `LinearModel.scores(of:)` gives them.
    ///   - targets: By example; those with a class below 0, which has no score, do not count.
    /// - Returns: The mean; 0 of no examples.
    package func meanLoss(scores: [Double], targets: [Double]) -> Double {
        let outputs = outputCount
        var (total, count) = (0.0, 0)
        for (row, target) in targets.enumerated() where self == .leastSquares || target >= 0 {
            let own = scores[row * outputs..<(row + 1) * outputs]
            count += 1
            switch self {
            case .leastSquares: total += (own[own.startIndex] - target) * (own[own.startIndex] - target)
            case .logistic:
                // The score of class 0 is 0.
                let highest = own.reduce(0, Swift.max)
                let sum = own.reduce(exp(-highest)) { $0 + exp($1 - highest) }
                total += log(sum) + highest - (target > 0 ? own[own.startIndex + Int(target) - 1] : 0)
            case .smoothedHinge:
                let distance = Self.sharpness * (1 - (2 * target - 1) * own[own.startIndex])
                total += (Swift.max(distance, 0) + log1p(exp(-distance.magnitude))) / Self.sharpness
            }
        }
        return total / Double(Swift.max(count, 1))
    }
}

typealias Vector = SIMD8<Double>

/// Eight numbers of an array from `position` on, which must all be in it.
@inline(__always) func load(_ values: Span<Double>, at position: Int) -> Vector {
    values.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position &* 8, as: Vector.self)
}

@inline(__always) func load(_ pointer: UnsafePointer<Double>, _ vector: Int) -> Vector {
    UnsafeRawPointer(pointer + vector &* 8).loadUnaligned(as: Vector.self)
}

@inline(__always) func load(_ pointer: UnsafeMutablePointer<Double>, _ vector: Int) -> Vector {
    UnsafeRawPointer(pointer + vector &* 8).loadUnaligned(as: Vector.self)
}

@inline(__always) func store(_ value: Vector, _ pointer: UnsafeMutablePointer<Double>, _ vector: Int) {
    UnsafeMutableRawPointer(pointer + vector &* 8).storeBytes(of: value, as: Vector.self)
}

extension Vector {
    @inline(__always) var clampedBelow: Vector { replacing(with: 0, where: self .< 0) }
    @inline(__always) var magnitudes: Vector { replacing(with: -self, where: self .< 0) }
}

extension LinearObjective {
    /// One tile's scores, and buffers for the values derived from them; outputs are `LinearTiles.rows` apart.
    struct TileLoss {
        /// The number of rows, padded to whole vectors; padding rows have the weight 0.
        var count: Int
        /// Numbers, or class indices.
        var targets: UnsafePointer<Double>
        var weights: UnsafePointer<Double>
        /// Whether any weight is neither 0 nor 1.
        var isWeighted: Bool
        var scores: UnsafePointer<Double>
        /// The derivative of the loss with respect to each score.
        var residual: UnsafeMutablePointer<Double>
        /// The probability of each output's class; only written for logistic objectives.
        var probabilities: UnsafeMutablePointer<Double>
    }

    /// The sum of a tile's losses.
    func loss(_ tile: TileLoss) -> Double {
        switch self {
        case .leastSquares: Self.squares(tile)
        case .logistic(classes: 2): Self.logistic(tile)
        case .logistic(let classes): Self.softmax(tile, classes - 1)
        case .smoothedHinge: Self.hinge(tile)
        }
    }

    private static func squares(_ tile: TileLoss) -> Double {
        var total = Vector.zero
        for vector in 0..<tile.count / 8 {
            let error = load(tile.scores, vector) - load(tile.targets, vector)
            let weighted = error * load(tile.weights, vector)
            store(weighted + weighted, tile.residual, vector)
            total += error * weighted
        }
        return total.sum()
    }

    /// Σ w log(1 + e) for a tile; without weights the factors are multiplied first: 64 factors of at most 2 do not
    /// overflow.
    private static func logSum(_ tile: TileLoss, _ excess: UnsafePointer<Double>) -> Double {
        if tile.isWeighted {
            var total = 0.0
            for row in 0..<tile.count { total += tile.weights[row] * log1p(excess[row]) }
            return total
        }
        var product = Vector(repeating: 1)
        for vector in 0..<tile.count / 8 {
            product *= 1 + load(excess, vector) * load(tile.weights, vector)
        }
        return (0..<8).reduce(0) { $0 + log(product[$1]) }
    }

    private static func logistic(_ tile: TileLoss) -> Double {
        let (vectors, p) = (tile.count / 8, tile.probabilities)
        for vector in 0..<vectors { store(-load(tile.scores, vector).magnitudes, p, vector) }
        DoubleKernel.exponentials(p, count: tile.count)
        var linear = Vector.zero
        let logs = logSum(tile, p)
        for vector in 0..<vectors {
            let (score, target, e) = (load(tile.scores, vector), load(tile.targets, vector), load(p, vector))
            let weight = load(tile.weights, vector)
            let probability = Vector(repeating: 1).replacing(with: e, where: score .< 0) / (1 + e)
            store(probability, p, vector)
            store(weight * (probability - target), tile.residual, vector)
            linear += weight * (score.clampedBelow - target * score)
        }
        return linear.sum() + logs
    }

    private static func hinge(_ tile: TileLoss) -> Double {
        let (vectors, e) = (tile.count / 8, tile.residual)
        func argument(_ vector: Int) -> (Vector, sign: Vector) {
            let sign = 2 * load(tile.targets, vector) - 1
            return (sharpness * (1 - sign * load(tile.scores, vector)), sign)
        }
        for vector in 0..<vectors { store(-argument(vector).0.magnitudes, e, vector) }
        DoubleKernel.exponentials(e, count: tile.count)
        let logs = logSum(tile, e)
        var linear = Vector.zero
        for vector in 0..<vectors {
            let (z, sign) = argument(vector)
            let (own, weight) = (load(e, vector), load(tile.weights, vector))
            let slope = Vector(repeating: 1).replacing(with: own, where: z .< 0) / (1 + own)
            store(-weight * sign * slope, e, vector)
            linear += weight * z.clampedBelow
        }
        return (linear.sum() + logs) / sharpness
    }

    private static func softmax(_ tile: TileLoss, _ outputs: Int) -> Double {
        let (vectors, stride, p) = (tile.count / 8, LinearTiles.rows, tile.probabilities)
        return withUnsafeTemporaryAllocation(of: Double.self, capacity: 2 * tile.count) { scratch in
            guard let highest = scratch.baseAddress else { return 0 }
            let sums = highest + tile.count
            for vector in 0..<vectors {
                var maximum = Vector.zero
                for output in 0..<outputs {
                    let score = load(tile.scores + output * stride, vector)
                    maximum.replace(with: score, where: score .> maximum)
                }
                store(maximum, highest, vector)
                store(-maximum, sums, vector)
                for output in 0..<outputs {
                    store(load(tile.scores + output * stride, vector) - maximum, p + output * stride, vector)
                }
            }
            DoubleKernel.exponentials(sums, count: tile.count)
            for output in 0..<outputs { DoubleKernel.exponentials(p + output * stride, count: tile.count) }
            // The sums are between 1 and the number of classes, at most 32,768: 64 of them do not overflow.
            var product = Vector(repeating: 1)
            var total = 0.0
            for vector in 0..<vectors {
                var sum = load(sums, vector)
                let weight = load(tile.weights, vector)
                for output in 0..<outputs { sum += load(p + output * stride, vector) }
                for output in 0..<outputs {
                    let probability = load(p + output * stride, vector) / sum
                    store(probability, p + output * stride, vector)
                    store(weight * probability, tile.residual + output * stride, vector)
                }
                if tile.isWeighted {
                    for lane in 0..<8 { total += weight[lane] * log(sum[lane]) }
                } else {
                    product *= 1 + (sum - 1) * weight
                }
            }
            for lane in 0..<8 { total += log(product[lane]) }
            for row in 0..<tile.count {
                let (output, weight) = (Int(tile.targets[row]) - 1, tile.weights[row])
                var own = 0.0
                if output >= 0 {
                    tile.residual[output * stride + row] -= weight
                    own = tile.scores[output * stride + row]
                }
                total += weight * (highest[row] - own)
            }
            return total
        }
    }
}
