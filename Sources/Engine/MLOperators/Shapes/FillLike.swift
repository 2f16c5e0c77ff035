package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// A tensor of one value with the shape of the operand.
package struct FillLike: Operator {
    package static let names: [MILName] = ["fill_like"]
    package var value: Double
    package var scalarType: ScalarType

    package init(value: Double, scalarType: ScalarType) {
        self.value = value
        self.scalarType = scalarType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("ref_tensor")
        scalarType = arguments.type("value")?.scalarType ?? .float32
        value = try arguments.float("value", default: 0)
    }

    package var widened: any Operator {
        guard scalarType == .float16 else { return self }
        var copy = self
        copy.scalarType = .float32
        return copy
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(scalarType, try operands.shape(0))]
    }

    package func knownResults(_ operands: Operands) -> [Tensor]? {
        guard let shape = (try? operands.shape(0))?.counts, shape.elementCount <= 1 << 16 else { return nil }
        return [Tensor(repeating: value, scalarType, shape: shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [Tensor(repeating: value, scalarType, shape: operands[0].shape)]
    }
}

extension FillLike: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("fillLike", \.fillLike) { parameters, context throws(ModelError) in
                let op = FillLike(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension FillLike {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let width = scalarType.copyWidth else { return [] }
        let count = request.results[0].count
        let constant = Tensor(scalar: value, scalarType)
        return [
            Kernel("fill") { context in
                MLKernels.Fill.run(context.result(), elementByteCount: width, value: constant.address, count: count)
            }
        ]
    }
}

extension FillLike {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}
