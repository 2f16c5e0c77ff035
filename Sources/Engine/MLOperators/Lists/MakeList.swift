package import MLGraph
package import MLNumerics

/// A list of zeros.
///
/// Operands: length (a scalar). A list is stored as one tensor: the elements stacked on a new first axis. An unknown
/// element extent (`nil`) starts as 0 and is determined by the first element written.
package struct MakeList: Operator {
    package static let names: [MILName] = ["make_list"]
    package var elementShape: [Int?]
    package var scalarType: ScalarType

    package init(elementShape: [Int?], scalarType: ScalarType) {
        self.elementShape = elementShape
        self.scalarType = scalarType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        arguments.optionalOperand("init_length")
        // Lists grow when an element beyond their end is written, whether declared so or not.
        arguments.ignore("dynamic_length")
        elementShape = []
        if arguments.has("elem_shape") {
            for tensor in try arguments.tensors("elem_shape") {
                if tensor.scalarType == .string {
                    elementShape += tensor.strings.map { _ in nil }
                } else {
                    elementShape += tensor.integers.map { $0 < 0 ? nil : $0 }
                }
            }
        }
        let name = try arguments.string("dtype", default: "fp32")
        guard let type = ScalarType(milName: name), type != .string else {
            throw ModelError(.invalidModel, "list elements cannot be of type '\(name)'; use fp16, fp32, int32 or bool")
        }
        scalarType = type
    }

    package var widened: any Operator {
        guard scalarType == .float16 else { return self }
        var copy = self
        copy.scalarType = .float32
        return copy
    }

    package var shapeOperands: [Int] { [0] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let length: Dimension =
            operands.has(0) ? (operands.integers(0)?.first).map { Dimension($0) } ?? .unknown : 1
        let element = elementShape.map { $0.map { Dimension($0) } ?? .unknown }
        guard length.count ?? 0 >= 0 else { throw ModelError(.invalidModel, "a list cannot have the length \(length)") }
        return [ValueType(scalarType, [length] + element, kind: .list)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let length = operands.optional(0)?.integers.first ?? 1
        let shape = try extents([length] + elementShape.map { $0 ?? 0 })
        return [Tensor(uninitialized: scalarType, shape: shape, zeroed: true)]
    }
}
