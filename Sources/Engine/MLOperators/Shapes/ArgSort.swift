package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// The indices of the elements along `axis` in sorted order, descending or ascending; equal elements keep their order.
///
/// [d…] → [d…] of int32.
package struct ArgSort: Operator {
    package static let names: [MILName] = ["argsort"]
    package var axis: Int
    package var isAscending: Bool

    package init(axis: Int = -1, isAscending: Bool = false) {
        self.axis = axis
        self.isAscending = isAscending
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis", default: -1)
        isAscending = try arguments.bool("ascending", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.axis(axis)
        return [try operands.numericType(0).with(.int32)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let position = try normalizedAxis(axis, rank: x.shape.count)
        let order = sortedIndices(x.values, shape: x.shape, axis: position, isAscending: isAscending)
        return [Tensor(order.map(Int32.init(truncatingIfNeeded:)), shape: x.shape)]
    }
}

extension ArgSort: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("argSort", \.argSort) { parameters, context throws(ModelError) in
                let op = ArgSort(axis: Int(clamping: parameters.axis), isAscending: !parameters.descending)
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension ArgSort {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32 || x.scalarType == .int32,
            let position = try? normalizedAxis(axis, rank: x.logicalShape.count), x.count > 0
        else { return [] }
        let lines = Lines(shape: x.logicalShape, axis: position)
        let (isInteger, isAscending) = (x.scalarType == .int32, isAscending)
        return [
            Kernel("sort") { context in
                SortKernel.run(
                    context.operand(0),
                    outer: lines.outer,
                    axis: lines.count,
                    inner: lines.stride,
                    count: lines.count,
                    isInteger: isInteger,
                    isAscending: isAscending,
                    values: nil,
                    positions: context.resultIntegers()
                )
            }
        ]
    }
}

extension ArgSort {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis) { ArgSort(axis: $0, isAscending: isAscending) }
    }
}
