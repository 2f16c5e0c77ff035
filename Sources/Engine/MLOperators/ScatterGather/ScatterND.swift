package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// `data` with the slices whose leading indices are listed in the last axis of `indices` combined with those of
/// `updates`.
///
/// Operands: data [D], indices [K…, n], updates K + D[n...]. Result: like data. With m `leadingIndices` only the slice of
/// data at them is changed: indices count the axes behind the first m, and updates are K + D[(m + n)...].
package struct ScatterND: Operator {
    package static let names: [MILName] = ["scatter_nd"]
    package var mode: ScatterMode
    package var indexRule: IndexRule
    /// The position on each of the first axes, from 0; a slice of a state that a model updates in place.
    package var leadingIndices: [Int]

    package init(mode: ScatterMode, indexRule: IndexRule = IndexRule(), leadingIndices: [Int] = []) {
        self.mode = mode
        self.indexRule = indexRule
        self.leadingIndices = leadingIndices
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("data")
        try arguments.operand("indices")
        try arguments.operand("updates")
        mode = try ScatterMode(reading: &arguments)
        indexRule = try IndexRule(reading: &arguments)
        leadingIndices = []
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        guard let length = indices.last?.count else {
            throw ModelError(.unknownRank, "the last extent of the indices must be known; give it a fixed length")
        }
        let lead = leadingIndices.count
        guard lead + length <= type.rank else {
            throw ModelError(.invalidModel, "\(lead + length) indices are too many for rank \(type.rank)")
        }
        for (axis, index) in leadingIndices.enumerated() {
            guard index >= 0, type.shape[axis].count.map({ index < $0 }) ?? true else {
                throw ModelError(.invalidModel, "axis \(axis) of \(type) has no element \(index)")
            }
        }
        _ = try unified(Shape(indices.dropLast() + type.shape[(lead + length)...]), operands.shape(2))
        return [type]
    }

    /// The number of elements in front of the slice at the leading indices, and the slice's shape.
    private func slice(of shape: [Int]) -> (offset: Int, shape: [Int]) {
        let offset = zip(leadingIndices, shape).reduce(0) { $0 * $1.1 + $1.0 }
        let inner = Array(shape[leadingIndices.count...])
        return (offset * inner.reduce(1, *), inner)
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let data = operands[0]
        let indices = operands[1]
        let length = indices.shape[indices.shape.count - 1]
        let target = slice(of: data.shape)
        let slice = target.shape[length...].reduce(1, *)
        let starts = try indexRule.starts(
            indices.integers,
            length: length,
            groups: indices.shape.dropLast().reduce(1, *),
            axes: Array(target.shape[..<length])
        )
        let updates = operands[2].values
        var values = data.values
        guard !values.isEmpty else { return [data] }
        for (position, update) in updates.enumerated() {
            let element = target.offset + starts[position / slice] * slice + position % slice
            values[element] = mode(values[element], update)
        }
        return [Tensor(values: values, scalarType: data.scalarType, shape: data.shape)]
    }
}

extension ScatterND: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatterND", \.scatterNd) { parameters, context throws(ModelError) in
                try context.scatter(ScatterND(mode: try ScatterMode(parameters.mode)))
            }
        ]
    }
}

extension ScatterND {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        // A kernel cannot report an index outside.
        guard let data = request.operand(0), let indices = IndexSource(request, 1), !indexRule.isValidated,
            request.operand(2)?.scalarType == data.scalarType, let kernel = ScatterKernel(mode, data.scalarType),
            let length = request.operand(1)?.logicalShape.last, length > 0, length <= 8, data.count > 0
        else { return [] }
        let target = slice(of: data.logicalShape)
        let extents = Array(target.shape[..<length])
        let slice = target.shape[length...].reduce(1, *)
        let byteCount = data.byteCount
        let byteOffset = data.scalarType.byteCount(of: target.offset)
        return [
            Kernel(
                "scatter slices",
                scratchByteCount: indices.scratchByteCount,
                inPlaceOperands: [0],
                body: { context in
                    ByteCopy.run(context.operand(0), context.result(), byteCount: byteCount)
                    kernel.slices(
                        context.result() + byteOffset,
                        extents: extents,
                        slice: slice,
                        indices: indices.pointer(context),
                        count: indices.count / length,
                        updates: context.operand(2)
                    )
                }
            )
        ]
    }
}
