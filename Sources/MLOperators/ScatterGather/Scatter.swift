package import MLGraph
package import MLNumerics

/// `data` with the slices along `axis` that `indices` name joined by those of `updates`.
///
/// Operands: data [D], indices [n], updates D[..<axis] + [n] + D[(axis + 1)...].  Result: as data.
package struct Scatter: Operator {
    package static let names: [MILName] = ["scatter"]
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
        let place = try operands.axis(axis)
        _ = try unified(
            Shape(type.shape[..<place] + indices + type.shape[(place + 1)...]),
            operands.shape(2)
        )
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let data = operands[0]
        let place = try normalizedAxis(axis, rank: data.shape.count)
        let extent = data.shape[place]
        let inner = data.shape[(place + 1)...].reduce(1, *)
        let indices = operands[1].integers
        let updates = operands[2].values
        var places: [Int] = []
        for index in indices { places.append(try indexRule.place(index, extent: extent)) }
        var values = data.values
        guard !values.isEmpty else { return [data] }
        for (position, update) in updates.enumerated() {
            let line = position / (places.count * inner)
            let index = places[position / inner % places.count]
            let target = (line * extent + index) * inner + position % inner
            values[target] = mode(values[target], update)
        }
        return [Tensor(values: values, scalarType: data.scalarType, shape: data.shape)]
    }
}
