import MLGraph
package import MLKernels
package import MLNumerics
import MLPasses
package import MLRuntime
import MLTrainingCore

/// Updates the parameters of a graph, step by step, to minimise its loss.
///
/// A value type: copies are independent. The result does not depend on the number of threads.
package struct GraphTrainer: Sendable {
    package var optimizer: Optimizer {
        didSet { if optimizer != oldValue { fitState() } }
    }
    package var learningRate: Double
    /// The current parameters, in the order of the objective's.
    package private(set) var parameters: [Tensor]
    package private(set) var stepCount = 0
    /// The optimiser state of each parameter.
    private var states: [[Tensor]]

    package init(parameters: [Tensor], optimizer: Optimizer, learningRate: Double) {
        self.parameters = parameters
        self.optimizer = optimizer
        self.learningRate = learningRate
        states = []
        fitState()
    }

    /// Resets the optimiser's state where it does not have the form that the optimiser needs.
    private mutating func fitState() {
        let count = OptimizerRule.stateCount(optimizer)
        guard states.count != parameters.count || states.contains(where: { $0.count != count }) else { return }
        states = parameters.map { parameter in
            (0..<count).map { _ in
                Tensor(uninitialized: parameter.scalarType, shape: parameter.shape, zeroed: true)
            }
        }
        stepCount = 0
    }

    /// Performs one step along the gradient of `program`'s loss for `inputs`, the data of its objective.
    ///
    /// - Returns: The outputs of the objective, the loss first, computed before the parameters were updated.
    package mutating func step(_ program: GradientProgram, _ inputs: [Tensor]) throws(ModelError) -> [Tensor] {
        let (outputs, gradients) = try program.run(inputs, parameters)
        step(by: gradients)
        return outputs
    }

    /// Performs one step with gradients that were computed elsewhere, one for each parameter.
    package mutating func step(by gradients: [Tensor]) {
        stepCount += 1
        let rule = OptimizerRule(optimizer: optimizer, learningRate: learningRate, step: stepCount)
        for index in parameters.indices {
            rule.apply(gradients[index], to: &parameters[index], state: &states[index])
        }
    }

    /// Replaces a parameter by a tensor of the same type and shape.
    package mutating func setParameter(_ index: Int, to tensor: Tensor) throws(ModelError) {
        let old = parameters[index]
        guard tensor.scalarType == old.scalarType, tensor.shape == old.shape else {
            throw ModelError(
                .invalidInput,
                "a parameter of \(old.scalarType.milName) \(old.shape) cannot become \(tensor.scalarType.milName) \(tensor.shape)"
            )
        }
        parameters[index] = tensor
    }
}

extension GraphTrainer: ResumableTraining {
    /// The parameters, the optimiser's state and the number of steps, as `TrainerCheckpoint` encodes them.
    package var state: [UInt8] {
        TrainerCheckpoint.bytes(stepCount: stepCount, tensors: parameters + states.flatMap { $0 })
    }

    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        let (count, tensors) = try TrainerCheckpoint.contents(of: state, like: parameters + states.flatMap { $0 })
        stepCount = count
        var remaining = tensors[...]
        for index in parameters.indices { parameters[index] = remaining.removeFirst() }
        for index in states.indices {
            for position in states[index].indices { states[index][position] = remaining.removeFirst() }
        }
    }
}

/// A compiled objective: one plan that computes the loss and the gradient of each parameter.
///
/// Immutable; any number of trainers and threads may run it.
package final class GradientProgram: Sendable {
    private let program: GraphProgram
    private let outputCount: Int

    /// Differentiates, binds and plans `objective` for the kernels of one instruction set.
    package init(_ objective: Objective, kernels: KernelTable = .current) throws(ModelError) {
        outputCount = objective.graph.body.outputs.count
        program = try GraphProgram(objective.differentiated(), kernels: kernels)
    }

    /// The objective's outputs and the gradients, one for each parameter.
    package func run(
        _ inputs: [Tensor],
        _ parameters: [Tensor],
        observer: (any StepObserver)? = nil
    ) throws(ModelError) -> (outputs: [Tensor], gradients: [Tensor]) {
        let results = try program.run(inputs + parameters, observer: observer)
        return (Array(results[..<outputCount]), Array(results[outputCount...]))
    }
}
