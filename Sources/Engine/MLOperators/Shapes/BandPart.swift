package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

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

extension BandPart: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("matrixBandPart", \.matrixBandPart) { parameters, context throws(ModelError) in
                let lower = Int(clamping: parameters.numLower)
                let upper = Int(clamping: parameters.numUpper)
                let op = BandPart(lower: lower < 0 ? nil : lower, upper: upper < 0 ? nil : upper)
                try context.finish(try context.add(op, context.input()))
            },
            LayerRule("lowerTriangular", \.lowerTriangular) { parameters, context throws(ModelError) in
                let op = BandPart(lower: nil, upper: Int(clamping: parameters.k))
                try context.finish(try context.add(op, context.input()))
            },
            LayerRule("upperTriangular", \.upperTriangular) { parameters, context throws(ModelError) in
                let op = BandPart(lower: -Int(Int32(clamping: parameters.k)), upper: nil)
                try context.finish(try context.add(op, context.input()))
            },
        ]
    }
}

extension BandPart {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let width = x.scalarType.copyWidth, x.count > 0 else { return [] }
        let rows = x.logicalShape[x.logicalShape.count - 2]
        let columns = x.logicalShape[x.logicalShape.count - 1]
        // Zero is all bits clear in every type.
        let (lower, upper) = (Swift.min(lower ?? rows, rows), Swift.min(upper ?? columns, columns))
        let matrices = x.count / (rows * columns)
        return [
            Kernel(
                "band",
                inPlaceOperands: [0],
                body: { context in
                    BandCopy.run(
                        context.operand(0),
                        into: context.result(),
                        matrices: matrices,
                        rows: rows,
                        columns: columns,
                        elementByteCount: width,
                        lower: lower,
                        upper: upper
                    )
                }
            )
        ]
    }
}

extension BandPart: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient()))
    }
}

extension BandPart {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 2 ? try context.rows(self) : try context.shifted(self)
    }
}
