import CTraining
import MLGraphTraining
import MLNumerics
import TestSupport
import Testing

/// Adam's step in C, with vectors of both widths.
@Suite struct AdamTests {
    private static let factors = ctraining_adam(
        beta1: 0.9,
        beta2: 0.999,
        share1: 0.1,
        share2: 0.001,
        rate: 0.0123,
        root: 0.0316,
        epsilon: 1e-8
    )

    @Test(arguments: [0, 1, 7, 8, 9, 16, 427], [0, 1] as [Int32])
    func stepIsThatOfPlainNumbers(count: Int, wide: Int32) {
        var random = RandomTensors(seed: 9)
        func numbers() -> [Float] { random.tensor([count + 1]).floatValues }
        // One number more, which must remain.
        var (w, m) = (numbers(), numbers())
        var v = numbers().map { $0 * $0 }
        let g = numbers()
        var expected = (w: w, m: m, v: v)
        let by = Self.factors
        for index in 0..<count {
            let first: Float = by.beta1 * m[index] + by.share1 * g[index]
            let second: Float = by.beta2 * v[index] + by.share2 * g[index] * g[index]
            expected.m[index] = first
            expected.v[index] = second
            expected.w[index] -= by.rate * first / (second.squareRoot() / by.root + by.epsilon)
        }
        withUnsafePointer(to: by) { ctraining_adam(&w, g, &m, &v, count, $0, wide) }
        #expect(w == expected.w)
        #expect(m == expected.m)
        #expect(v == expected.v)
    }

    /// Single and double precision take the same steps, as far as single precision can tell.
    @Test func bothPrecisionsAgree() throws {
        var random = RandomTensors(seed: 10)
        let first = random.tensor([301])
        func trainer(_ parameter: Tensor) -> GraphTrainer {
            GraphTrainer(
                parameters: [parameter],
                optimizer: .adam(beta1: 0.8, beta2: 0.95, eps: 1e-6),
                learningRate: 0.01
            )
        }
        var (single, double) = (trainer(first), trainer(first.converted(to: .float64)))
        for _ in 0..<20 {
            let gradient = random.tensor([301])
            single.step(by: [gradient])
            double.step(by: [gradient.converted(to: .float64)])
        }
        for (a, b) in zip(single.parameters[0].values, double.parameters[0].values) { #expect(abs(a - b) < 2e-6) }
    }
}
