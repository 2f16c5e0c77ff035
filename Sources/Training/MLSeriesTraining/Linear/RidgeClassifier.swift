import Glibc
import MLKernels
package import MLNumerics

/// A linear classifier by ridge regression: each class has the target 1 for its examples and −1 elsewhere.
///
/// The L2 penalty is the one of `penalties` with the least error when every example is predicted by all others
/// (leave-one-out), or by those of the other groups. Features are divided by their standard deviation first, as in
/// aeon; the intercept has no penalty. The decision values become probabilities by a softmax whose steepness maximises
/// the likelihood of the held-out decisions.
package struct RidgeClassifier: Sendable {
    package let classCount: Int
    package let featureCount: Int
    /// [classes, features], for features that are not standardised.
    package private(set) var weights: [Float]
    package private(set) var intercepts: [Float]
    package private(set) var penalty: Double
    /// The factor of the decision values before the softmax.
    package private(set) var steepness: Double

    /// Ten numbers from 10⁻³ to 10³, evenly spaced on a logarithmic scale.
    package static let penalties = (0..<10).map { pow(10, -3 + 6 * Double($0) / 9) }

    /// The maximum number of examples: memory and time grow with their square and cube.
    package static let exampleLimit = 6000

    /// Fits the classifier, with a penalty chosen by cross-validation.
    ///
    /// - Parameters:
    ///   - features: The features of all examples [examples, features].
    ///   - labels: For each example the index of its class.
    ///   - classCount: The number of classes.
    ///   - groups: For each example the index of its group. Examples of a group are too similar to validate each other,
    ///     so each group is predicted by the others. Ignored unless every class occurs in two groups.
    /// - Throws: `.invalidInput` when there are too few or too many examples.
    package init(features: [Float], labels: [Int], classCount: Int, groups: [Int]? = nil) throws(ModelError) {
        let count = labels.count
        guard count > 1, classCount > 1, features.count % count == 0, !features.isEmpty,
            labels.allSatisfy((0..<classCount).contains)
        else {
            throw ModelError(
                .invalidInput,
                "\(features.count) features of \(count) examples in \(classCount) classes cannot be learned from; "
                    + "give at least two examples of two classes"
            )
        }
        guard count <= Self.exampleLimit else {
            throw ModelError(
                .invalidInput,
                "\(count) examples are more than the limit of \(Self.exampleLimit); train iteratively"
            )
        }
        self.classCount = classCount
        featureCount = features.count / count
        let scaled = StandardizedFeatures(features, count: count)
        let gram = scaled.products()
        let blocks = groups.flatMap { Self.blocks($0, labels, classCount) }
        // The targets of class k, centred.
        let targets = (0..<classCount).map { label -> (mean: Double, values: [Double]) in
            let signs = labels.map { $0 == label ? 1.0 : -1.0 }
            let mean = signs.reduce(0, +) / Double(count)
            return (mean, signs.map { $0 - mean })
        }
        var best: (error: Double, penalty: Double, duals: [[Double]], left: [[Double]])?
        for penalty in Self.penalties {
            var matrix = gram
            for row in 0..<count { matrix[row * count + row] += penalty }
            // Penalties this small may be lost in the rounding of a singular matrix.
            guard let factor = CholeskyFactor(matrix, count: count) else { continue }
            // The intercept has no penalty: its part of the inverse, 1/(n · penalty), is subtracted.
            let constant = 1 / (Double(count) * penalty)
            let duals = targets.map { factor.solve($0.values) }
            let residuals: [[Double]]
            if let blocks {
                guard let found = Self.residuals(duals, blocks, factor, constant) else { continue }
                residuals = found
            } else {
                let diagonal = factor.inverseDiagonal().map { $0 - constant }
                residuals = duals.map { zip($0, diagonal).map { $0 / $1 } }
            }
            var error = 0.0
            var left: [[Double]] = []
            for (errors, target) in zip(residuals, targets) {
                error += errors.reduce(0) { $0 + $1 * $1 }
                left.append(zip(target.values, errors).map { $0 + target.mean - $1 })
            }
            guard error.isFinite else { continue }
            if best.map({ error < $0.error }) ?? true { best = (error, penalty, duals, left) }
        }
        guard let best else {
            throw ModelError(.invalidInput, "the features are all alike or not finite; there is nothing to learn from")
        }
        penalty = best.penalty
        weights = []
        intercepts = []
        for (dual, target) in zip(best.duals, targets) {
            let (weights, intercept) = scaled.weights(dual, mean: target.mean)
            self.weights += weights.map { Float($0) }
            intercepts.append(Float(intercept))
        }
        steepness = Self.steepness(best.left, labels)
    }

    /// The examples of each group; `nil` unless every class occurs in two groups.
    private static func blocks(_ groups: [Int], _ labels: [Int], _ classCount: Int) -> [[Int]]? {
        var blocks: [Int: [Int]] = [:]
        for (index, group) in groups.enumerated() { blocks[group, default: []].append(index) }
        var holders = [Int](repeating: 0, count: classCount)
        for block in blocks.values {
            for label in Set(block.map { labels[$0] }) { holders[label] += 1 }
        }
        guard labels.allSatisfy({ holders[$0] > 1 }) else { return nil }
        return blocks.sorted { $0.key < $1.key }.map(\.value)
    }

    /// For each class the residuals of each group's targets when the other groups predict them.
    ///
    /// The dual variables are divided by the inverse's block of the group, as they are by the diagonal for single
    /// examples. `nil` when a block is numerically singular.
    private static func residuals(
        _ duals: [[Double]],
        _ blocks: [[Int]],
        _ factor: CholeskyFactor,
        _ constant: Double
    ) -> [[Double]]? {
        var result = duals
        for block in blocks {
            let inverse = factor.inverseBlock(block).map { $0 - constant }
            guard let part = CholeskyFactor(inverse, count: block.count) else { return nil }
            for (label, dual) in duals.enumerated() {
                for (position, value) in zip(block, part.solve(block.map { dual[$0] })) {
                    result[label][position] = value
                }
            }
        }
        return result
    }

    /// The steepness of the softmax, between e⁻² and e⁴, that maximises the likelihood of `labels`.
    private static func steepness(_ decisions: [[Double]], _ labels: [Int]) -> Double {
        func loss(_ logarithm: Double) -> Double {
            let factor = exp(logarithm)
            var sum = 0.0
            for (row, label) in labels.enumerated() {
                let maximum = decisions.reduce(-Double.infinity) { max($0, $1[row]) }
                let total = decisions.reduce(0) { $0 + exp(factor * ($1[row] - maximum)) }
                sum += log(total) - factor * (decisions[label][row] - maximum)
            }
            return sum
        }
        // The loss has one minimum.
        var (low, high) = (-2.0, 4.0)
        for _ in 0..<60 {
            let (a, b) = (low + (high - low) / 3, high - (high - low) / 3)
            if loss(a) < loss(b) { high = b } else { low = a }
        }
        return exp((low + high) / 2)
    }

    /// The decision values for features [examples, features]: [examples, classes].
    package func decisions(_ features: [Float]) -> [Float] {
        let count = features.count / featureCount
        var result: [Float] = []
        result.reserveCapacity(count * classCount)
        for row in 0..<count {
            for label in 0..<classCount {
                var sum = Double(intercepts[label])
                for k in 0..<featureCount {
                    sum += Double(features[row * featureCount + k]) * Double(weights[label * featureCount + k])
                }
                result.append(Float(sum))
            }
        }
        return result
    }
}

/// Features with mean 0 and standard deviation 1; constant ones are only centred.
private struct StandardizedFeatures {
    let count: Int
    let width: Int
    private let means: [Double]
    private let scales: [Double]
    /// [count, width].
    private let rows: [Double]

    init(_ features: [Float], count: Int) {
        self.count = count
        width = features.count / count
        let moments = ColumnMoments(features, count: count)
        let (means, scales) = (moments.means, moments.scales(above: 1e-10))
        var rows = [Double](repeating: 0, count: count * width)
        for row in 0..<count {
            for k in 0..<width {
                rows[row * width + k] = (Double(features[row * width + k]) - means[k]) * scales[k]
            }
        }
        (self.means, self.scales, self.rows) = (means, scales, rows)
    }

    /// The scalar products of all pairs of examples.
    func products() -> [Double] { pairProducts(rows, count: count, width: width) }

    /// The weights and the intercept for features that are not standardised, from the dual variables.
    func weights(_ dual: [Double], mean: Double) -> ([Double], Double) {
        var weights = [Double](repeating: 0, count: width)
        for row in 0..<count where dual[row] != 0 {
            for k in 0..<width { weights[k] += dual[row] * rows[row * width + k] }
        }
        var intercept = mean
        for k in 0..<width {
            weights[k] *= scales[k]
            intercept -= weights[k] * means[k]
        }
        return (weights, intercept)
    }
}

/// The scalar products of all pairs of rows [count, width]: [count, count], lower triangle only.
func pairProducts(_ rows: [Double], count: Int, width: Int) -> [Double] {
    let block = 32
    let depth = 1024
    var result = [Double](repeating: 0, count: count * count)
    result.withUnsafeMutableBufferPointer { result in
        rows.withUnsafeBufferPointer { rows in
            guard let target = result.baseAddress, let source = rows.baseAddress else { return }
            // The source is only read; each band writes its own part.
            nonisolated(unsafe) let (to, from) = (target, source)
            let bands = (count + block - 1) / block
            Workers.parallelFor(bands) { band, _ in
                let first = band * block
                let height = min(block, count - first)
                withUnsafeTemporaryAllocation(of: Double.self, capacity: block * block) { part in
                    guard let part = part.baseAddress else { return }
                    for start in stride(from: 0, to: width, by: depth) {
                        for other in stride(from: 0, through: first, by: block) {
                            let columns = min(block, count - other)
                            DoubleKernel.dotProducts(
                                from + first * width + start,
                                rows: height,
                                stride: width,
                                from + other * width + start,
                                rows: columns,
                                stride: width,
                                terms: min(depth, width - start),
                                into: part
                            )
                            for row in 0..<height {
                                for column in 0..<columns {
                                    to[(first + row) * count + other + column] += part[row * columns + column]
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return result
}
