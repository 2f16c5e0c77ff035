package import MLGraph
package import MLNumerics
import MLSpecification

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

extension Reverse: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reverse", \.reverse) { parameters, context throws(ModelError) in
                let axes = parameters.reverseDim.indices.filter { parameters.reverseDim[$0] }
                try context.finish(try context.add(Reverse(axes: axes), context.input()))
            }
        ]
    }
}

extension Reverse: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient()))
    }
}

extension Reverse {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxes(axes) { Reverse(axes: $0) }
    }
}
