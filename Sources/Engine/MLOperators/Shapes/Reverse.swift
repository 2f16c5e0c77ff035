package import MLGraph
package import MLNumerics

/// `x` reversed along `axes`, or along all axes when `axes` is `nil`.
package struct Reverse: Rearrangement {
    package static let names: [MILName] = ["reverse"]
    package var axes: [Int]?

    package init(axes: [Int]?) { self.axes = axes }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        for axis in axes ?? [] { _ = try operands.axis(axis) }
        return [try operands.type(0)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        var view = x
        for axis in axes ?? Array(x.shape.indices) {
            view = view.reversed(try normalizedAxis(axis, rank: x.shape.count))
        }
        return view
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}
