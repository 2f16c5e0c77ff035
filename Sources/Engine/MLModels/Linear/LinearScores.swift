import Glibc
import MLFeatures
import MLKernels
import MLNumerics

/// Rows of weights and an offset for each: scores[r] = weights[r] · x + offset[r].
struct LinearScores: Sendable {
    /// [rows × width].
    private let weights: [Double]
    private let offsets: [Double]
    let width: Int
    var rows: Int { offsets.count }

    init(weights: [[Double]], offsets: [Double]) throws(ModelError) {
        guard let width = weights.first?.count, width > 0 else {
            throw ModelError(.invalidModel, "the linear model has no weights")
        }
        guard weights.count == offsets.count else {
            throw ModelError(
                .invalidModel,
                "the linear model has \(weights.count) rows of weights, but \(offsets.count) offsets"
            )
        }
        for (row, values) in weights.enumerated() where values.count != width {
            throw ModelError(
                .invalidModel,
                "row \(row) of the weights has \(values.count) values, the first row has \(width)"
            )
        }
        self.weights = weights.flatMap { $0 }
        self.offsets = offsets
        self.width = width
    }

    /// The scores [count × rows] of examples [count, width] float64; each row of them is passed to `finish`.
    func scores(
        _ examples: Tensor,
        finish: @Sendable (UnsafeMutableBufferPointer<Double>) -> Void = { _ in }
    ) -> Tensor {
        let count = examples.shape[0]
        var result = Tensor(uninitialized: .float64, shape: [count, rows])
        result.withMutableElements(of: Double.self) { target in
            examples.withElements(of: Double.self) { source in
                weights.withUnsafeBufferPointer { weights in
                    guard let source = source.baseAddress, let weights = weights.baseAddress,
                        let target = target.baseAddress
                    else { return }
                    // Examples and weights are only read; each range writes its own results.
                    nonisolated(unsafe) let (x, w, y) = (source, weights, target)
                    inParallel(count, work: width * rows) { range in
                        let results = y + range.lowerBound * rows
                        DoubleKernel.dotProducts(
                            x + range.lowerBound * width,
                            rows: range.count,
                            w,
                            rows: rows,
                            terms: width,
                            into: results
                        )
                        for row in 0..<range.count {
                            let scores = UnsafeMutableBufferPointer(start: results + row * rows, count: rows)
                            for index in 0..<rows { scores[index] += offsets[index] }
                            finish(scores)
                        }
                    }
                }
            }
        }
        return result
    }
}

/// Runs `body` for slices of `0..<count`, on several threads when `count` items of `work` operations each are worth it.
func inParallel(_ count: Int, work: Int, _ body: (Range<Int>) -> Void) {
    let parts = Swift.min(count, count * Swift.max(work, 1) / 16384 + 1, 64 * Workers.count)
    guard parts > 1 else {
        if count > 0 { body(0..<count) }
        return
    }
    Workers.parallelFor(parts) { part, _ in body(part * count / parts..<(part + 1) * count / parts) }
}

/// The logistic function, without overflow.
func logistic(_ x: Double) -> Double { x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)) }

/// The cumulative distribution function of the standard normal distribution.
func normalCDF(_ x: Double) -> Double { 0.5 * erfc(-x * 0.5.squareRoot()) }
