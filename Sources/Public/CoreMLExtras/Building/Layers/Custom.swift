import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// A parameter that a custom layer's class is given.
    public enum CustomParameter: Hashable, Sendable {
        case double(Double)
        case string(String)
        case int32(Int32)
        case int64(Int64)
        case bool(Bool)
    }

    /// A layer that a class of the app computes (`MLCustomLayer`).
    /// - Parameters:
    ///   - className: what the class is registered as (`CustomLayers`).
    ///   - outputs: names for what it gives.
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
