package import MLGraph
package import MLNumerics

/// The innermost matrices with everything outside a band around the diagonal set to 0.
///
/// Element (m, n) is kept when `m − n ≤ lower` and `n − m ≤ upper`; `nil` means no bound.
package struct BandPart: Operator {
    package static let names: [MILName] = ["band_part"]
    package var lower: Int?
    package var upper: Int?

    package init(lower: Int?, upper: Int?) {
        self.lower = lower
        self.upper = upper
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let lower = try arguments.int("lower", default: -1)
        let upper = try arguments.int("upper", default: -1)
        self.init(lower: lower < 0 ? nil : lower, upper: upper < 0 ? nil : upper)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        guard type.rank >= 2 else { throw ModelError(.invalidModel, "band_part needs a matrix, not rank \(type.rank)") }
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let (rows, columns) = (x.shape[x.shape.count - 2], x.shape[x.shape.count - 1])
        var values = x.values
        for index in values.indices {
            let (row, column) = (index / columns % rows, index % columns)
            if row - column > lower ?? .max || column - row > upper ?? .max { values[index] = 0 }
        }
        return [Tensor(values: values, scalarType: x.scalarType, shape: x.shape)]
    }
}
