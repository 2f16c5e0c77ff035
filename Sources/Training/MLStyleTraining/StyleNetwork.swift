package import MLGraph
package import MLNumerics
import MLOperators

/// A feed-forward network that draws an image in a style, after Johnson, Alahi and Fei-Fei (2016).
///
/// Two convolutions of stride 2 lead to a quarter of the size, where the residual blocks work; after one enlargement,
/// the last convolution computes blocks of 2 × 2 pixels. All convolutions pad by reflection, and all but the last are
/// followed by instance normalisation.
package struct StyleNetwork: Sendable, Hashable {
    /// The number of channels at half of the image's size.
    package let outerWidth: Int
    /// The number of channels at a quarter of the size.
    package let innerWidth: Int
    package let blockCount: Int

    package init(outerWidth: Int, innerWidth: Int, blockCount: Int) {
        self.outerWidth = outerWidth
        self.innerWidth = innerWidth
        self.blockCount = blockCount
    }

    /// The network of `.cnn`.
    package static let full = StyleNetwork(outerWidth: 32, innerWidth: 48, blockCount: 5)
    /// The network of `.cnnLite`: a quarter of the computation.
    package static let lite = StyleNetwork(outerWidth: 16, innerWidth: 24, blockCount: 3)

    /// The initial scale of the last convolution's sums, so that the sigmoid is not saturated.
    static let lastScale = 0.3
    /// The epsilon of instance normalisation.
    static let epsilon = 1e-5

    /// A convolution, and what comes before and after it.
    struct Layer {
        enum Role {
            /// Followed by normalisation and ReLU.
            case plain
            /// The first or second of a residual block.
            case first, second
            /// Preceded by an enlargement by 2, and followed by normalisation and ReLU.
            case enlarging
            /// Followed by the sigmoid and the rearrangement to pixels.
            case last
        }

        var name: String
        var role: Role
        var inputs: Int
        var outputs: Int
        var kernel: Int
        var stride = 1

        var shape: [Int] { [outputs, inputs, kernel, kernel] }
        var margin: Int { kernel / 2 }
    }

    var layers: [Layer] {
        let (a, b) = (outerWidth, innerWidth)
        var layers = [
            Layer(name: "half", role: .plain, inputs: 3, outputs: a, kernel: 5, stride: 2),
            Layer(name: "quarter", role: .plain, inputs: a, outputs: b, kernel: 3, stride: 2),
        ]
        for block in 0..<blockCount {
            layers.append(Layer(name: "block\(block + 1).first", role: .first, inputs: b, outputs: b, kernel: 3))
            layers.append(Layer(name: "block\(block + 1).second", role: .second, inputs: b, outputs: b, kernel: 3))
        }
        layers.append(Layer(name: "enlarged", role: .enlarging, inputs: b, outputs: a, kernel: 3))
        layers.append(Layer(name: "pixels", role: .last, inputs: a, outputs: 12, kernel: 3))
        return layers
    }

    /// The initial parameters: for each convolution its weights, then scale and offset of the normalisation, or the
    /// bias of the last one.
    package func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)] {
        var result: [(name: String, value: Tensor)] = []
        for layer in layers {
            let fanIn = layer.inputs * layer.kernel * layer.kernel
            // Uniform with the variance 2 / fanIn (He and others 2015).
            let bound = (6 / Double(fanIn)).squareRoot()
            func draw(_ count: Int, _ scale: Double) -> [Float] {
                (0..<count).map { _ in
                    Float((2 * Double(source.next() >> 11) / Double(1 << 53) - 1) * bound * scale)
                }
            }
            guard layer.role == .last else {
                result.append((layer.name + ".weights", Tensor(draw(layer.outputs * fanIn, 1), shape: layer.shape)))
                let ones = [Float](repeating: 1, count: layer.outputs)
                result.append((layer.name + ".scale", Tensor(ones, shape: [layer.outputs])))
                result.append((layer.name + ".offset", Tensor(ones.map { $0 - 1 }, shape: [layer.outputs])))
                continue
            }
            // The four pixels of a block begin equal, so that there is no pattern of blocks to unlearn.
            let colours = draw(3 * fanIn, Self.lastScale)
            result.append((layer.name + ".weights", Tensor(colours + colours + colours + colours, shape: layer.shape)))
            result.append((layer.name + ".bias", Tensor([Float](repeating: 0, count: 12), shape: [12])))
        }
        return result
    }

    /// Appends the network to a graph.
    ///
    /// - Parameters:
    ///   - builder: The graph to append to.
    ///   - image: [1, 3, H, W] from 0 to 1.
    ///   - parameters: The parameters in the order of `firstParameters`.
    /// - Returns: The drawn image, [1, 3, 4 · ⌈H / 4⌉, 4 · ⌈W / 4⌉] from 0 to 1.
    /// - Throws: An error when the values do not have these shapes.
    package func append(
        to builder: inout GraphBuilder,
        image: ValueID,
        parameters: [ValueID]
    ) throws(ModelError) -> ValueID {
        var remaining = parameters[...]
        let half = builder.constant(Tensor(scalar: 0.5, .float32))
        var x = try builder.add(Binary<Sub>(), image, half)
        var kept = x
        for layer in layers {
            if layer.role == .first { kept = x }
            if layer.role == .enlarging { x = try builder.add(UpsampleNearestNeighbor(.factors([2, 2]), .floor), x) }
            x = try builder.reflected(x, layer.margin)
            let weights = remaining.removeFirst()
            let convolution = Convolution(strides: [layer.stride, layer.stride])
            guard layer.role != .last else {
                x = try builder.add(convolution, x, weights, remaining.removeFirst())
                x = try builder.add(Unary(Sigmoid()), x)
                return try builder.add(DepthToSpace(blockSize: 2), x)
            }
            x = try builder.add(convolution, x, weights, nil)
            let (scale, offset) = (remaining.removeFirst(), remaining.removeFirst())
            x = try builder.add(InstanceNorm(epsilon: Self.epsilon), x, scale, offset)
            x =
                layer.role == .second
                ? try builder.add(Binary<Add>(), kept, x) : try builder.add(Unary(Relu()), x)
        }
        return x
    }

    /// The network as a graph: the inputs are the image and the parameters, the output is the drawn image.
    package func prediction(width: Int, height: Int) throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        let image = builder.input("picture", ValueType(.float32, Shape([1, 3, height, width])))
        var source = SplitMix64(seed: 0)
        let parameters = firstParameters(&source).map {
            builder.input($0.name, ValueType(.float32, Shape($0.value.shape)))
        }
        let drawn = try append(to: &builder, image: image, parameters: parameters)
        return builder.finished(outputs: [("drawn", drawn)])
    }
}

extension GraphBuilder {
    /// `x` with a margin of reflected pixels on its last two axes.
    mutating func reflected(_ x: ValueID, _ margin: Int) throws(ModelError) -> ValueID {
        try add(Pad(mode: .reflect), x, integers([Int](repeating: margin, count: 4)))
    }

    mutating func integers(_ values: [Int]) -> ValueID {
        constant(Tensor(values.map { Int32(clamping: $0) }, shape: [values.count]))
    }

    mutating func number(_ value: Double) -> ValueID { constant(Tensor(scalar: value, .float32)) }

    mutating func mean(_ x: ValueID) throws(ModelError) -> ValueID {
        try add(Reduction<MeanOfElements>(axes: nil, keepsDimensions: false), x)
    }

    mutating func sum(_ x: ValueID) throws(ModelError) -> ValueID {
        try add(Reduction<SumOfElements>(axes: nil, keepsDimensions: false), x)
    }

    mutating func squaredDifference(_ a: ValueID, _ b: ValueID) throws(ModelError) -> ValueID {
        try add(Unary(Square()), add(Binary<Sub>(), a, b))
    }
}
