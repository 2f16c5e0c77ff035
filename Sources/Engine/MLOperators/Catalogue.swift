package import MLGraph

/// The operators that the readers know.
///
/// A value, not a registry: custom layers and tests create their own catalogues.
package struct Catalogue: Sendable {
    package let operators: [any Operator.Type]
    private let byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]]
    private var byField: [String: LayerRule]

    /// - Parameters:
    ///   - operators: Operators that no rule for layers belongs to.
    ///   - loweredFromLayers: Operators with rules, as a list of their own: to find out at run time whether a type has
    ///     rules, every conformance of the program would be searched for each.
    package init(_ operators: [any Operator.Type], loweredFromLayers: [any LoweredFromLayers.Type]) {
        self.operators = operators + loweredFromLayers.map { $0 }
        var byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]] = [:]
        for type in self.operators {
            for name in type.names { byName[name.name, default: []].append((name.opsets, type)) }
        }
        self.byName = byName
        var byField: [String: LayerRule] = [:]
        for type in loweredFromLayers {
            for rule in type.layers { byField[rule.field.lowercased()] = rule }
        }
        self.byField = byField
    }

    /// The catalogue with one additional kind of layer.
    package func adding(_ rule: LayerRule) -> Catalogue {
        var copy = self
        copy.byField[rule.field.lowercased()] = rule
        return copy
    }

    /// The operator that reads the MIL operation `name` as `opset` defines it.
    package func operatorType(named name: String, opset: Opset) -> (any Operator.Type)? {
        byName[name]?.first { $0.opsets.contains(opset) }?.type
    }

    /// The rule for the kind of layer in the field `name` of `NeuralNetworkLayer`, ignoring case: the generated code
    /// spells some fields differently.
    package func rule(forField name: String) -> LayerRule? { byField[name.lowercased()] }

    /// The operators that only passes and rules for layers create.
    private static let passOperators: [any Operator.Type] = [
        ConvolutionSeparable.self, DynamicLinear.self, FromGrid.self, IntegerProduct.self, OntoGrid.self, Relayout.self,
        RoundRows.self, ToGrid.self,
    ]

    /// The operators that graph files may contain: those of `standard` and those that only passes create, by the names
    /// that `GraphEncoder` writes.
    package static let writtenOperators: [String: any Operator.Type] = {
        var types: [String: any Operator.Type] = [:]
        for type in standard.operators + passOperators { types[GraphEncoder.name(of: type)] = type }
        return types
    }()
}
