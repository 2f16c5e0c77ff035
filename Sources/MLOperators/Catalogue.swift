package import MLGraph

/// The operators that the readers know.
///
/// A value, not a registry: custom layers and tests make catalogues of their own.
package struct Catalogue: Sendable {
    package let operators: [any Operator.Type]
    private let byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]]
    private let byField: [String: LayerRule]

    package init(_ operators: [any Operator.Type]) {
        self.operators = operators
        var byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]] = [:]
        for type in operators {
            for name in type.names { byName[name.name, default: []].append((name.opsets, type)) }
        }
        self.byName = byName
        var byField: [String: LayerRule] = [:]
        for case let type as any LoweredFromLayers.Type in operators {
            for rule in type.layers { byField[rule.field.lowercased()] = rule }
        }
        self.byField = byField
    }

    /// The operator that reads the MIL operation `name` as `opset` defines it.
    package func operatorType(named name: String, opset: Opset) -> (any Operator.Type)? {
        byName[name]?.first { $0.opsets.contains(opset) }?.type
    }

    /// The rule for the kind of layer that the field `name` of `NeuralNetworkLayer` holds.  Case does not count: the
    /// generated code spells some fields in its own way.
    package func rule(forField name: String) -> LayerRule? { byField[name.lowercased()] }

    /// Everything this package builds, by family.
    package static let standard = Catalogue([
        Cast.self,
        Regroup.self,
        // Convolution
        Convolution.self, ConvolutionQuantized.self, ConvolutionTransposed.self,
        // Linear
        Einsum.self, Linear.self, MatMul.self,
        // Normalization
        BatchNorm.self, InstanceNorm.self, L2Norm.self, LayerNorm.self, LocalResponseNorm.self,
        // Pooling
        AveragePool.self, L2Pool.self, MaxPool.self,
    ])
}
