package import MLGraph
package import MLNumerics

extension Reduction {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let shape = try context.extents(x)
        let reduced = try reducedAxes(rank: shape.count)
        var kept = shape
        for axis in reduced { kept[axis] = 1 }
        let axes = reduced.sorted()
        let count = axes.reduce(1) { $0 * shape[$1] }
        let y = try context.reshaped(context.results[0], to: kept)
        let dy = try context.reshaped(context.resultGradient(), to: kept)
        let dx: ValueID
        switch Function() {
        case is SumOfElements: dx = dy
        case is MeanOfElements: dx = try context.scaled(dy, by: 1 / Double(Swift.max(count, 1)))
        case is SumOfSquares: dx = try context.product(dy, context.scaled(x, by: 2))
        case is L1NormOfElements: dx = try context.product(dy, context.add(Unary(Sign()), x))
        case is L2NormOfElements: dx = try context.product(dy, context.quotient(x, y))
        case is LogOfSum:
            dx = try context.quotient(dy, context.summed(x, axes: axes, keepsDimensions: true))
        case is LogOfSumOfExponentials:
            dx = try context.product(dy, context.add(Unary(Exp()), context.difference(x, y)))
        case is LargestElement, is SmallestElement:
            // Equal elements share the gradient.
            let isChosen = try context.add(Binary<Equal>(), x, y)
            let ones = try context.kept(
                context.add(FillLike(value: 1, scalarType: context.scalarType(x)), x),
                where: isChosen
            )
            let share = try context.quotient(dy, context.summed(ones, axes: axes, keepsDimensions: true))
            dx = try context.product(ones, share)
        case is ProductOfElements: dx = try context.product(dy, productOfOthers(x, axes, &context))
        default: throw notDifferentiable("")
        }
        let zeros = context.builder.shape(of: dx).counts == shape
        context.setGradient(
            ofOperand: 0,
            to: zeros ? dx : try context.add(BroadcastTo(), dx, context.integers(shape))
        )
    }

    /// For every element the product of the others of its group: of those before times those after, so that zeros do no
    /// harm.
    private func productOfOthers(
        _ x: ValueID,
        _ axes: [Int],
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        let shape = try context.extents(x)
        let kept = shape.indices.filter { !axes.contains($0) }
        let order = kept + axes
        let count = axes.reduce(1) { $0 * shape[$1] }
        let rows = kept.reduce(1) { $0 * shape[$1] }
        guard count <= 1 << 12 else { throw notDifferentiable("over more than 4,096 elements") }
        let matrix = try context.reshaped(context.add(Transpose(order), x), to: [rows, 1, count])
        // Row i of each group has a one at element i.
        let ownPlace = (0..<count * count).map { Double($0 / count == $0 % count ? 1 : 0) }
        let isOwn = context.builder.constant(Tensor(values: ownPlace, scalarType: .bool, shape: [1, count, count]))
        let others = try context.add(Select(), isOwn, context.scalar(1, like: x), matrix)
        let products = try context.add(Reduction<ProductOfElements>(axes: [2], keepsDimensions: false), others)
        let ordered = try context.reshaped(products, to: order.map { shape[$0] })
        let inverse = shape.indices.map { axis in order.firstIndex(of: axis) ?? axis }
        return try context.add(Transpose(inverse), ordered)
    }
}

extension CumulativeSum {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard !context.has(1) else { throw notDifferentiable("along an axis that is computed") }
        var back = self
        back.isReversed.toggle()
        context.setGradient(ofOperand: 0, to: try context.add(back, context.resultGradient()))
    }
}
