import MLNumerics

extension Graph: CustomStringConvertible {
    /// The graph in the style of MIL text: one operation per line, with the operator's attributes.
    package var description: String {
        let inputs = body.inputs.map { "\(type(of: $0)) \(label($0))" }.joined(separator: ", ")
        var lines = ["func main(\(inputs)) {"]
        write(body, indent: "    ", into: &lines)
        let outputs = zip(outputNames, body.outputs).map { "\($0): \(label($1))" }.joined(separator: ", ")
        lines.append("} -> (\(outputs))")
        return lines.joined(separator: "\n")
    }

    /// The name of a value in printed text.
    package func label(_ id: ValueID) -> String {
        let value = self[id]
        if let tensor = value.constant, tensor.count <= 8, tensor.scalarType != .string {
            let numbers = tensor.values.map { $0 == $0.rounded() && abs($0) < 1e15 ? "\(Int($0))" : "\(Float($0))" }
            return tensor.shape.isEmpty ? numbers[0] : "[\(numbers.joined(separator: ", "))]"
        }
        return value.name.isEmpty ? "%\(id.index)" : value.name
    }

    private func write(_ block: Block, indent: String, into lines: inout [String]) {
        for operation in block.operations {
            let results = operation.results.map { "\(type(of: $0)) \(label($0))" }.joined(separator: ", ")
            var operands = operation.operands.map { $0.map(label) ?? "none" }
            operands += Mirror(reflecting: operation.op).children.compactMap { child in
                child.label.map { "\($0) = \(attributeText(child.value))" }
            }
            lines.append("\(indent)\(results) = \(operation.op.displayName)(\(operands.joined(separator: ", ")))")
            for inner in operation.blocks {
                lines.append("\(indent){(\(inner.inputs.map(label).joined(separator: ", ")))")
                write(inner, indent: indent + "    ", into: &lines)
                lines.append("\(indent)} -> (\(inner.outputs.map(label).joined(separator: ", ")))")
            }
        }
    }
}

/// An attribute as text: `none` for a missing value, and a present one as it is, also within lists and structures.
private func attributeText(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { attributeText($0.value) } ?? "none"
    case .collection: return "[\(mirror.children.map { attributeText($0.value) }.joined(separator: ", "))]"
    case .struct, .tuple:
        guard !(value is any CustomStringConvertible) else { return "\(value)" }
        let fields = mirror.children.map { child in
            (child.label.map { $0.hasPrefix(".") ? "" : "\($0): " } ?? "") + attributeText(child.value)
        }
        let name = mirror.displayStyle == .struct ? "\(mirror.subjectType)" : ""
        return "\(name)(\(fields.joined(separator: ", ")))"
    default: return "\(value)"
    }
}
