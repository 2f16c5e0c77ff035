import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Graphs built for training.
@Suite struct GraphTrainerTests {
    /// A softmax regression of `count` points in the plane, with its logits as a second output.
    private static func objective(_ count: Int) throws(ModelError) -> Objective {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [Dimension(count), 2]))
        let t = builder.input("t", ValueType(.float32, [Dimension(count), 2]))
        let w = builder.input("w", ValueType(.float32, [2, 2]))
        let b = builder.input("b", ValueType(.float32, [2]))
        let logits = try builder.add(Linear(), x, w, b)
        let loss = try builder.crossEntropy(logits, t)
        return Objective(builder.finished(outputs: [("loss", loss), ("logits", logits)]), parameters: ["w", "b"])
    }

    @Test func learnsToSeparatePoints() throws {
        var random = RandomTensors(seed: 3)
        let points = random.tensor([64, 2])
        let classes = (0..<64).map { points.values[2 * $0] > 0.3 * points.values[2 * $0 + 1] }
        let targets = Tensor(classes.flatMap { $0 ? [1, 0] as [Float] : [0, 1] }, shape: [64, 2])
        let program = try GradientProgram(Self.objective(64))
        var trainer = GraphTrainer(
            parameters: [random.tensor([2, 2]), random.tensor([2])],
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: 0.05
        )
        var outputs: [Tensor] = []
        for _ in 0..<300 { outputs = try trainer.step(program, [points, targets]) }
        #expect(trainer.stepCount == 300)
        #expect(outputs[0].values[0] < 0.15)
        let logits = outputs[1].values
        let right = classes.indices.filter { (logits[2 * $0] > logits[2 * $0 + 1]) == classes[$0] }
        #expect(right.count >= 62)
    }

    /// A value used twice gets both gradients: f = Σ (x · w)² + Σ x · w.
    @Test func gradientsOfSharedValuesAreAdded() throws {
        var builder = GraphBuilder()
        let w = builder.input("w", ValueType(.float32, [3]))
        let x = builder.constant(Tensor([1, 2, 3] as [Float], shape: [3]))
        let product = try builder.add(Binary<Mul>(), w, x)
        let both = try builder.add(Binary<Add>(), builder.add(Unary(Square()), product), product)
        let loss = try builder.add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), both)
        let program = try GradientProgram(Objective(builder.finished(outputs: [("loss", loss)]), parameters: ["w"]))
        let (outputs, gradients) = try program.run([], [Tensor([1, 1, -1] as [Float], shape: [3])])
        #expect(outputs[0].values == [14])
        #expect(gradients[0].values == [3, 10, -15])
    }

    @Test func whatHasNoGradientIsNamed() throws {
        func message(_ build: (inout GraphBuilder, ValueID) throws(ModelError) -> ValueID) throws -> String {
            var builder = GraphBuilder()
            builder.location = "layer 'here'"
            let w = builder.input("w", ValueType(.float32, [3]))
            let value = try build(&builder, w)
            let loss = try builder.add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), value)
            let objective = Objective(builder.finished(outputs: [("loss", loss)]), parameters: ["w"])
            do {
                _ = try objective.differentiated()
                return "accepted"
            } catch {
                return "\(error)"
            }
        }
        let rounded = try message { (builder, w) throws(ModelError) in try builder.add(Unary(Round()), w) }
        #expect(rounded.contains("'round'") && rounded.contains("layer 'here'"))
        let other = try message { (builder, _) throws(ModelError) in
            builder.constant(Tensor([1] as [Float], shape: [1]))
        }
        #expect(other.contains("does not depend"))
    }
}
