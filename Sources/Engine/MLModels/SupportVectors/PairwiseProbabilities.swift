/// Class probabilities from the decision values of pairs of classes.
///
/// A decision value d of pair (i, j) says that i is true with probability 1 / (1 + exp(a·d + b)) (Platt). Several pairs
/// are coupled by minimising Σ (r[j][i]·p[i] − r[i][j]·p[j])² (Wu, Lin and Weng 2004, second method, as in LIBSVM).
struct PairwiseProbabilities: Sendable {
    let classes: Int
    let a: [Double]
    let b: [Double]

    private static let minimumProbability = 1e-7

    func join(_ decisions: [Double], into result: UnsafeMutableBufferPointer<Double>) {
        var r = [Double](repeating: 0, count: classes * classes)
        var pair = 0
        for i in 0..<classes {
            for j in i + 1..<classes {
                let value = logistic(-(a[pair] * decisions[pair] + b[pair]))
                // A decision of NaN is improbable, as in LIBSVM.
                let raised = value > Self.minimumProbability ? value : Self.minimumProbability
                let bounded = Swift.min(raised, 1 - Self.minimumProbability)
                r[i * classes + j] = bounded
                r[j * classes + i] = 1 - bounded
                pair += 1
            }
        }
        if classes == 2 {
            result[0] = r[1]
            result[1] = r[2]
            return
        }
        minimize(r, result)
    }

    private func minimize(_ r: [Double], _ p: UnsafeMutableBufferPointer<Double>) {
        let n = classes
        var q = [Double](repeating: 0, count: n * n)
        for t in 0..<n {
            p[t] = 1 / Double(n)
            for j in 0..<n where j != t {
                q[t * n + t] += r[j * n + t] * r[j * n + t]
                q[t * n + j] = -r[j * n + t] * r[t * n + j]
            }
        }
        let tolerance = 0.005 / Double(n)
        var qp = [Double](repeating: 0, count: n)
        for _ in 0..<Swift.max(100, n) {
            var pqp = 0.0
            for t in 0..<n {
                qp[t] = 0
                for j in 0..<n { qp[t] += q[t * n + j] * p[j] }
                pqp += p[t] * qp[t]
            }
            var error = 0.0
            for t in 0..<n { error = Swift.max(error, (qp[t] - pqp).magnitude) }
            if error < tolerance { break }
            for t in 0..<n {
                let step = (pqp - qp[t]) / q[t * n + t]
                p[t] += step
                pqp = (pqp + step * (step * q[t * n + t] + 2 * qp[t])) / (1 + step) / (1 + step)
                for j in 0..<n {
                    qp[j] = (qp[j] + step * q[t * n + j]) / (1 + step)
                    p[j] /= 1 + step
                }
            }
        }
    }
}
