package import MLGraph
package import MLNumerics

/// At each position of `indices` the element of `x` at the same position, except along `axis`, where the index is used.
///
/// Operands: x, indices of the same rank and, except along `axis`, the same extents. Result: the shape of indices.
package struct GatherAlongAxis: Operator {
    package static let names: [MILName] = ["gather_along_axis"]
    package var axis: Int
    package var indexRule: IndexRule

    package init(axis: Int, indexRule: IndexRule = IndexRule()) {
        self.axis = axis
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("indices")
        axis = try arguments.int("axis", default: 0)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let indices = try operands.integerType(1).shape
        let place = try operands.axis(axis)
        try requireAlike(type.shape, indices, except: place)
        return [type.with(indices)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let indices = operands[1]
        let place = try normalizedAxis(axis, rank: x.shape.count)
        let extent = x.shape[place]
        let inner = x.shape[(place + 1)...].reduce(1, *)
        guard extent > 0 || indices.count == 0 else {
            throw ModelError(.invalidInput, "axis \(axis) has no elements to gather")
        }
        let values = x.values
        var result: [Double] = []
        for (position, index) in indices.integers.enumerated() {
            let line = position / (indices.shape[place] * inner)
            let source = try indexRule.place(index, extent: extent)
            result.append(values[(line * extent + source) * inner + position % inner])
        }
        return [Tensor(values: result, scalarType: x.scalarType, shape: indices.shape)]
    }
}

/// Throws unless the shapes agree in rank and in every extent but that of `axis`.
func requireAlike(_ a: Shape, _ b: Shape, except axis: Int) throws(ModelError) {
    guard a.count == b.count else { throw ModelError(.invalidModel, "shapes \(a) and \(b) must have the same rank") }
    var (x, y) = (a, b)
    x[axis] = 1
    y[axis] = 1
    _ = try unified(x, y)
}
