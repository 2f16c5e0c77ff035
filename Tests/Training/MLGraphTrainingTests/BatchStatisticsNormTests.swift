import CTraining
import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Batch normalisation with the statistics of the batch, against the same formula in elementary operators.
@Suite struct BatchStatisticsNormTests {
    private static let epsilon = 1e-3

    /// A loss of the normalised values, and their statistics.
    private func program(_ shape: [Int], isFused: Bool) throws -> GradientProgram {
        var builder = GraphBuilder()
        let weights = builder.input("weights", ValueType(.float32, Shape(shape)))
        let x = builder.input("x", ValueType(.float32, Shape(shape)))
        let gain = builder.input("gain", ValueType(.float32, Shape([shape[1]])))
        let bias = builder.input("bias", ValueType(.float32, Shape([shape[1]])))
        let y: ValueID
        let statistics: [ValueID]
        if isFused {
            let results = try builder.append(BatchStatisticsNorm(epsilon: Self.epsilon), [x, gain, bias])
            y = results[0]
            statistics = Array(results[1...])
        } else {
            let axes = shape.indices.filter { $0 != 1 }
            let mean = Reduction<MeanOfElements>(axes: axes, keepsDimensions: true)
            let form = builder.constant(
                Tensor(shape.indices.map { Int32($0 == 1 ? shape[1] : 1) }, shape: [shape.count])
            )
            let middle = try builder.add(mean, x)
            let centred = try builder.add(Binary<Sub>(), x, middle)
            let variance = try builder.add(mean, builder.add(Unary(Square()), centred))
            let scale = try builder.add(
                Binary<Mul>(),
                builder.add(Unary(Rsqrt(epsilon: Self.epsilon)), variance),
                builder.add(Reshape(), gain, form)
            )
            let scaled = try builder.add(Binary<Mul>(), centred, scale)
            y = try builder.add(Binary<Add>(), scaled, builder.add(Reshape(), bias, form))
            let vector = builder.constant(Tensor([Int32(shape[1])], shape: [1]))
            statistics = [
                try builder.add(Reshape(), middle, vector), try builder.add(Reshape(), variance, vector),
            ]
        }
        let loss = try builder.add(
            Reduction<SumOfElements>(axes: nil, keepsDimensions: false),
            builder.add(Binary<Mul>(), weights, builder.add(Unary(Square()), y))
        )
        let outputs = [("loss", loss), ("y", y), ("means", statistics[0]), ("variances", statistics[1])]
        return try GradientProgram(
            Objective(builder.finished(outputs: outputs), parameters: ["x", "gain", "bias"])
        )
    }

    @Test(arguments: [[2, 3, 5, 7], [3, 1, 8, 8], [4, 2, 40, 41], [1, 2, 3], [5, 6]])
    func `Values, statistics and gradients are those of elementary operators`(shape: [Int]) throws {
        var random = RandomTensors(seed: 4)
        let weights = random.tensor(shape)
        let parameters = [
            random.tensor(shape, in: 1...3), random.tensor([shape[1]], in: 0.5...2), random.tensor([shape[1]]),
        ]
        let fused = try program(shape, isFused: true).run([weights], parameters)
        let plain = try program(shape, isFused: false).run([weights], parameters)
        let scale = Double(shape.reduce(1, *)).squareRoot()
        for (a, b) in zip(fused.outputs + fused.gradients, plain.outputs + plain.gradients) {
            #expect(a.shape == b.shape)
            for (x, y) in zip(a.values, b.values) { #expect(abs(x - y) < 2e-5 * scale * max(1, abs(y))) }
        }
        // In double precision, by the plain evaluation.
        let exact = try BatchStatisticsNorm(epsilon: Self.epsilon).evaluated(parameters)
        for (a, b) in zip(exact, fused.outputs.dropFirst()) {
            for (x, y) in zip(a.values, b.values) { #expect(abs(x - y) < 1e-4 * max(1, abs(x))) }
        }
    }

    @Test func `Vectors of both widths give the same numbers`() {
        var random = RandomTensors(seed: 6)
        // Two images of three channels with 1,031 positions: more than a chunk, and no multiple of a vector.
        let (positions, channels) = (1031, 3)
        let x = random.tensor([2, channels, positions]).floatValues
        let dy = random.tensor([2, channels, positions]).floatValues
        var by = ctraining_channel(
            images: 2,
            positions: positions,
            step: channels * positions,
            epsilon: 1e-3,
            gain: 1.5,
            bias: 0.25
        )
        func results(_ wide: Int32) -> [[Float]] {
            var (y, dx) = ([Float](repeating: 0, count: x.count), [Float](repeating: 0, count: x.count))
            var (mean, variance, gain, bias): (Float, Float, Float, Float) = (0, 0, 0, 0)
            ctraining_batch_norm(x, &by, &y, &mean, &variance, wide)
            ctraining_batch_norm_gradient(x, dy, &by, mean, variance, &dx, &gain, &bias, wide)
            return [y, dx, [mean, variance, gain, bias]]
        }
        #expect(results(0) == results(1))
    }

    @Test func `A loss of the statistics has no gradient`() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, Shape([2, 3])))
        let ones = builder.constant(Tensor([1, 1, 1] as [Float], shape: [3]))
        let results = try builder.append(BatchStatisticsNorm(epsilon: 1e-3), [x, ones, ones])
        let sum = Reduction<SumOfElements>(axes: nil, keepsDimensions: false)
        let loss = try builder.add(sum, results[2])
        let objective = Objective(builder.finished(outputs: [("loss", loss)]), parameters: ["x"])
        #expect(throws: ModelError.self) { try objective.differentiated() }
    }
}
