#if canImport(Glibc)
    import Glibc
#endif
import MLKernels

/// The loss function, which determines the meaning of the trees' sums.
package enum TreeObjective: Hashable, Sendable {
    /// Half the squared error; the sum is the prediction. The base score is one half.
    case squaredError
    /// The log loss; the sum is the log-odds of the second of two classes.
    case logistic
    /// The multi-class log loss; sum k is the score of class k before softmax.
    case softmax(classes: Int)

    /// The number of sums per example.
    package var outputCount: Int {
        if case .softmax(let classes) = self { classes } else { 1 }
    }

    /// The value of a sum before the first tree.
    package var baseScore: Float { self == .squaredError ? 0.5 : 0 }

    private static var minimumCurvature: Float { 1e-16 }

    /// First and second derivatives of the loss with respect to each sum.
    ///
    /// - Parameters:
    ///   - sums: [examples × outputs].
    ///   - targets: Numbers, or class indices.
    ///   - weights: The examples' weights; all 1 when `nil`.
    ///   - derivatives: Receives [outputs × examples] pairs.
    func differentiate(
        sums: [Float],
        targets: [Float],
        weights: [Float]?,
        into derivatives: inout [SIMD2<Float>]
    ) {
        let (rows, outputs) = (targets.count, outputCount)
        let blocks = (rows + 8191) / 8192
        precondition(derivatives.count == rows * outputs && sums.count == rows * outputs)
        derivatives.withUnsafeMutableBufferPointer { results in
            // Each block writes its own rows.
            nonisolated(unsafe) let results = results
            Workers.parallelFor(blocks) { block, _ in
                let sums = sums.span
                let targets = targets.span
                for row in block * 8192..<Swift.min(rows, (block + 1) * 8192) {
                    let weight = weights?[row] ?? 1
                    switch self {
                    case .squaredError:
                        results[row] = SIMD2(sums[unchecked: row] - targets[unchecked: row], 1) * weight
                    case .logistic:
                        let p = 1 / (1 + exp(-sums[unchecked: row]))
                        results[row] =
                            SIMD2(p - targets[unchecked: row], Swift.max(p * (1 - p), Self.minimumCurvature)) * weight
                    case .softmax:
                        softmax(sums, row, Int(targets[unchecked: row]), weight) { output, pair in
                            results[output * rows + row] = pair
                        }
                    }
                }
            }
        }
    }

    private func softmax(
        _ sums: Span<Float>,
        _ row: Int,
        _ target: Int,
        _ weight: Float,
        _ store: (Int, SIMD2<Float>) -> Void
    ) {
        let outputs = outputCount
        let scores = sums.extracting(row * outputs..<(row + 1) * outputs)
        var highest = scores[0]
        for output in scores.indices where scores[unchecked: output] > highest { highest = scores[unchecked: output] }
        var total = 0.0
        for output in scores.indices { total += Double(exp(scores[unchecked: output] - highest)) }
        for output in scores.indices {
            let p = exp(scores[unchecked: output] - highest) / Float(total)
            let gradient = output == target ? p - 1 : p
            store(output, SIMD2(gradient, Swift.max(2 * p * (1 - p), Self.minimumCurvature)) * weight)
        }
    }

    /// The mean loss over examples: squared error, or log loss.
    package func loss(sums: [Float], targets: [Float]) -> Double {
        let outputs = outputCount
        var total = 0.0
        for row in targets.indices {
            switch self {
            case .squaredError:
                let error = Double(sums[row]) - Double(targets[row])
                total += error * error
            case .logistic:
                let sum = Double(targets[row] > 0.5 ? -sums[row] : sums[row])
                total += sum > 0 ? sum + log1p(exp(-sum)) : log1p(exp(sum))
            case .softmax:
                let scores = sums[row * outputs..<(row + 1) * outputs].map(Double.init)
                let highest = scores.max() ?? 0
                let sum = scores.reduce(0) { $0 + exp($1 - highest) }
                total += log(sum) + highest - scores[Int(targets[row])]
            }
        }
        return total / Double(Swift.max(targets.count, 1))
    }
}
