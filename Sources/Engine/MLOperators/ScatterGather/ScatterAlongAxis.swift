package import MLGraph
package import MLNumerics

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
        let place = try normalizedAxis(axis, rank: data.shape.count)
        let extent = data.shape[place]
        let inner = data.shape[(place + 1)...].reduce(1, *)
        let updates = operands[2].values
        var values = data.values
        guard !values.isEmpty else { return [data] }
        for (position, index) in indices.integers.enumerated() {
            let line = position / (indices.shape[place] * inner)
            let target = (line * extent + (try indexRule.place(index, extent: extent))) * inner + position % inner
            values[target] = mode(values[target], updates[position])
        }
        return [Tensor(values: values, scalarType: data.scalarType, shape: data.shape)]
    }
}
