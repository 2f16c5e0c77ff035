import MLGraphTraining
import MLNumerics
import MLSpecification

/// Trains a neural network.
final class NetworkLearner: Learner {
    private var trainer: NetworkTrainer
    private var examples: TrainingExamples?

    init(_ model: SpecModel, _ parameters: UpdateParameters) throws(ModelError) { trainer = try NetworkTrainer(model) }

    var learnsInEpochs: Bool { true }

    func prepare(_ examples: UpdateExamples) throws(ModelError) {
        self.examples = try trainer.examples((0..<examples.count).map { examples.features(at: $0) })
    }

    func learn(_ indices: ArraySlice<Int>) throws(ModelError) -> Double {
        guard let examples else { preconditionFailure("examples are prepared before they are learnt from") }
        return try trainer.step(examples, Array(indices))
    }

    func apply(_ parameters: UpdateParameters) {
        if let rate = parameters.number(.learningRate) { trainer.settings.learningRate = rate }
        if let momentum = parameters.number(.momentum) { trainer.settings.optimizer = .sgd(momentum: momentum) }
        if let beta1 = parameters.number(.beta1), let beta2 = parameters.number(.beta2),
            let eps = parameters.number(.eps)
        {
            trainer.settings.optimizer = .adam(beta1: beta1, beta2: beta2, eps: eps)
        }
    }

    func replace(_ parameter: UpdateParameter, of layer: String, with tensor: Tensor) throws(ModelError) {
        do throws(ModelError) {
            switch parameter {
            case .biases: try trainer.setBiases(tensor, of: layer)
            default: try trainer.setWeights(tensor, of: layer)
            }
        } catch {
            throw ModelError(.parameter, "\(parameter.rawValue) of layer '\(layer)': \(error.message)")
        }
    }

    func specification() throws(ModelError) -> SpecModel { try trainer.updatedSpecification() }

    var state: [UInt8] { trainer.state }

    func restore(_ state: [UInt8]) throws(ModelError) { try trainer.restore(state) }
}
