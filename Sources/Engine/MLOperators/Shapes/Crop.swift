package import MLGraph
package import MLNumerics

/// `x` without a margin on its last two axes.
package struct Crop: Rearrangement {
    package static let names: [MILName] = ["crop"]
    package var top: Int
    package var bottom: Int
    package var left: Int
    package var right: Int

    package init(top: Int, bottom: Int, left: Int, right: Int) {
        self.top = top
        self.bottom = bottom
        self.left = left
        self.right = right
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let height = try arguments.ints("crop_height")
        let width = try arguments.ints("crop_width")
        guard height.count == 2, width.count == 2 else {
            throw ModelError(.invalidModel, "'crop_height' and 'crop_width' must have two elements each")
        }
        self.init(top: height[0], bottom: height[1], left: width[0], right: width[1])
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        guard type.rank >= 2, min(top, bottom, left, right) >= 0 else {
            throw ModelError(.invalidModel, "a crop needs rank 2 or more and margins that are not negative")
        }
        var shape = type.shape
        for (axis, margin) in [(type.rank - 2, top + bottom), (type.rank - 1, left + right)] {
            shape[axis] = shape[axis].map { $0 - margin }
            guard shape[axis].count ?? 1 > 0 else {
                throw ModelError(
                    .invalidModel,
                    "a margin of \(margin) removes all elements of an extent of \(type.shape[axis])"
                )
            }
        }
        return [type.with(shape)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        let rank = x.shape.count
        return x.sliced(rank - 2, from: top, count: x.shape[rank - 2] - top - bottom)
            .sliced(rank - 1, from: left, count: x.shape[rank - 1] - left - right)
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

extension Crop: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        let amounts = context.integers([top, bottom, left, right])
        let dx = try context.add(Pad(mode: .constant), context.resultGradient(), amounts)
        guard try context.extents(dx) == shape else { throw notDifferentiable("of such a shape") }
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Crop {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 2 ? try context.rows(self) : try context.shifted(self)
    }
}
