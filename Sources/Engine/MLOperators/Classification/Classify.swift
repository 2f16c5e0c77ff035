package import MLGraph
package import MLNumerics

/// Pairs probabilities with class labels; the last operation of a classifier.
///
/// Operand: probabilities of any shape with one element for each class. Results: the label of the largest one (a
/// string or an int64 scalar), and the probabilities by label, as a vector in the order of `labels`.
package struct Classify: Operator {
    package static let names: [MILName] = ["classify"]

    package enum Labels: Hashable, Sendable, Codable {
        case strings([String])
        case integers([Int])

        package var count: Int {
            switch self {
            case .strings(let labels): labels.count
            case .integers(let labels): labels.count
            }
        }
    }

    package var labels: Labels

    package init(_ labels: Labels) { self.labels = labels }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("probabilities")
        guard let classes = try arguments.tensor("classes") else {
            throw ModelError(.invalidModel, "'\(arguments.operationName)' has no argument 'classes'")
        }
        labels = classes.scalarType == .string ? .strings(classes.strings) : .integers(classes.integers)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let probabilities = try operands.type(0)
        guard labels.count > 0, (probabilities.shape.elementCount.count ?? labels.count) == labels.count else {
            throw ModelError(
                .invalidModel,
                "\(labels.count) class labels do not fit probabilities of shape \(probabilities.shape)"
            )
        }
        let label: ScalarType =
            switch labels {
            case .strings: .string
            case .integers: .int64
            }
        return [
            ValueType(label, []), ValueType(probabilities.scalarType, [Dimension(labels.count)], kind: .dictionary),
        ]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let values = operands[0].values
        var best = 0
        for (index, value) in values.enumerated() where value > values[best] { best = index }
        let label: Tensor =
            switch labels {
            case .strings(let labels): Tensor(strings: [labels[best]], shape: [])
            case .integers(let labels): Tensor(elements: [Int64(labels[best])], scalarType: .int64, shape: [])
            }
        return [label, operands[0].reshaped([values.count])]
    }
}
