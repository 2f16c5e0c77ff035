package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// `data` with each element of `updates` combined at its own position, except along `axis`, where the index is used.
///
/// Operands: data, indices of the same rank and, except along `axis`, the same extents, updates like indices.
package struct ScatterAlongAxis: Operator {
    package static let names: [MILName] = ["scatter_along_axis"]
    package var axis: Int
    package var mode: ScatterMode
    package var indexRule: IndexRule

    package init(axis: Int, mode: ScatterMode, indexRule: IndexRule = IndexRule()) {
        self.axis = axis
        self.mode = mode
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("data")
        try arguments.operand("indices")
        try arguments.operand("updates")
        axis = try arguments.int("axis", default: 0)
        mode = try ScatterMode(reading: &arguments)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        try requireAlike(type.shape, indices, except: operands.axis(axis))
        _ = try unified(indices, operands.shape(2))
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let data = operands[0]
        let indices = operands[1]
        let axisIndex = try normalizedAxis(axis, rank: data.shape.count)
        let extent = data.shape[axisIndex]
        let inner = data.shape[(axisIndex + 1)...].reduce(1, *)
        let updates = operands[2].values
        var values = data.values
        guard !values.isEmpty else { return [data] }
        for (position, index) in indices.integers.enumerated() {
            let line = position / (indices.shape[axisIndex] * inner)
            let target = (line * extent + (try indexRule.position(index, extent: extent))) * inner + position % inner
            values[target] = mode(values[target], updates[position])
        }
        return [Tensor(values: values, scalarType: data.scalarType, shape: data.shape)]
    }
}

extension ScatterAlongAxis: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatterAlongAxis", \.scatterAlongAxis) { parameters, context throws(ModelError) in
                let mode = try ScatterMode(parameters.mode)
                try context.scatter(ScatterAlongAxis(axis: Int(clamping: parameters.axis), mode: mode))
            }
        ]
    }
}

extension ScatterAlongAxis {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let data = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            request.operand(2)?.scalarType == data.scalarType, let kernel = ScatterKernel(mode, data.scalarType),
            let axisIndex = try? normalizedAxis(axis, rank: data.logicalShape.count), data.count > 0,
            let count = request.operand(1)?.logicalShape[axisIndex]
        else { return [] }
        let lines = Lines(shape: data.logicalShape, axis: axisIndex)
        let byteCount = data.byteCount
        return [
            Kernel(
                "scatter elements",
                scratchByteCount: indices.scratchByteCount,
                inPlaceOperands: [0],
                body: { context in
                    ByteCopy.run(context.operand(0), context.result(), byteCount: byteCount)
                    kernel.alongAxis(
                        context.result(),
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        indices: indices.pointer(context),
                        count: count,
                        updates: context.operand(2)
                    )
                }
            )
        ]
    }
}
