#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Cross-entropy of rows of logits with target probabilities.
package enum CrossEntropyKernel {
    /// The least probability whose logarithm is taken.
    package static let minimumProbability = 1e-37

    /// `losses[r] = −Σ targets[r, k] · log max(p[r, k], leastProbability)` for each row `r` of `length` logits, where
    /// `p` is their softmax.
    ///
    /// Sums are in double precision; terms with target 0 are skipped.
    package static func softmaxCrossEntropy(
        _ logits: UnsafePointer<Float>,
        targets: UnsafePointer<Float>,
        into losses: UnsafeMutablePointer<Float>,
        rows: Int,
        length: Int
    ) {
        for row in 0..<rows {
            let range = row * length..<(row + 1) * length
            var maximum = -Float.infinity
            for index in range { maximum = max(maximum, logits[index]) }
            var total = 0.0
            for index in range { total += exp(Double(logits[index] - maximum)) }
            var loss = 0.0
            for index in range where targets[index] != 0 {
                let probability = exp(Double(logits[index] - maximum)) / total
                loss -= Double(targets[index]) * log(max(probability, minimumProbability))
            }
            losses[row] = Float(loss)
        }
    }
}
