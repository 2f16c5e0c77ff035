package import MLGraph
package import MLNumerics

extension Linear {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard activation == .none else { throw notDifferentiable("once a function is fused with it") }
        let x = try context.operand(0)
        let weight = try context.operand(1)
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let extents = try context.extents(weight)
        let (columns, depth) = (extents[weightAxes.columns], extents[weightAxes.terms])
        let rows = depth == 0 ? 0 : shape.elementCount / depth
        let flat = try context.reshaped(dy, to: [rows, columns])
        if context.isNeeded(0) {
            let dx = try context.add(MatMul(transposeY: transposesWeight), flat, weight)
            context.setGradient(ofOperand: 0, to: try context.reshaped(dx, to: shape))
        }
        if context.isNeeded(1) {
            let matrix = try context.reshaped(x, to: [rows, depth])
            let factors = transposesWeight ? (matrix, flat) : (flat, matrix)
            context.setGradient(
                ofOperand: 1,
                to: try context.add(MatMul(transposeX: true), factors.0, factors.1)
            )
        }
        if context.isNeeded(2) {
            context.setGradient(ofOperand: 2, to: try context.summed(flat, axes: [0], keepsDimensions: false))
        }
        if context.isNeeded(3) { try context.setBroadcastGradient(ofOperand: 3, to: dy) }
    }
}

extension MatMul {
    /// With x and y as stacks of matrices: dx = dz · yᵀ, dy = xᵀ · dz, summed over the broadcast axes.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let (first, second) = (try context.operand(0), try context.operand(1))
        let (a, b) = (try context.extents(first), try context.extents(second))
        let x = a.count == 1 ? try context.reshaped(first, to: [1] + a) : first
        let y = b.count == 1 ? try context.reshaped(second, to: b + [1]) : second
        let isTransposedX = transposeX && a.count > 1
        let isTransposedY = transposeY && b.count > 1
        var shape = try context.extents(context.results[0])
        if b.count == 1 { shape.append(1) }
        if a.count == 1 { shape.insert(1, at: shape.count - 1) }
        let dz = try context.reshaped(context.resultGradient(), to: shape)
        if context.isNeeded(0) {
            let dx =
                isTransposedX
                ? try context.add(MatMul(transposeX: isTransposedY, transposeY: true), y, dz)
                : try context.add(MatMul(transposeY: !isTransposedY), dz, y)
            let summed = try context.summed(dx, toShape: context.extents(x))
            context.setGradient(ofOperand: 0, to: try context.reshaped(summed, to: a))
        }
        if context.isNeeded(1) {
            let dy =
                isTransposedY
                ? try context.add(MatMul(transposeX: true, transposeY: isTransposedX), dz, x)
                : try context.add(MatMul(transposeX: !isTransposedX), x, dz)
            let summed = try context.summed(dy, toShape: context.extents(y))
            context.setGradient(ofOperand: 1, to: try context.reshaped(summed, to: b))
        }
    }
}

extension Einsum {
    /// The gradient of an operand is the sum of products of the result's gradient and the other operands.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let terms = try terms()
        let dz = try context.resultGradient()
        var extents: [Character: Int] = [:]
        for (index, letters) in terms.operands.enumerated() {
            guard Set(letters).count == letters.count else { throw notDifferentiable("of a diagonal") }
            let shape = try context.extents(context.operand(index))
            for (letter, extent) in zip(letters, shape) {
                guard extents[letter] ?? extent == extent else { throw notDifferentiable("of operands that broadcast") }
                extents[letter] = extent
            }
        }
        for (index, letters) in terms.operands.enumerated() where context.isNeeded(index) {
            let others = terms.operands.indices.filter { $0 != index }
            let known = Set(terms.result + others.flatMap { terms.operands[$0] })
            // Axes that only this operand has were summed: every element along them has the same gradient.
            let common = letters.filter(known.contains)
            let sources = [terms.result] + others.map { terms.operands[$0] }
            let back = Einsum(sources.map { String($0) }.joined(separator: ",") + "->" + String(common))
            var operands: [ValueID?] = [dz]
            for other in others { operands.append(try context.operand(other)) }
            var gradient = try context.builder.append(back, operands)[0]
            if common.count != letters.count {
                let shape = letters.map { known.contains($0) ? extents[$0] ?? 1 : 1 }
                gradient = try context.add(
                    BroadcastTo(),
                    context.reshaped(gradient, to: shape),
                    context.integers(letters.map { extents[$0] ?? 1 })
                )
            }
            context.setGradient(ofOperand: index, to: gradient)
        }
    }
}
