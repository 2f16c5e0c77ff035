package import MLGraph
package import MLNumerics

/// Normalisation over `axes`: y = (x − E[x]) / √(Var[x] + epsilon) · gamma + beta.
///
/// Operands: x, gamma?, beta?; the last two have the extents of x at `axes`, in the order of x's axes.
/// Result: like x.
package struct LayerNorm: Operator {
    package static let names: [MILName] = ["layer_norm"]

    /// Negative axes count from the end; `nil` means all.
    package var axes: [Int]?
    package var epsilon: Double

    package init(axes: [Int]?, epsilon: Double = 1e-5) {
        self.axes = axes
        self.epsilon = epsilon
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        arguments.optionalOperand("gamma")
        arguments.optionalOperand("beta")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
        epsilon = try arguments.float("epsilon", default: 1e-5)
    }

    /// The normalised axes of a tensor of rank `rank`, ascending.
    package func normalizedAxes(rank: Int) throws(ModelError) -> [Int] {
        guard let axes else { return Array(0..<rank) }
        var result: Set<Int> = []
        for axis in axes { result.insert(try normalizedAxis(axis, rank: rank)) }
        return result.sorted()
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let extents = try normalizedAxes(rank: x.rank).map { x.shape[$0] }
        for (index, name) in [(1, "gamma"), (2, "beta")] where operands.has(index) {
            let shape = try operands.shape(index)
            let fits = zip(shape, extents).allSatisfy { $0 == $1 || !$0.isKnown || !$1.isKnown }
            guard shape.count == extents.count, fits else {
                throw ModelError(.invalidModel, "\(name) of layer_norm has shape \(shape), \(extents) is needed")
            }
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let inside = try normalizedAxes(rank: x.shape.count)
        let outside = x.shape.indices.filter { !inside.contains($0) }
        let strides = x.shape.rowMajorStrides
        func offsets(_ axes: [Int]) -> [Int] {
            axes.reduce([0]) { offsets, axis in
                offsets.flatMap { offset in (0..<x.shape[axis]).map { offset + $0 * strides[axis] } }
            }
        }
        let places = offsets(inside)
        let gamma = operands.optional(1)?.values
        let beta = operands.optional(2)?.values
        let values = x.values
        var result = values
        for start in offsets(outside) {
            let line = standardizing(places.map { values[start + $0] }, epsilon: epsilon)
            for (index, place) in places.enumerated() {
                let standard = (values[start + place] - line.mean) * line.scale
                result[start + place] = standard * (gamma?[index] ?? 1) + (beta?[index] ?? 0)
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: x.shape)]
    }
}
