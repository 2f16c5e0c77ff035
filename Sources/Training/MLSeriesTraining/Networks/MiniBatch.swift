import Glibc
import MLNumerics
import MLTrainingCore
import MLGraphTraining

/// Exponentially weighted means and variances of mini-batches.
struct RunningStatistics: Sendable {
    private var sums: [Tensor]
    /// The sum of the weights so far.
    private var weight: Double

    private static let momentum = 0.9

    init(widths: [Int]) {
        sums = widths.flatMap { [Tensor.zeros([1, $0]), Tensor.zeros([1, $0])] }
        weight = 0
    }

    init(state: [Tensor]) {
        sums = Array(state.dropLast())
        weight = state.last?.values.first ?? 0
    }

    var state: [Tensor] { sums + [Tensor(scalar: weight, .float64)] }

    /// - Parameter measured: Means and variances, alternating.
    mutating func take(_ measured: [Tensor]) {
        for (index, tensor) in measured.enumerated() {
            let (old, new) = (sums[index].floats, tensor.floats)
            sums[index] = Tensor(
                zip(old, new).map { Float(Self.momentum * Double($0) + (1 - Self.momentum) * Double($1)) },
                shape: sums[index].shape
            )
        }
        weight = Self.momentum * weight + 1 - Self.momentum
    }

    /// Means and variances, alternating: [1, width]; 0 and 1 before the first mini-batch.
    var tensors: [Tensor] {
        sums.enumerated().map { index, sum in
            weight > 0
                ? Tensor(sum.floats.map { Float(Double($0) / weight) }, shape: sum.shape)
                : Tensor([Float](repeating: index % 2 == 0 ? 0 : 1, count: sum.count), shape: sum.shape)
        }
    }

    var values: [(mean: [Float], variance: [Float])] {
        let tensors = tensors
        return stride(from: 0, to: tensors.count, by: 2).map { (tensors[$0].floats, tensors[$0 + 1].floats) }
    }
}

/// Some sequences as tensors; positions without a sequence or step are zero and have no weight.
struct MiniBatch {
    let x: Tensor
    /// [steps · batch, classes].
    let targets: Tensor
    /// [steps · batch, 1].
    let weights: Tensor
    /// The number of steps that are counted.
    let weight: Double
    private let labels: [Int]

    init(_ examples: SequenceExamples, _ chosen: [Int], steps: Int, batch: Int, classes: Int) {
        x = Self.inputs(examples, chosen, first: 0, steps: steps, batch: batch)
        var labels = [Int](repeating: -1, count: steps * batch)
        for (position, index) in chosen.enumerated() {
            for (step, label) in examples.labels[index].prefix(steps).enumerated() {
                labels[step * batch + position] = label
            }
        }
        let count = labels.count { $0 >= 0 }
        var targets = Tensor.zeros([labels.count, classes])
        targets.withMutableElements(of: Float.self) { targets in
            for (row, label) in labels.enumerated() where label >= 0 { targets[row * classes + label] = 1 }
        }
        self.targets = targets
        let part = 1 / Float(Swift.max(count, 1))
        weights = Tensor(labels.map { $0 >= 0 ? part : 0 }, shape: [labels.count, 1])
        weight = Double(count)
        self.labels = labels
    }

    /// The inputs of the chosen sequences from step `first` on: [steps, batch, inputs].
    static func inputs(
        _ examples: SequenceExamples,
        _ chosen: [Int],
        first: Int,
        steps: Int,
        batch: Int
    ) -> Tensor {
        let width = examples.inputCount
        let isFull = chosen.count == batch && chosen.allSatisfy { examples.labels[$0].count - first >= steps }
        var x = Tensor(uninitialized: .float32, shape: [steps, batch, width], zeroed: !isFull)
        x.withMutableElements(of: Float.self) { x in
            guard let target = x.baseAddress else { return }
            for (position, index) in chosen.enumerated() {
                let count = Swift.min(steps, examples.labels[index].count - first)
                guard count > 0 else { continue }
                examples.features[index].withUnsafeBufferPointer { features in
                    guard let source = features.baseAddress else { return }
                    for step in 0..<count {
                        (target + (step * batch + position) * width)
                            .update(from: source + (first + step) * width, count: width)
                    }
                }
            }
        }
        return x
    }

    func countCorrect(_ logits: [Float], classes: Int) -> Double {
        var right = 0
        for (row, label) in labels.enumerated() where label >= 0 {
            let values = logits[row * classes..<(row + 1) * classes]
            if values[row * classes + label] == values.reduce(-Float.infinity, Swift.max) { right += 1 }
        }
        return Double(right)
    }
}
