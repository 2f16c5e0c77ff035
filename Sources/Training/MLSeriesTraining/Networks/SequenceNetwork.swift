package import MLGraph
package import MLNumerics
import MLOperators

/// A network over sequences of steps, as a trainer needs it.
///
/// A network without state has sequences of one step.
package protocol SequenceNetwork: Sendable {
    /// The number of inputs in a step.
    var inputCount: Int { get }
    var classCount: Int { get }
    /// The widths of the recurrent states, in their order.
    var stateWidths: [Int] { get }
    /// The dropouts: the rate, and the number of values in a step.
    var dropouts: [(rate: Double, width: Int)] { get }
    /// The widths of the values that are batch-normalised in training.
    var normalizedWidths: [Int] { get }

    /// The penalties of the loss: a parameter's index, and the factor of the sum of its squares.
    var penalties: [(parameter: Int, factor: Double)] { get }

    /// The initial parameters.
    func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)]

    /// Appends the network to a graph.
    ///
    /// - Parameters:
    ///   - builder: The graph to append to.
    ///   - x: The inputs [steps, batch, inputs].
    ///   - parameters: The parameters, in the order of `firstParameters`.
    ///   - states: [batch, width] each.
    ///   - parts: The parts that differ between training and prediction.
    /// - Returns: The logits [steps · batch, classes], step by step, and the states after the last step.
    /// - Throws: An error when the values do not have these shapes.
    func append(
        to builder: inout GraphBuilder,
        x: ValueID,
        parameters: [ValueID],
        states: [ValueID],
        parts: inout NetworkParts
    ) throws(ModelError) -> (logits: ValueID, states: [ValueID])
}

extension SequenceNetwork {
    package var penalties: [(parameter: Int, factor: Double)] { [] }
}

/// The differences between training and prediction inside a network.
package struct NetworkParts {
    /// The weight of each row of the mini-batch, [rows, 1], summing to 1; `nil` in prediction.
    let weights: ValueID?
    /// In training the dropout masks, [rows, width], in the order of the dropouts.
    var masks: [ValueID] = []
    /// In prediction mean and variance of each batch normalisation.
    var statistics: [(mean: ValueID, variance: ValueID)] = []
    /// In training mean and variance of this mini-batch, [1, width] each.
    private(set) var measured: [(mean: ValueID, variance: ValueID)] = []

    init(weights: ValueID?) { self.weights = weights }

    /// Applies dropout to `values` [rows, width] in training.
    mutating func dropping(_ values: ValueID, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
        guard weights != nil else { return values }
        return try builder.add(Binary<Mul>(), values, masks.removeFirst())
    }

    /// (x − mean) / √(variance + epsilon) of `values` [rows, width], column by column.
    mutating func normalized(
        _ values: ValueID,
        epsilon: Double,
        _ builder: inout GraphBuilder
    ) throws(ModelError) -> ValueID {
        let (mean, variance): (ValueID, ValueID)
        let centred: ValueID
        if let weights {
            mean = try builder.add(
                Reduction<SumOfElements>(axes: [0], keepsDimensions: true),
                builder.add(Binary<Mul>(), values, weights)
            )
            centred = try builder.add(Binary<Sub>(), values, mean)
            variance = try builder.add(
                Reduction<SumOfElements>(axes: [0], keepsDimensions: true),
                builder.add(Binary<Mul>(), builder.add(Unary(Square()), centred), weights)
            )
            measured.append((mean, variance))
        } else {
            (mean, variance) = statistics.removeFirst()
            centred = try builder.add(Binary<Sub>(), values, mean)
        }
        return try builder.add(Binary<Mul>(), centred, builder.add(Unary(Rsqrt(epsilon: epsilon)), variance))
    }
}

extension GraphBuilder {
    mutating func reshaped(_ value: ValueID, _ shape: [Int]) throws(ModelError) -> ValueID {
        let target = constant(Tensor(shape.map { Int32(clamping: $0) }, shape: [shape.count]))
        return try add(Reshape(), value, target)
    }
}

extension Tensor {
    /// Initial weights of a layer, uniform in ±√(6 / (inputs + outputs)) (Glorot and Bengio).
    static func glorot(
        _ shape: [Int],
        inputs: Int,
        outputs: Int,
        _ source: inout SplitMix64
    ) -> Tensor {
        let bound = (6 / Double(inputs + outputs)).squareRoot()
        return Tensor((0..<shape.reduce(1, *)).map { _ in Float((2 * source.unit() - 1) * bound) }, shape: shape)
    }

    static func zeros(_ shape: [Int]) -> Tensor { Tensor(uninitialized: .float32, shape: shape, zeroed: true) }

    var floats: [Float] { withElements(of: Float.self) { Array($0) } }
}
