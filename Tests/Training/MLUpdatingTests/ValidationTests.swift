import MLFeatures
import MLNumerics
import MLSpecification
import MLUpdating
import Testing

/// Updatable networks that the specification does not allow are refused by an error that names the cause.
@Suite struct ValidationTests {
    private static func message(_ model: SpecModel) -> String {
        do {
            _ = try NetworkTrainer(model)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    private static func changed(_ change: (inout SpecModel) -> Void) -> SpecModel {
        var model = UpdatableModel.perceptron().specification
        change(&model)
        return model
    }

    @Test func theModelItselfIsFine() { #expect(Self.message(Self.changed { _ in }) == "accepted") }

    @Test func everyRuleIsChecked() {
        let cases: [(expected: String, change: (inout SpecModel) -> Void)] = [
            ("not updatable", { $0.isUpdatable = false }),
            ("version 3", { $0.specificationVersion = 3 }),
            ("no update parameters", { $0.neuralNetwork.clearUpdateParams() }),
            ("'relu'", { $0.neuralNetwork.layers[1].isUpdatable = true }),
            ("no layer", { for index in 0..<4 { $0.neuralNetwork.layers[index].isUpdatable = false } }),
            ("two layers are called 'last'", { $0.neuralNetwork.layers[0].name = "last" }),
            ("bias are not marked", { $0.neuralNetwork.layers[2].innerProduct.bias.isUpdatable = false }),
            ("not stored as float32", { $0.neuralNetwork.layers[2].innerProduct.weights.floatValue = [] }),
            ("exactly one", { $0.neuralNetwork.updateParams.lossLayers = [] }),
            ("names must be unique", { $0.neuralNetwork.updateParams.lossLayers[0].name = "last" }),
            (
                "output of a softmax",
                { $0.neuralNetwork.updateParams.lossLayers[0].categoricalCrossEntropyLossLayer.input = "y" }
            ),
            (
                "computed by the network",
                { $0.neuralNetwork.updateParams.lossLayers[0].categoricalCrossEntropyLossLayer.target = "h" }
            ),
            (
                "no layer gives the blob 'q'",
                { $0.neuralNetwork.updateParams.lossLayers[0].categoricalCrossEntropyLossLayer.input = "q" }
            ),
            (
                "may not be between",
                { $0.neuralNetwork.layers[1].activation.softplus = SpecActivationSoftplus() }
            ),
            ("optimiser", { $0.neuralNetwork.updateParams.clearOptimizer() }),
            ("number of epochs", { $0.neuralNetwork.updateParams.clearEpochs() }),
            ("0 epochs", { $0.neuralNetwork.updateParams.epochs.defaultValue = 0 }),
            (
                "learning rate",
                { $0.neuralNetwork.updateParams.optimizer.sgdOptimizer.clearLearningRate() }
            ),
            (
                "mini-batch of -1",
                { $0.neuralNetwork.updateParams.optimizer.sgdOptimizer.miniBatchSize.defaultValue = -1 }
            ),
            (
                "default 1 of 'epochs'",
                { $0.neuralNetwork.updateParams.epochs.set.values = [2, 3] }
            ),
            (
                "default 0.1 of 'learningRate'",
                { $0.neuralNetwork.updateParams.optimizer.sgdOptimizer.learningRate.range.minValue = 0.2 }
            ),
            ("not a neural network", { $0.glmRegressor = SpecGLMRegressor() }),
        ]
        for (expected, change) in cases {
            let message = Self.message(Self.changed(change))
            #expect(message.contains(expected), "\(message)")
        }
    }

    @Test func examplesAreChecked() throws {
        let trainer = try NetworkTrainer(UpdatableModel.perceptron().specification)
        let good = UpdatableModel.examples([6], count: 1)[0]
        var missing = good
        missing["t"] = nil
        var mistyped = good
        mistyped["t"] = .string("a")
        var outside = good
        outside["t"] = .int64(3)
        var short = good
        short["x"] = .tensor(Tensor([1, 2] as [Float], shape: [2]))
        var absent = good
        absent["x"] = nil
        for example in [missing, mistyped, outside, short, absent] {
            #expect(throws: ModelError.self) { try trainer.examples([good, example]) }
        }
        var copy = trainer
        let examples = try trainer.examples([good])
        #expect(throws: ModelError.self) { try copy.step(examples, []) }
        #expect(throws: ModelError.self) { try copy.step(examples, [1]) }
    }
}
