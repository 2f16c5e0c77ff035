package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `data` with the slices along `axis` at `indices` combined with those of `updates`.
///
/// Operands: data [D], indices [n], updates D[..<axis] + [n] + D[(axis + 1)...]. Result: like data.
package struct Scatter: Operator {
    package static let names: [MILName] = ["scatter"]
    package var axis: Int
    package var mode: ScatterMode
    package var indexRule: IndexRule
    /// Whether slices with an index outside 0..<D[axis] are skipped: from iOS 17 on, when indices are not validated.
    package var leavesOutOutside: Bool

    package init(axis: Int, mode: ScatterMode, indexRule: IndexRule = IndexRule(), leavesOutOutside: Bool = false) {
        self.axis = axis
        self.mode = mode
        self.indexRule = indexRule
        self.leavesOutOutside = leavesOutOutside
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("data")
        try arguments.operand("indices")
        try arguments.operand("updates")
        axis = try arguments.int("axis", default: 0)
        mode = try ScatterMode(reading: &arguments)
        let declaresValidation = arguments.has("validate_indices")
        indexRule = try IndexRule(reading: &arguments)
        leavesOutOutside = declaresValidation && !indexRule.isValidated
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        let axisIndex = try operands.axis(axis)
        _ = try unified(
            Shape(type.shape[..<axisIndex] + indices + type.shape[(axisIndex + 1)...]),
            operands.shape(2)
        )
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let data = operands[0]
        let axisIndex = try normalizedAxis(axis, rank: data.shape.count)
        let extent = data.shape[axisIndex]
        let inner = data.shape[(axisIndex + 1)...].reduce(1, *)
        let indices = operands[1].integers
        let updates = operands[2].values
        var positions: [Int?] = []
        for index in indices {
            let isLeftOut = leavesOutOutside && !(0..<extent).contains(index)
            positions.append(isLeftOut ? nil : try indexRule.position(index, extent: extent))
        }
        var values = data.values
        guard !values.isEmpty else { return [data] }
        for (position, update) in updates.enumerated() {
            let line = position / (positions.count * inner)
            guard let index = positions[position / inner % positions.count] else { continue }
            let target = (line * extent + index) * inner + position % inner
            values[target] = mode(values[target], update)
        }
        return [Tensor(values: values, scalarType: data.scalarType, shape: data.shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let data = request.operand(0), let indices = request.operand(1), let updates = request.operand(2),
            data.scalarType == updates.scalarType, let source = IndexSource(request, 1),
            indices.scalarType == .int32 || !indexRule.isValidated, let kernel = ScatterKernel(mode, data.scalarType),
            let axisIndex = try? normalizedAxis(axis, rank: data.logicalShape.count), data.count > 0
        else { return [] }
        let lines = Lines(shape: data.logicalShape, axis: axisIndex)
        let rule = indexRule
        let count = indices.count
        let byteCount = data.byteCount
        let leavesOutOutside = leavesOutOutside
        // Slices that are large enough are written once, rather than copied first and then replaced.
        let replaces = mode == .update && kernel.elementByteCount * lines.stride >= 64
        let ownersOffset = source.scratchByteCount
        return [
            Kernel(
                "scatter",
                scratchByteCount: ownersOffset + (replaces ? ScatterKernel.ownerByteCount(axis: lines.count) : 0),
                inPlaceOperands: [0],
                checked: { (context) throws(ModelError) in
                    try rule.check(context, operand: 1, count: count, extent: lines.count)
                    let indices = source.pointer(context)
                    if replaces, !context.isInPlace(0) {
                        kernel.replaced(
                            context.operand(0),
                            into: context.result(),
                            outer: lines.outer,
                            axis: lines.count,
                            inner: lines.stride,
                            indices: indices,
                            count: count,
                            updates: context.operand(2),
                            leavesOutOutside: leavesOutOutside,
                            owners: context.scratch + ownersOffset
                        )
                        return
                    }
                    ByteCopy.run(context.operand(0), context.result(), byteCount: byteCount)
                    let scatter = leavesOutOutside ? kernel.rowsInRange : kernel.rows
                    scatter(
                        context.result(),
                        lines.outer,
                        lines.count,
                        lines.stride,
                        indices,
                        count,
                        context.operand(2)
                    )
                }
            )
        ]
    }
}

extension Scatter: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatter", \.scatter) { parameters, context throws(ModelError) in
                let op = Scatter(axis: Int(clamping: parameters.axis), mode: try ScatterMode(parameters.mode))
                try context.scatter(op)
            }
        ]
    }
}
