package import MLGraph
package import MLNumerics
import MLSpecification

/// All windows of `size` elements along `axis`, at distances of `stride`.
///
/// [d0…d…dn] → [d0…, (d − size) / stride + 1, size, …dn]
package struct SlidingWindows: Rearrangement {
    package static let names: [MILName] = ["sliding_windows"]
    package var axis: Int
    package var size: Int
    package var stride: Int

    package init(axis: Int, size: Int, stride: Int = 1) {
        self.axis = axis
        self.size = size
        self.stride = stride
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis")
        size = try arguments.int("size")
        stride = try arguments.int("stride", default: 1)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let position = try operands.axis(axis)
        guard size > 0, stride > 0, type.shape[position].count ?? size >= size else {
            throw ModelError(
                .invalidModel,
                "windows of \(size) elements, \(stride) apart, do not fit into an extent of \(type.shape[position])"
            )
        }
        var shape = type.shape
        shape[position] = shape[position].map { ($0 - size) / stride + 1 }
        shape.insert(Dimension(size), at: position + 1)
        return [type.with(shape)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        let position = try normalizedAxis(axis, rank: x.shape.count)
        guard x.shape[position] >= size else {
            throw ModelError(
                .invalidInput,
                "windows of \(size) elements do not fit into an extent of \(x.shape[position])"
            )
        }
        var view = x
        view.shape[position] = (x.shape[position] - size) / stride + 1
        // The distance to a second window, if there is one.
        view.strides[position] = view.shape[position] > 1 ? x.strides[position] * stride : 0
        view.shape.insert(size, at: position + 1)
        view.strides.insert(x.strides[position], at: position + 1)
        return view
    }
}

extension SlidingWindows: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("slidingWindows", \.slidingWindows) { parameters, context throws(ModelError) in
                let op = SlidingWindows(
                    axis: Int(clamping: parameters.axis),
                    size: Int(clamping: parameters.windowSize),
                    stride: Int(clamping: parameters.step)
                )
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension SlidingWindows: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension SlidingWindows {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis) { SlidingWindows(axis: $0, size: size, stride: stride) }
    }
}
