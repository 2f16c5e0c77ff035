import Glibc
import MLGraph
import MLGraphTraining
import MLNumerics
import MLOperators

/// A convolution of a detector, with "same" padding and biases.
///
/// Hidden ones are normalised and rectified: their biases are added to the normalised values.
struct DetectionLayer: Sendable, Hashable {
    /// Added to variances.
    static let epsilon = 1e-3

    var name: String
    var inputs: Int
    var outputs: Int
    var kernel: Int
    var stride = 1
    /// Whether batch normalisation and ReLU follow.
    var isHidden = false

    var shape: [Int] { [outputs, inputs, kernel, kernel] }
    var weightsName: String { name + ".weights" }
    var biasName: String { name + ".bias" }
    var gainName: String { name + ".gain" }
    var meanName: String { name + ".mean" }
    var varianceName: String { name + ".variance" }

    /// The parameters: weights and biases, and the gains of a hidden layer.
    var parameters: [(name: String, shape: [Int])] {
        [(weightsName, shape), (biasName, [outputs])] + (isHidden ? [(gainName, [outputs])] : [])
    }

    /// The statistics of a hidden layer, [outputs] each, whose moving means predictions are normalised with.
    var statistics: [String] { isHidden ? [meanName, varianceName] : [] }

    /// The initial parameters.
    ///
    /// Weights are uniform with the variance 2 / fanIn before ReLU (He and others 2015), 1 / fanIn elsewhere.
    ///
    /// - Parameters:
    ///   - source: The source of random numbers.
    ///   - share: The share of this variance.
    ///   - bias: The biases.
    /// - Returns: The tensors of `parameters`.
    func firstParameters(_ source: inout SplitMix64, share: Double = 1, bias: Double = 0) -> [Tensor] {
        let fanIn = inputs * kernel * kernel
        let bound = (3 * share * (isHidden ? 2 : 1) / Double(fanIn)).squareRoot()
        let weights = (0..<outputs * fanIn).map { _ in
            Float((2 * Double(source.next() >> 11) * 0x1p-53 - 1) * bound)
        }
        func vector(_ value: Double) -> Tensor {
            Tensor([Float](repeating: Float(value), count: outputs), shape: [outputs])
        }
        return [Tensor(weights, shape: shape), vector(bias)] + (isHidden ? [vector(1)] : [])
    }
}

/// Builds the layers of a detector: of the graph that is trained, or of the network that is written.
protocol DetectionLayerBuilder {
    associatedtype Value
    associatedtype Failure: Error

    mutating func convolution(_ x: Value, _ layer: DetectionLayer) throws(Failure) -> Value
    mutating func sum(_ x: Value, _ y: Value, _ name: String) throws(Failure) -> Value
    /// Twice the rows and columns, each repeated.
    mutating func enlarged(_ x: Value, _ name: String) throws(Failure) -> Value
}

/// Appends layers to a graph whose inputs are their parameters.
struct DetectionGraphBuilder: DetectionLayerBuilder {
    var builder: GraphBuilder
    private var parameters: [String: ValueID] = [:]
    /// The statistics of the batch by their names.
    private(set) var statistics: [String: ValueID] = [:]

    /// Adds the parameters of layers as inputs of the graph.
    init(_ builder: GraphBuilder, layers: [DetectionLayer]) {
        self.builder = builder
        for parameter in layers.flatMap(\.parameters) {
            parameters[parameter.name] = self.builder.input(
                parameter.name,
                ValueType(.float32, Shape(parameter.shape))
            )
        }
    }

    private func parameter(_ name: String) -> ValueID {
        guard let value = parameters[name] else { preconditionFailure("no parameter is named \(name)") }
        return value
    }

    mutating func convolution(_ x: ValueID, _ layer: DetectionLayer) throws(ModelError) -> ValueID {
        let convolution = Convolution(strides: [layer.stride, layer.stride], padding: .same)
        let (weights, bias) = (parameter(layer.weightsName), parameter(layer.biasName))
        guard layer.isHidden else { return try builder.add(convolution, x, weights, bias) }
        let results = try builder.append(
            BatchStatisticsNorm(epsilon: DetectionLayer.epsilon),
            [builder.add(convolution, x, weights), parameter(layer.gainName), bias]
        )
        (statistics[layer.meanName], statistics[layer.varianceName]) = (results[1], results[2])
        return try builder.add(Unary(Relu()), results[0])
    }

    mutating func sum(_ x: ValueID, _ y: ValueID, _ name: String) throws(ModelError) -> ValueID {
        try builder.add(Binary<Add>(), x, y)
    }

    mutating func enlarged(_ x: ValueID, _ name: String) throws(ModelError) -> ValueID {
        try builder.add(UpsampleNearestNeighbor(.factors([2, 2]), .floor), x)
    }
}
