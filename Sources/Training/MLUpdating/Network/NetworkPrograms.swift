import MLEngine
import MLFeatures
import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators
import MLRuntime
import MLSpecification
import Synchronization

/// The programs of an updatable network: the frozen part, and one program with loss and gradients for each mini-batch
/// size and feature shape.
final class NetworkPrograms: Sendable {
    /// The network for a single example.
    let single: SplitNetwork
    private let network: UpdatableNetwork
    private let catalogue: Catalogue
    private let precision: ScalarType
    private let known = Mutex(RecentCache<Key, GradientProgram>(limit: 6))
    private let shapes = Mutex<[[[Int]]: [Int]]>([:])

    private struct Key: Hashable, Sendable {
        let features: [[Int]]
        let batch: Int
    }

    init(_ network: UpdatableNetwork, catalogue: Catalogue, precision: ScalarType) throws(ModelError) {
        self.network = network
        self.catalogue = catalogue
        self.precision = precision
        single = try SplitNetwork(network, batch: 1, catalogue: catalogue, precision: precision)
    }

    /// Computes the frozen part for an example's inputs.
    func features(of example: [String: FeatureData]) throws(ModelError) -> [Tensor] {
        guard let frozen = single.frozen else { return [] }
        return try frozen.executable.run(frozen.graphInputs(example)).map { tensor in
            tensor.scalarType == .float32 ? tensor.converted(to: precision) : tensor
        }
    }

    /// The shape of the loss's input, for one example with these features.
    func predictionShape(_ features: [Tensor]) throws(ModelError) -> [Int] {
        let key = features.map(\.shape)
        if let shape = shapes.withLock({ $0[key] }) { return shape }
        let shape = try single.predictionShape(key, precision)
        shapes.withLock { shapes in
            if shapes.count >= 64 { shapes.removeAll() }
            shapes[key] = shape
        }
        return shape
    }

    /// Divides the mini-batch into parts that can be computed at once, in the given order.
    func parts(_ examples: TrainingExamples, _ indices: [Int]) -> [[Int]] {
        guard let first = indices.first else { return [] }
        let shapes = examples.features[first].map(\.shape)
        let areAlike = indices.allSatisfy {
            examples.features[$0].map(\.shape) == shapes && examples.targets[$0].shape == examples.targets[first].shape
        }
        let target = examples.targets[first]
        let hasUnitBatchAxis = network.usesExactMapping ? shapes.allSatisfy { $0.first == 1 } : true
        let targetHasUnitBatchAxis =
            network.loss == .categoricalCrossEntropy || !network.usesExactMapping || target.shape.first == 1
        return areAlike && network.allowsBatches && hasUnitBatchAxis && targetHasUnitBatchAxis
            ? [indices] : indices.map { [$0] }
    }

    /// The program for the examples at `indices`, which can be computed at once, and its inputs.
    func program(
        _ examples: TrainingExamples,
        _ indices: [Int]
    ) throws(ModelError) -> (program: GradientProgram, inputs: [Tensor]) {
        var inputs: [Tensor] = []
        for feature in examples.features[indices[0]].indices {
            inputs.append(Tensor(examples: indices.map { examples.features[$0][feature] }))
        }
        let key = Key(features: inputs.map(\.shape), batch: indices.count)
        inputs.append(Tensor(examples: indices.map { examples.targets[$0] }).converted(to: precision))
        if let found = known.withLock({ $0.find(key) }) { return (found, inputs) }
        let split =
            indices.count == 1 || !network.isRecurrent
            ? single
            : try SplitNetwork(network, batch: indices.count, catalogue: catalogue, precision: precision)
        let objective = try split.objective(
            network.loss,
            features: key.features,
            batch: indices.count,
            parameters: network.parameters,
            precision: precision
        )
        let program = try GradientProgram(objective)
        return (known.withLock { $0.keep(program, for: key) }, inputs)
    }
}

extension Tensor {
    /// Combines tensors of one type and shape [k, d…] to [k · count, d…]: for each index of the first axis, the
    /// examples next to each other.
    init(examples: [Tensor]) {
        guard let first = examples.first, examples.count > 1 else {
            self = examples.first ?? Tensor([Float](), shape: [0])
            return
        }
        let count = examples.count
        let steps = first.shape.first ?? 1
        let rowBytes = steps > 0 ? first.byteCount / steps : 0
        self.init(
            uninitialized: first.scalarType,
            shape: [steps * count] + first.shape.dropFirst()
        )
        for (index, tensor) in examples.enumerated() {
            for step in 0..<steps {
                (address + (step * count + index) * rowBytes)
                    .copyMemory(from: tensor.address + step * rowBytes, byteCount: rowBytes)
            }
            withExtendedLifetime(tensor) {}
        }
    }
}
