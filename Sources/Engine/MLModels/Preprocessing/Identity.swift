package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Returns its inputs under the same names, or, when there is one input and one output, under the output's name.
package struct Identity: ColumnEngine {
    package let interface: SpecModelDescription
    /// The outputs' names and those of the inputs that they repeat.
    private let pairs: [(output: String, input: String)]

    package init(_ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        var pairs: [(output: String, input: String)] = []
        for output in interface.output {
            let isRenamed = interface.input.count == 1 && interface.output.count == 1
            guard let input = isRenamed ? interface.input[0] : interface.input.first(where: { $0.name == output.name })
            else {
                throw ModelError(.invalidModel, "the output '\(output.name)' of the identity is not one of its inputs")
            }
            guard input.kind == output.kind else {
                throw ModelError(
                    .invalidModel,
                    "the identity's input '\(input.name)' is \(input.kind), its output '\(output.name)' is \(output.kind)"
                )
            }
            pairs.append((output.name, input.name))
        }
        self.pairs = pairs
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        var columns: [String: FeatureColumn] = [:]
        for pair in pairs { columns[pair.output] = try batch.column(pair.input).copied() }
        return columns
    }
}

extension FeatureColumn {
    /// A copy in separate memory, so that callers may write to it.
    func copied() -> FeatureColumn {
        switch self {
        case .arrays(let tensor): return .arrays(tensor.copied())
        case .values(let values):
            return .values(
                values.map {
                    guard case .tensor(let tensor) = $0 else { return $0 }
                    return .tensor(tensor.copied())
                }
            )
        default: return self
        }
    }
}

extension Tensor {
    fileprivate func copied() -> Tensor {
        let copy = Tensor(uninitialized: scalarType, shape: shape)
        withExtendedLifetime(storage) { copy.address.copyMemory(from: address, byteCount: byteCount) }
        return copy
    }
}
