package import MLGraph
package import MLNumerics

extension GradientContext {
    /// The gradient of an operand whose elements keep their order.
    fileprivate mutating func setReshapedGradient() throws(ModelError) {
        setGradient(ofOperand: 0, to: try reshaped(resultGradient(), to: extents(operand())))
    }
}

extension Reshape {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension ReshapeLike {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension ExpandDims {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Squeeze {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Flatten2D {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Regroup {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Identity {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.resultGradient())
    }
}

extension Transpose {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let order = try normalizedPermutation(rank: context.extents(context.operand()).count)
        let inverse = order.indices.map { axis in order.firstIndex(of: axis) ?? axis }
        context.setGradient(ofOperand: 0, to: try context.add(Transpose(inverse), context.resultGradient()))
    }
}

extension BroadcastTo {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setBroadcastGradient(ofOperand: 0, to: context.resultGradient())
    }
}

extension Concat {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dy = try context.resultGradient()
        let shape = try context.extents(dy)
        let place = try normalizedAxis(axis, rank: shape.count)
        var sizes: [Int] = []
        for index in context.operands.indices {
            let extents = try context.extents(context.operand(index))
            sizes.append(extents.isEmpty ? 1 : extents[place])
        }
        var parts: [ValueID]
        if isInterleaved {
            // Element i of operand k is at i · n + k.
            var apart = shape
            apart.replaceSubrange(place...place, with: [sizes[0], sizes.count])
            let split = Split(axis: place + 1, count: sizes.count)
            parts = try context.builder.append(split, [context.reshaped(dy, to: apart)])
        } else {
            parts = try context.builder.append(Split(axis: place, sizes: sizes), [dy])
        }
        for index in context.operands.indices where context.isNeeded(index) {
            let target = try context.operand(index)
            parts[index] = try context.reshaped(parts[index], to: context.extents(target))
            context.setGradient(ofOperand: index, to: parts[index])
        }
    }
}

extension Stack {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dy = try context.resultGradient()
        let place = try normalizedAxis(axis, rank: context.extents(dy).count)
        let parts = try context.builder.append(Split(axis: place, count: context.operands.count), [dy])
        for index in context.operands.indices where context.isNeeded(index) {
            let shape = try context.extents(context.operand(index))
            context.setGradient(ofOperand: index, to: try context.reshaped(parts[index], to: shape))
        }
    }
}

extension Split {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        var parts: [ValueID?] = []
        for (result, gradient) in zip(context.results, context.resultGradients) {
            if let gradient {
                parts.append(gradient)
            } else {
                parts.append(try context.add(FillLike(value: 0, scalarType: context.scalarType(result)), result))
            }
        }
        let dx = try context.builder.append(Concat(axis: axis), parts)[0]
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Pad {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        guard let amounts = context.builder.constant(try context.operand(1))?.integers else {
            throw notDifferentiable("by amounts that are computed")
        }
        guard mode == .constant else { return try context.setMovedGradient(by: self) }
        let lead = shape.count - amounts.count / 2
        let begin = shape.indices.map { $0 < lead ? 0 : amounts[($0 - lead) * 2] }
        let dx = try context.add(
            SliceBySize(),
            context.resultGradient(),
            context.integers(begin),
            context.integers(shape)
        )
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension SliceByIndex {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension SliceBySize {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension Crop {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        let amounts = context.integers([top, bottom, left, right])
        let dx = try context.add(Pad(mode: .constant), context.resultGradient(), amounts)
        guard try context.extents(dx) == shape else { throw notDifferentiable("of such a shape") }
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Reverse {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient()))
    }
}

extension ReverseSequence {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient(), context.operand(1)))
    }
}

extension Tile {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension SlidingWindows {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension BlockRearrangement {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension BandPart {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.add(self, context.resultGradient()))
    }
}
