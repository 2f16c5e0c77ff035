import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Builds a neural network layer by layer.
///
/// ```swift
/// var builder = NeuralNetworkBuilder()
/// let image = builder.input("image", .image(width: 28, height: 28, color: .grayscale), .scaled(by: 1 / 255))
/// var x = builder.convolution("conv", image, outputChannels: 8, kernel: (3, 3), weights: w, bias: b)
/// x = builder.activation("relu", .relu, x)
/// x = builder.flatten("flat", x)
/// x = builder.innerProduct("fc", x, outputChannels: 10, weights: v, bias: c)
/// x = builder.softmax("softmax", x)
/// builder.classifier(labels: .strings(digits), probabilities: x)
/// try builder.finished().write(to: url)
/// ```
///
/// Each layer takes the names of values and returns the name of its result: `output` if it is stated, else the layer's
/// own name. Layers are listed in the order in which they are computed. A call never throws: an error in it is recorded
/// and thrown, with the layer's name, by `finished()`.
///
/// **Shapes.** With `ArrayMapping.exact` (specification version 4) every value has the rank that its input declares,
/// and images are [1, C, H, W]. With `ArrayMapping.rank5`, the only mapping of older systems, every value is [Sequence,
/// Batch, C, H, W]; inputs are declared as [C] or [C, H, W]. Layers for images take the last three axes as C, H, W with
/// either.
public struct NeuralNetworkBuilder: Sendable {
    /// The relation between a caller's arrays and the values of layers.
    public enum ArrayMapping: Hashable, Sendable { case exact, rank5 }

    /// The name of a value: an input or the result of a layer.
    public typealias Value = String

    /// The relation between a caller's arrays and the values of layers.
    public let arrays: ArrayMapping
    /// The metadata of the model.
    public var metadata = ModelMetadata()

    var layers: [SpecNeuralNetworkLayer] = []
    var preprocessing: [SpecNeuralNetworkPreprocessing] = []
    var inputs: [SpecFeatureDescription] = []
    var outputs: [SpecFeatureDescription] = []
    var trainingInputs: [SpecFeatureDescription] = []
    var end = End.network
    var update: NetworkUpdate?
    /// The output that a regressor predicts.
    var predictedFeature = ""
    /// The errors in the calls so far.
    var problems: [ModelError] = []

    /// The kind of model that the network becomes.
    enum End {
        case network
        case regressor
        case classifier(ModelLabels, probabilities: String, feature: String, probabilitiesFeature: String)
    }

    /// Creates a builder of a network without layers; `exact` arrays by default.
    public init(arrays: ArrayMapping = .exact) { self.arrays = arrays }

    /// The names of the layers so far, in order.
    public var layerNames: [String] { layers.map(\.name) }

    // MARK: Adding

    /// Appends a layer and returns the name of its result.
    mutating func add(
        _ name: String,
        _ inputs: [Value],
        _ output: Value?,
        _ kind: SpecNeuralNetworkLayer.OneOf_Layer
    ) -> Value {
        add(name, inputs, outputs: [output ?? name], kind)[0]
    }

    /// Appends a layer with any number of results.
    @discardableResult
    mutating func add(
        _ name: String,
        _ inputs: [Value],
        outputs: [Value],
        _ kind: SpecNeuralNetworkLayer.OneOf_Layer
    ) -> [Value] {
        if name.isEmpty { problem("", "a layer needs a name") }
        layers.append(
            .with {
                $0.name = name
                $0.input = inputs
                $0.output = outputs
                $0.layer = kind
            }
        )
        return outputs
    }

    /// Records an error about the layer `name`.
    mutating func problem(_ name: String, _ message: String) {
        problems.append(
            ModelError(.invalidModel, message, at: name.isEmpty ? "layer \(layers.count)" : "layer '\(name)'")
        )
    }

    /// Returns the numbers as the model format has them; one below `minimum` is an error of the layer.
    mutating func natural(_ name: String, _ subject: String, _ values: [Int], atLeast minimum: Int = 0) -> [UInt64] {
        for value in values where value < minimum {
            problem(name, "\(subject) is \(value); it must be \(minimum) or more")
        }
        return values.map { UInt64(clamping: $0) }
    }

    mutating func natural(_ name: String, _ subject: String, _ value: Int, atLeast minimum: Int = 0) -> UInt64 {
        natural(name, subject, [value], atLeast: minimum)[0]
    }

    /// The same as `natural`, for fields of 32 bits.
    mutating func natural32(_ name: String, _ subject: String, _ value: Int, atLeast minimum: Int = 0) -> Int32 {
        Int32(clamping: natural(name, subject, value, atLeast: minimum))
    }

    /// Returns the weights as the model format has them; `count`, when it is known, is their required number.
    mutating func weights(
        _ name: String,
        _ subject: String,
        _ weights: LayerWeights,
        count: Int? = nil,
        channels: Int? = nil
    ) -> SpecWeightParams {
        if let problem = weights.problem(channels: channels) {
            self.problem(name, "\(subject): \(problem)")
            return SpecWeightParams()
        }
        if let count, count != weights.count {
            problem(name, "\(subject): there are \(weights.count) values where \(count) are needed")
        }
        return weights.specification
    }

    /// Returns weights of a shape, whose number must be the product of its extents.
    mutating func weights(
        _ name: String,
        _ subject: String,
        _ weights: LayerWeights,
        shape: [Int],
        channels: Int? = nil
    ) -> SpecWeightParams {
        var count = 1
        for extent in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: max(extent, 0))
            count = overflow ? .max : product
        }
        return self.weights(name, subject, weights, count: count, channels: channels)
    }
}
