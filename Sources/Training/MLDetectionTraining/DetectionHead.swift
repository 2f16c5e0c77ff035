import Glibc
import MLGraph
import MLNumerics
import MLOperators

/// The trained part of a detector: from features at three strides to centres and sides of objects.
///
/// Features at the strides 32, 16 and 8 are projected to one number of channels (1 × 1), and added from the coarse to
/// the fine, each sum followed by a convolution (3 × 3) and ReLU. Two branches, each a convolution, ReLU and a
/// convolution of 1 × 1, give the logits of the labels' centres, and logarithms of the distances to the four sides in
/// cells.
struct DetectionHead: Sendable, Hashable {
    static let width = 64
    /// The logarithms of distances lie between these.
    static let distances = (minimum: -3.5, maximum: 5.0)
    /// The probability of a centre at first.
    static let firstProbability = 0.02

    /// The numbers of channels of the features at the strides 8, 16 and 32.
    let channels: [Int]
    let labelCount: Int

    struct Layer: Hashable {
        var name: String
        var inputs: Int
        var outputs: Int
        var kernel: Int

        var shape: [Int] { [outputs, inputs, kernel, kernel] }
    }

    /// The layers by their names: `lateral8`, `lateral16`, `lateral32`, `merged8`, …, `centres.hidden`, `centres`,
    /// `sides.hidden`, `sides`.
    var layers: [Layer] {
        let width = Self.width
        var result: [Layer] = []
        for (index, count) in channels.enumerated() {
            let stride = DetectionGrid.stride << index
            result.append(Layer(name: "lateral\(stride)", inputs: count, outputs: width, kernel: 1))
            result.append(Layer(name: "merged\(stride)", inputs: width, outputs: width, kernel: 3))
        }
        for (name, outputs) in [("centres", labelCount), ("sides", 4)] {
            result.append(Layer(name: name + ".hidden", inputs: width, outputs: width, kernel: 3))
            result.append(Layer(name: name, inputs: width, outputs: outputs, kernel: 1))
        }
        return result
    }

    /// The names of the parameters: for each layer its weights and its biases.
    var parameterNames: [String] { layers.flatMap { [$0.name + ".weights", $0.name + ".bias"] } }

    /// The initial parameters in the order of `parameterNames`.
    ///
    /// - Parameters:
    ///   - source: The source of random numbers.
    ///   - distance: The usual distance of an object's centre from its sides, in cells.
    /// - Returns: The parameters.
    func firstParameters(_ source: inout SplitMix64, distance: Double) -> [Tensor] {
        var result: [Tensor] = []
        for layer in layers {
            let fanIn = layer.inputs * layer.kernel * layer.kernel
            let isLast = layer.name == "centres" || layer.name == "sides"
            // Uniform with the variance 2 / fanIn before ReLU (He and others 2015), 1 / fanIn elsewhere, less at the
            // end.
            let variance = (layer.kernel == 3 ? 2 : isLast ? 0.01 : 1) / Double(fanIn)
            let bound = (3 * variance).squareRoot()
            let weights = (0..<layer.outputs * fanIn).map { _ in
                Float((2 * Double(source.next() >> 11) * 0x1p-53 - 1) * bound)
            }
            result.append(Tensor(weights, shape: layer.shape))
            let bias: Double =
                switch layer.name {
                case "centres": -log(1 / Self.firstProbability - 1)
                case "sides": log(max(distance, 0.1))
                default: 0
                }
            result.append(Tensor([Float](repeating: Float(bias), count: layer.outputs), shape: [layer.outputs]))
        }
        return result
    }

    /// Appends the head to a graph.
    ///
    /// - Parameters:
    ///   - builder: The graph to append to.
    ///   - features: The features at the strides 8, 16 and 32, [N, C, h, w] each.
    ///   - parameters: The parameters in the order of `parameterNames`.
    /// - Returns: The logits of the centres, [N, labels, cells, cells], and the distances, [N, 4, cells, cells], in
    ///   cells.
    /// - Throws: An error when the values do not have these shapes.
    func append(
        to builder: inout GraphBuilder,
        features: [ValueID],
        parameters: [ValueID]
    ) throws(ModelError) -> (centres: ValueID, sides: ValueID) {
        var values: [String: (weights: ValueID, bias: ValueID)] = [:]
        for (index, layer) in layers.enumerated() {
            values[layer.name] = (parameters[2 * index], parameters[2 * index + 1])
        }
        func convolve(_ x: ValueID, _ name: String, isRectified: Bool) throws(ModelError) -> ValueID {
            guard let value = values[name] else { preconditionFailure("no layer is named \(name)") }
            let result = try builder.add(
                Convolution(strides: [1, 1], padding: .same),
                x,
                value.weights,
                value.bias
            )
            return isRectified ? try builder.add(Unary(Relu()), result) : result
        }
        var merged: ValueID?
        for index in channels.indices.reversed() {
            let stride = DetectionGrid.stride << index
            var x = try convolve(features[index], "lateral\(stride)", isRectified: false)
            if let coarse = merged {
                let larger = try builder.add(UpsampleNearestNeighbor(.factors([2, 2]), .floor), coarse)
                x = try builder.add(Binary<Add>(), x, larger)
            }
            merged = try convolve(x, "merged\(stride)", isRectified: true)
        }
        guard let merged else { preconditionFailure("a head without features") }
        let centres = try convolve(
            convolve(merged, "centres.hidden", isRectified: true),
            "centres",
            isRectified: false
        )
        let logarithms = try convolve(
            convolve(merged, "sides.hidden", isRectified: true),
            "sides",
            isRectified: false
        )
        let bounded = try builder.add(
            Unary(Clip(lower: Self.distances.minimum, upper: Self.distances.maximum)),
            logarithms
        )
        return (centres, try builder.add(Unary(Exp()), bounded))
    }
}
