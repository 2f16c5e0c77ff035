package import MLGraph
package import MLNumerics
package import MLSpecification

/// The conversion of one kind of neural-network layer to operations of the graph.
///
/// The rule is declared with the layer's main operator:
/// ```swift
/// static var layers: [LayerRule] {
///     [
///         LayerRule("tanh", \.tanh) { _, context throws(ModelError) in
///             context.setOutputs([try context.add(Tanh(), context.input())])
///         }
///     ]
/// }
/// ```
package struct LayerRule: Sendable {
    /// The name of the layer's field in `NeuralNetwork.proto`.
    package let field: String
    private let body: @Sendable (inout LayerContext) throws(ModelError) -> Void

    /// - Parameters:
    ///   - field: The name in the proto, such as `l2normalize`.
    ///   - path: The path of the layer's message.
    ///   - body: Reads the message, appends operations through the context, and calls `setOutputs`.
    package init<Parameters>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _ body: @escaping @Sendable (Parameters, inout LayerContext) throws(ModelError) -> Void
    ) {
        self.field = field
        self.body = { context throws(ModelError) in try body(context.layer[keyPath: path], &context) }
    }

    /// Appends the operations of the context's layer and sets its outputs.
    package func lower(_ context: inout LayerContext) throws(ModelError) { try body(&context) }
}

/// An operator that is the main operator of neural-network layers.
package protocol LoweredFromLayers: Operator {
    /// One rule for each kind of layer.
    static var layers: [LayerRule] { get }
}

extension SpecNeuralNetworkLayer {
    /// The name that `Catalogue.rule(forField:)` finds the layer's kind by; `nil` when the file has a kind that the
    /// specification of this package does not know.
    package var fieldName: String? {
        guard let layer else { return nil }
        return Mirror(reflecting: layer).children.first?.label
    }
}
