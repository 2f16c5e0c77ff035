import MLKernels
package import MLGraph
package import MLNumerics

/// Rounds each row, along the last axis, to 255 levels of its own: y = s · round(x / s) with s = max |x| / 127.
///
/// x […, K] → […, K]. A row that is not finite stays without finite numbers. Only `DynamicLinear` creates it.
package struct RoundRows: Operator {
    package init() {}

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.numericType(0)
        guard x.rank > 0 else { throw ModelError(.invalidModel, "rows are rounded of \(x), which has no axis") }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let terms = operands[0].shape.last ?? 0
        let (levels, steps) = Self.quantized(operands[0].values, terms: terms)
        let values = levels.enumerated().map { Double($1 * steps[$0 / terms]) }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: operands[0].shape)]
    }

    /// The integers and the step of each row, computed as the kernels do.
    static func quantized(_ x: [Double], terms: Int) -> (levels: [Float], steps: [Float]) {
        guard terms > 0 else { return ([], []) }
        var levels: [Float] = []
        var steps: [Float] = []
        for start in stride(from: 0, to: x.count, by: terms) {
            let row = x[start..<start + terms].map { Float($0) }
            let greatest = row.contains(where: \.isNaN) ? Float.nan : row.reduce(0) { Swift.max($0, $1.magnitude) }
            let inverse = greatest > 0 ? 127 / greatest : 0
            steps.append(greatest / 127)
            levels += row.map { Swift.min(Swift.max(($0 * inverse).rounded(.toNearestOrEven), -127), 127) }
        }
        return (levels, steps)
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), x.count > 0, x.layout == .rowMajor,
            request.results.first?.layout == .rowMajor, let terms = x.logicalShape.last
        else { return [] }
        let rows = x.count / terms
        return [
            Kernel("round rows") { context in
                RowQuantizer.round(context.floats(0), rows: rows, terms: terms, into: context.resultFloats())
            }
        ]
    }

    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 1 ? try context.rows(self) : try context.shifted(self)
    }
}
