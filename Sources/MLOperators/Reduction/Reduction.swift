package import MLGraph
package import MLNumerics

/// A number made of many: what sets the members of the `Reduction` family apart.
package protocol ReductionFunction: Hashable, Sendable {
    static var names: [MILName] { get }
    init()
    /// The value for `elements`, in row-major order.
    func callAsFunction(_ elements: [Double]) -> Double
    /// The neural-network layers whose heart the function is.
    static var layers: [LayerRule] { get }
}

extension ReductionFunction {
    package static var layers: [LayerRule] { [] }
}

/// One number for each group of elements that differ only in `axes`.
///
/// [d0…dn] → the same without the reduced axes, or with extent 1 there when `keepsDimensions`.
package struct Reduction<Function: ReductionFunction>: Operator, LoweredFromLayers {
    package static var names: [MILName] { Function.names }
    package static var layers: [LayerRule] { Function.layers }

    /// The reduced axes, negative ones from the end; `nil` stands for all.
    package var axes: [Int]?
    package var keepsDimensions: Bool

    package init(axes: [Int]?, keepsDimensions: Bool) {
        self.axes = axes
        self.keepsDimensions = keepsDimensions
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
        keepsDimensions = try arguments.bool("keep_dims", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let reduced = try reducedAxes(rank: type.rank)
        var shape: Shape = []
        for axis in 0..<type.rank {
            if !reduced.contains(axis) { shape.append(type.shape[axis]) } else if keepsDimensions { shape.append(1) }
        }
        return [type.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let function = Function()
        let reduced = try reducedAxes(rank: x.shape.count)
        let kept = x.shape.indices.filter { !reduced.contains($0) }
        let view = StridedView(dense: x.shape).transposed(kept + reduced.sorted())
        let sorted = view.read(x.values)
        let size = reduced.reduce(1) { $0 * x.shape[$1] }
        let shape = operands.shape()
        let values = (0..<shape.elementCount).map { function(Array(sorted[($0 * size)..<(($0 + 1) * size)])) }
        return [Tensor(values: values, scalarType: x.scalarType, shape: shape)]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { keepsDimensions ? .agnostic : .rowMajor }

    /// The reduced axes of an operand of `rank`, counted from the front.
    package func reducedAxes(rank: Int) throws(ModelError) -> Set<Int> {
        guard let axes else { return Set(0..<rank) }
        var result: Set<Int> = []
        for axis in axes { result.insert(try normalizedAxis(axis, rank: rank)) }
        return result
    }
}
