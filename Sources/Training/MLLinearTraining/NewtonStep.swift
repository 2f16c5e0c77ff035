import MLKernels

/// The step to the minimum of a quadratic model, gradient · Δ + ½ Δ · hessian · Δ, optionally with an L1 penalty on the
/// coefficients.
enum NewtonStep {
    /// Solves hessian · Δ = -gradient by Cholesky decomposition.
    ///
    /// A coefficient whose column depends linearly on those before it (its pivot is lost in rounding) is left
    /// unchanged.
    static func solve(_ hessian: [Double], _ gradient: [Double]) -> [Double] {
        let count = gradient.count
        var factors = hessian
        var isDependent = [Bool](repeating: false, count: count)
        var column = [Double](repeating: 0, count: count)
        factors.withUnsafeMutableBufferPointer { factors in
            column.withUnsafeMutableBufferPointer { column in
                guard let l = factors.baseAddress, let column = column.baseAddress else { return }
                for pivot in 0..<count {
                    if pivot > 0 {
                        DoubleKernel.dotProducts(
                            l + pivot * count,
                            rows: count - pivot,
                            stride: count,
                            l + pivot * count,
                            rows: 1,
                            stride: count,
                            terms: pivot,
                            into: column
                        )
                    } else {
                        for row in 0..<count { column[row] = 0 }
                    }
                    let diagonal = l[pivot * count + pivot]
                    let remaining = diagonal - column[0]
                    if remaining > 1e-12 * diagonal {
                        let root = remaining.squareRoot()
                        l[pivot * count + pivot] = root
                        for row in pivot + 1..<Swift.max(count, pivot + 1) {
                            l[row * count + pivot] = (l[row * count + pivot] - column[row - pivot]) / root
                        }
                    } else {
                        isDependent[pivot] = true
                        l[pivot * count + pivot] = 1
                        for row in pivot + 1..<Swift.max(count, pivot + 1) { l[row * count + pivot] = 0 }
                    }
                }
            }
        }
        var step = gradient.map { -$0 }
        for row in 0..<count {
            var sum = isDependent[row] ? 0 : step[row]
            if !isDependent[row] { for other in 0..<row { sum -= factors[row * count + other] * step[other] } }
            step[row] = sum / factors[row * count + row]
        }
        for row in stride(from: count - 1, through: 0, by: -1) {
            let value = isDependent[row] ? 0 : step[row] / factors[row * count + row]
            step[row] = value
            for other in 0..<row { step[other] -= factors[row * count + other] * value }
        }
        return step
    }

    /// Minimises the same with Σ penalty · |coefficient + Δ| added, by coordinate descent until no coefficient moves.
    ///
    /// Friedman, Hastie and Tibshirani, "Regularization Paths for Generalized Linear Models via Coordinate Descent"
    /// (2010).
    static func solve(
        _ hessian: [Double],
        _ gradient: [Double],
        penalty: (Int) -> Double,
        at coefficients: [Double]
    ) -> [Double] {
        let count = gradient.count
        var step = [Double](repeating: 0, count: count)
        // The quadratic model's gradient at the current step.
        var slope = gradient
        hessian.withUnsafeBufferPointer { hessian in
            for _ in 0..<2000 {
                var (farthest, largest) = (0.0, 0.0)
                for position in 0..<count {
                    let curvature = hessian[position * count + position]
                    guard curvature > 0 else { continue }
                    let old = coefficients[position] + step[position]
                    let new = softThresholded(old - slope[position] / curvature, penalty(position) / curvature)
                    largest = Swift.max(largest, new.magnitude)
                    guard new != old else { continue }
                    let change = new - old
                    step[position] += change
                    farthest = Swift.max(farthest, change.magnitude)
                    for other in 0..<count { slope[other] += hessian[position * count + other] * change }
                }
                if farthest <= 1e-13 * largest { break }
            }
        }
        return step
    }

    /// Soft thresholding: `value` moved towards 0 by `amount`, at most to 0.
    static func softThresholded(_ value: Double, _ amount: Double) -> Double {
        value > amount ? value - amount : value < -amount ? value + amount : 0
    }
}
