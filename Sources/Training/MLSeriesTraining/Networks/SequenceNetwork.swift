package import MLGraph
package import MLNumerics
import MLOperators

/// A network over sequences of steps, as a trainer sees it.  A network without memory has sequences of one step.
package protocol SequenceNetwork: Sendable {
    /// Numbers of a step that go in.
    var inputCount: Int { get }
    var classCount: Int { get }
    /// The widths of what is kept from step to step, in the order of the parts.
    var stateWidths: [Int] { get }
    /// The places where training drops values: the part that is dropped, and the values of a step.
    var dropouts: [(rate: Double, width: Int)] { get }
    /// The widths of the values that training normalises by their mean and variance over the mini-batch.
    var normalizedWidths: [Int] { get }

    /// The parameters before the first step.
    func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)]

    /// Appends the network to a graph.
    /// - Parameters:
    ///   - x: [steps, batch, inputs].
    ///   - parameters: in the order of `firstParameters`.
    ///   - states: [batch, width] each.
    /// - Returns: the logits [steps · batch, classes], step by step, and the states after the last step.
    func append(
        to builder: inout GraphBuilder,
        x: ValueID,
        parameters: [ValueID],
        states: [ValueID],
        parts: inout NetworkParts
    ) throws(ModelError) -> (logits: ValueID, states: [ValueID])
}

/// What differs between training and prediction inside a network.
package struct NetworkParts {
    /// The part of each row of the mini-batch, [rows, 1], summing to 1; `nil` in prediction.
    let weights: ValueID?
    /// While training: what values are multiplied with where some are dropped, [rows, width], in the order of the places.
    var masks: [ValueID] = []
    /// In prediction: mean and variance for each place that normalises.
    var statistics: [(mean: ValueID, variance: ValueID)] = []
    /// While training: mean and variance of this mini-batch, [1, width] each.
    private(set) var measured: [(mean: ValueID, variance: ValueID)] = []

    init(weights: ValueID?) { self.weights = weights }

    /// `values` [rows, width], of which training drops some.
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
    /// Weights of a layer with `inputs` and `outputs`, evenly between ±√(6 / (inputs + outputs)) (Glorot and Bengio).
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
