import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// A parameter for a custom layer's class.
    public enum CustomParameter: Hashable, Sendable {
        /// A double-precision number.
        case double(Double)
        /// A string.
        case string(String)
        /// An integer of 32 bits.
        case int32(Int32)
        /// An integer of 64 bits.
        case int64(Int64)
        /// A Boolean.
        case bool(Bool)
    }

    /// Adds a layer that is computed by a class of the app (`MLCustomLayer`).
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - inputs: The values to process.
    ///   - className: The name under which the class is registered (`CustomLayers`).
    ///   - parameters: Parameters for the class, by name; none by default.
    ///   - weights: Weights for the class; none by default.
    ///   - description: A description for the model file.
    ///   - outputs: The names of the results.
    /// - Returns: The names of the results.
    @discardableResult
    public mutating func custom(
        _ name: String,
        _ inputs: [Value],
        className: String,
        parameters: [String: CustomParameter] = [:],
        weights: [LayerWeights] = [],
        description: String = "",
        outputs: [Value]
    ) -> [Value] {
        if className.isEmpty { problem(name, "a custom layer needs the name of a class") }
        var layer = SpecCustomLayerParams()
        layer.className = className
        layer.description_p = description
        layer.weights = weights.enumerated().map { self.weights(name, "weights \($0)", $1) }
        layer.parameters = parameters.mapValues { parameter in
            .with {
                switch parameter {
                case .double(let value): $0.doubleValue = value
                case .string(let value): $0.stringValue = value
                case .int32(let value): $0.intValue = value
                case .int64(let value): $0.longValue = value
                case .bool(let value): $0.boolValue = value
                }
            }
        }
        return add(name, inputs, outputs: outputs, .custom(layer))
    }
}
