package import MLGraph
package import MLNumerics

/// The slices of `x` along `axis` that `indices` name.
///
/// Operands: x [D], indices [N].  The first `batchDimensions` axes of both go together.
/// Result: D[..<axis] + N[batchDimensions...] + D[(axis + 1)...].
package struct Gather: Operator {
    package static let names: [MILName] = ["gather"]
    package var axis: Int
    package var batchDimensions: Int
    package var indexRule: IndexRule

    package init(axis: Int, batchDimensions: Int = 0, indexRule: IndexRule = IndexRule()) {
        self.axis = axis
        self.batchDimensions = batchDimensions
        self.indexRule = indexRule
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("indices")
        axis = try arguments.int("axis", default: 0)
        batchDimensions = try arguments.int("batch_dims", default: 0)
        indexRule = try IndexRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let indices = try operands.integerType(1).shape
        let place = try operands.axis(axis)
        guard batchDimensions >= 0, batchDimensions <= place, batchDimensions <= indices.count else {
            throw ModelError(
                .invalidModel,
                "\(batchDimensions) batch axes do not fit axis \(axis) and indices of rank \(indices.count)"
            )
        }
        for axis in 0..<batchDimensions { _ = try unified(type.shape[axis], indices[axis]) }
        return [type.with(Shape(type.shape[..<place] + indices[batchDimensions...] + type.shape[(place + 1)...]))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let indices = operands[1]
        let place = try normalizedAxis(axis, rank: x.shape.count)
        let batch = x.shape[..<batchDimensions].reduce(1, *)
        let outer = x.shape[batchDimensions..<place].reduce(1, *)
        let inner = x.shape[(place + 1)...].reduce(1, *)
        let extent = x.shape[place]
        let each = indices.shape[batchDimensions...].reduce(1, *)
        var places: [Int] = []
        for index in indices.integers { places.append(try indexRule.place(index, extent: extent)) }
        guard extent > 0 || places.isEmpty || outer * inner == 0 else {
            throw ModelError(.invalidInput, "axis \(axis) has no elements to gather")
        }
        let values = x.values
        var result: [Double] = []
        result.reserveCapacity(batch * outer * each * inner)
        for item in 0..<batch {
            for block in 0..<outer {
                for index in 0..<each {
                    let start = ((item * outer + block) * extent + places[item * each + index]) * inner
                    result += values[start..<(start + inner)]
                }
            }
        }
        let shape = Array(x.shape[..<place] + indices.shape[batchDimensions...] + x.shape[(place + 1)...])
        return [Tensor(values: result, scalarType: x.scalarType, shape: shape)]
    }
}
