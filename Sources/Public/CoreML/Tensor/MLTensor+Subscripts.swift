import MLOperators

/// Parts of tensors by indices and ranges.
extension MLTensor {
    /// A part of the tensor: for each axis, from the first on, an index, a range or a named form; further axes are whole.
    ///
    /// An index removes its axis; `nil` takes the whole axis. Bounds of ranges beyond the axis are those of the axis; an
    /// index outside traps.
    public subscript(ranges: (any MLTensorRangeExpression)?...) -> MLTensor {
        part(ranges.map { TensorAxisPart($0) })
    }

    /// A part of the tensor: `...` takes the first axes whole, the expressions after it belong to the last ones.
    public subscript(
        firstRange: (UnboundedRange_) -> (),
        trailingRanges: (any MLTensorRangeExpression)?...
    ) -> MLTensor {
        part([.fill] + trailingRanges.map { TensorAxisPart($0) })
    }

    /// A part of the tensor, whose axes between the first expression and those after `...` are whole.
    public subscript(
        firstRange: (any MLTensorRangeExpression)?,
        secondRange: (UnboundedRange_) -> (),
        trailingRanges: (any MLTensorRangeExpression)?...
    ) -> MLTensor {
        part([TensorAxisPart(firstRange), .fill] + trailingRanges.map { TensorAxisPart($0) })
    }

    /// A part of the tensor, whose axes between the first two expressions and those after `...` are whole.
    public subscript(
        firstRange: (any MLTensorRangeExpression)?,
        secondRange: (any MLTensorRangeExpression)?,
        thirdRange: (UnboundedRange_) -> (),
        trailingRanges: (any MLTensorRangeExpression)?...
    ) -> MLTensor {
        part(
            [TensorAxisPart(firstRange), TensorAxisPart(secondRange), .fill]
                + trailingRanges.map { TensorAxisPart($0) }
        )
    }

    /// A part of the tensor, whose axes between the first three expressions and those after `...` are whole.
    public subscript(
        firstRange: (any MLTensorRangeExpression)?,
        secondRange: (any MLTensorRangeExpression)?,
        thirdRange: (any MLTensorRangeExpression)?,
        fourthRange: (UnboundedRange_) -> (),
        trailingRanges: (any MLTensorRangeExpression)?...
    ) -> MLTensor {
        part(
            [TensorAxisPart(firstRange), TensorAxisPart(secondRange), TensorAxisPart(thirdRange), .fill]
                + trailingRanges.map { TensorAxisPart($0) }
        )
    }

    private func part(_ given: [TensorAxisPart]) -> MLTensor {
        let call = TensorCall("subscript")
        var cut = TensorCut()
        for part in call.complete(given, rank: rank, shape: shape) { cut.take(part, of: shape, call) }
        guard !cut.isWhole else { return reshaped(to: cut.shape) }
        guard !cut.shape.contains(0) else { return call.empty(cut.shape, like: self) }
        return call(SliceByIndex(cut.rule), self, parameters: cut.begin, cut.end).reshaped(to: cut.shape)
    }
}

/// The slice that a subscript means, collected axis by axis.
private struct TensorCut {
    private(set) var rule = SliceRule()
    private(set) var begin: [Int] = []
    private(set) var end: [Int] = []
    /// The shape of the result.
    private(set) var shape: [Int] = []
    /// Whether no element is left out, so that only the shape may change.
    private(set) var isWhole = true

    /// Takes a part of the next axis of a tensor of shape `source`.
    mutating func take(_ part: TensorAxisPart, of source: [Int], _ call: TensorCall) {
        let axis = begin.count
        switch part {
        case .fill: preconditionFailure("complete parts have no axes left to fill")
        case .new: shape.append(1)
        case .squeeze:
            call.require(source[axis] == 1, "axis \(axis) of shape \(source) has not extent 1; use an index")
            append(begin: nil, end: nil, stride: 1)
        case .index(let index):
            let extent = source[axis]
            call.require(
                index >= -extent && index < extent,
                "index \(index) is outside axis \(axis) of shape \(source)"
            )
            let place = index < 0 ? index + extent : index
            append(begin: place, end: place + 1, stride: 1)
            isWhole = isWhole && extent == 1
        case .slice(let first, let last, let stride):
            call.require(stride != 0, "a range of axis \(axis) has the stride 0; use 1 or more")
            append(begin: first, end: last, stride: stride)
            let count = rule.range(axis, extent: source[axis], begin: first, end: last).count
            shape.append(count)
            isWhole = isWhole && count == source[axis] && stride > 0
        }
    }

    private mutating func append(begin first: Int?, end last: Int?, stride: Int) {
        begin.append(first ?? 0)
        end.append(last ?? 0)
        rule.beginMask.append(first == nil)
        rule.endMask.append(last == nil)
        rule.steps.append(stride)
    }
}

extension TensorCall {
    /// One part for each axis, and the new axes between them.
    fileprivate func complete(_ given: [TensorAxisPart], rank: Int, shape: [Int]) -> [TensorAxisPart] {
        var taken = 0
        var fills = 0
        for part in given {
            switch part {
            case .new: break
            case .fill: fills += 1
            case .squeeze, .index, .slice: taken += 1
            }
        }
        require(fills < 2, "more than one of the expressions stands for several axes; keep one")
        require(taken <= rank, "\(taken) expressions were given for shape \(shape), which has \(rank) axes")
        let whole = [TensorAxisPart](repeating: .whole, count: rank - taken)
        guard fills == 1 else { return given + whole }
        return given.flatMap { part in
            if case .fill = part { whole } else { [part] }
        }
    }
}
