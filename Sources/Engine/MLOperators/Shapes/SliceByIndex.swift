package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `x[begin : end : stride]` on every axis.
///
/// Operands: x, begin [rank], end [rank]. Of an axis in the squeeze mask the element `begin` is taken, and the axis is
/// removed.
package struct SliceByIndex: Rearrangement {
    package static let names: [MILName] = ["slice_by_index"]
    package var rule: SliceRule

    package init(_ rule: SliceRule = SliceRule()) { self.rule = rule }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("begin")
        try arguments.operand("end")
        rule = try SliceRule(reading: &arguments)
    }

    package var shapeOperands: [Int] {
        let rank = max(rule.squeezeMask.count, rule.beginMask.count)
        return rank > 0 && rule.isFixed(rank: rank) ? [] : [1, 2]
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let begin = operands.integers(1)
        let end = operands.integers(2)
        try rule.validate(rank: type.rank, begin: begin, end: end)
        var shape: Shape = []
        for axis in 0..<type.rank where !rule.squeezes(axis) {
            shape.append(rule.extent(axis, of: type.shape[axis], begin: begin?[axis], end: end?[axis]))
        }
        return [type.with(shape)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        let begin = integers(1)
        let end = integers(2)
        let rank = x.shape.count
        let needsBegin = (0..<rank).contains { !rule.ignoresBegin($0) }
        let needsEnd = (0..<rank).contains { !rule.ignoresEnd($0) && !rule.squeezes($0) }
        guard begin != nil || !needsBegin, end != nil || !needsEnd else { return nil }
        try rule.validate(rank: rank, begin: begin, end: end)
        for axis in 0..<rank where rule.squeezes(axis) && x.shape[axis] == 0 {
            throw ModelError(.invalidInput, "axis \(axis) has no element to take")
        }
        return rule.squeezed(rule.slice(x, begin: begin, end: end))
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let begin = request.operand(1), begin.constant == nil else {
            return viewKernels(for: request)
        }
        // The result's shape is fixed; its start is read at run time.
        let rank = x.logicalShape.count
        guard rule.isFixed(rank: rank), begin.scalarType == .int32, x.layout == .rowMajor, x.count > 0,
            let width = x.scalarType.copyWidth
        else { return [] }
        let source = StridedView(dense: x.shape)
        let slice = rule.slice(source, begin: [Int](repeating: 0, count: rank), end: nil).coalesced
        guard let copy = StridedCopy(slice, StridedView(dense: slice.shape), width: width) else { return [] }
        let rule = rule
        let used = (0..<rank).filter { rule.squeezes($0) && !rule.ignoresBegin($0) }
        return [
            Kernel("slice") { context in
                let positions = context.integers(1)
                var start = slice.offset
                for axis in used {
                    let range = rule.range(axis, extent: source.shape[axis], begin: Int(positions[axis]), end: nil)
                    start += range.start * source.strides[axis]
                }
                copy.run(context.operand(0) + start * width, context.result())
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        !rule.squeezeMask.contains(true) && operands.constant(1) != nil && operands.constant(2) != nil
            ? .agnostic : .rowMajor
    }
}

extension SliceByIndex: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("slice", \.slice) { parameters, context throws(ModelError) in
                let x = try context.input()
                let rank = context.rank(of: x)
                let position: Int
                switch parameters.axis {
                case .channelAxis: position = rank - 3
                case .heightAxis: position = rank - 2
                case .widthAxis: position = rank - 1
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "axis \(value) of a slice is not known")
                }
                guard position >= 0 else {
                    throw ModelError(.invalidModel, "a tensor of rank \(rank) does not have the axis of the slice")
                }
                var rule = SliceRule()
                rule.beginMask = (0..<rank).map { $0 != position }
                rule.endMask = rule.beginMask
                rule.steps = (0..<rank).map { $0 == position ? max(Int(clamping: parameters.stride), 1) : 1 }
                let begin = (0..<rank).map { $0 == position ? Int(clamping: parameters.startIndex) : 0 }
                let end = (0..<rank).map { $0 == position ? Int(clamping: parameters.endIndex) : 0 }
                try context.finish(
                    try context.add(
                        SliceByIndex(rule),
                        x,
                        context.constant(integers: begin),
                        context.constant(integers: end)
                    )
                )
            },
            LayerRule("sliceStatic", \.sliceStatic) { parameters, context throws(ModelError) in
                let rule = SliceRule(
                    parameters.strides,
                    begin: parameters.beginMasks,
                    end: parameters.endMasks,
                    squeeze: parameters.squeezeMasks
                )
                let begin = context.constant(integers: integers(parameters.beginIds))
                let end = context.constant(integers: integers(parameters.endIds))
                try context.finish(try context.add(SliceByIndex(rule), context.input(), begin, end))
            },
            LayerRule("sliceDynamic", \.sliceDynamic) { parameters, context throws(ModelError) in
                // Inputs: data, begin, and optionally end, strides, begin, end and squeeze masks.
                var rule = SliceRule(
                    parameters.strides,
                    begin: parameters.beginMasks,
                    end: parameters.endMasks,
                    squeeze: parameters.squeezeMasks
                )
                let count = context.inputs.count
                // Files state attributes for five axes, whatever the rank.
                let rank = try context.rank(of: context.input())
                rule.steps = Array(rule.steps.prefix(rank))
                rule.beginMask = Array(rule.beginMask.prefix(rank))
                rule.endMask = Array(rule.endMask.prefix(rank))
                rule.squeezeMask = Array(rule.squeezeMask.prefix(rank))
                let begin = try context.integers(context.input(1))
                let end =
                    count > 2
                    ? try context.integers(context.input(2))
                    : context.constant(integers: integers(parameters.endIds))
                guard count > 3 else {
                    try context.finish(try context.add(SliceByIndex(rule), context.input(), begin, end))
                    return
                }
                let op = SliceByContents(rule, declaredRank: context.declaredOutputRank())
                var operands: [ValueID?] = [try context.input(), begin, end]
                for index in 3..<min(count, 7) { operands.append(try context.integers(context.input(index))) }
                try context.finish(try context.append(op, operands)[0])
            },
            LayerRule("crop", \.crop) { parameters, context throws(ModelError) in
                try context.finish(try context.cropped(parameters))
            },
        ]
    }
}

extension SliceRule {
    fileprivate init(_ strides: [Int64], begin: [Bool], end: [Bool], squeeze: [Bool]) {
        self.init()
        steps = integers(strides)
        beginMask = begin
        endMask = end
        squeezeMask = squeeze
    }
}

extension LayerContext {
    /// [.., H, W] without margins, or cut from an offset on to the rows and columns of a second input.
    fileprivate mutating func cropped(_ parameters: SpecCropLayerParams) throws(ModelError) -> ValueID {
        let x = try input()
        guard inputs.count > 1 else {
            let amounts = parameters.cropAmounts.borderAmounts
            guard amounts.count == 2 else {
                throw ModelError(
                    .invalidModel,
                    "the crop has \(amounts.count) margins; one for the height and one for the width are needed"
                )
            }
            let limit = Int(Int32.max)
            return try add(
                Crop(
                    top: min(Int(clamping: amounts[0].startEdgeSize), limit),
                    bottom: min(Int(clamping: amounts[0].endEdgeSize), limit),
                    left: min(Int(clamping: amounts[1].startEdgeSize), limit),
                    right: min(Int(clamping: amounts[1].endEdgeSize), limit)
                ),
                x
            )
        }
        let offsets = parameters.offset.isEmpty ? [0, 0] : parameters.offset.map { Int(clamping: $0) }
        let rank = rank(of: x)
        guard offsets.count == 2, rank >= 2, self.rank(of: inputs[1]) >= 2 else {
            throw ModelError(.invalidModel, "a crop needs rows and columns and two offsets")
        }
        let begins = [Int](repeating: 0, count: rank - 2) + offsets
        let size = try add(ShapeOf(), inputs[1])
        let last = self.rank(of: inputs[1])
        let extents = try add(
            SliceBySize(),
            size,
            constant(integers: [last - 2]),
            constant(integers: [2])
        )
        let whole = constant(integers: [Int](repeating: -1, count: rank - 2))
        let sizes = rank > 2 ? try append(Concat(axis: 0), [whole, extents])[0] : extents
        return try add(SliceBySize(), x, constant(integers: begins), sizes)
    }
}

extension SliceByIndex: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension SliceByIndex {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let shape = context.shape()
        guard let begin = context.integers(1), let end = context.integers(2), let extent = shape.first else {
            return nil
        }
        let first = rule.range(0, extent: extent, begin: begin[0], end: end[0])
        if !rule.squeezes(0), rule.step(0) == 1, first == (0, extent), let x = try context.joined(0) {
            let start = context.constant(integers: [0] + begin.dropFirst())
            let stop = context.constant(integers: [context.count * extent] + end.dropFirst())
            return try context.finish(self, [x, start, stop])
        }
        var rule = rule
        if !rule.steps.isEmpty { rule.steps.insert(1, at: 0) }
        if !rule.beginMask.isEmpty { rule.beginMask.insert(true, at: 0) }
        if !rule.endMask.isEmpty { rule.endMask.insert(true, at: 0) }
        if !rule.squeezeMask.isEmpty { rule.squeezeMask.insert(false, at: 0) }
        let x = try context.stacked(0)
        let start = context.constant(integers: [0] + begin)
        let stop = context.constant(integers: [context.count] + end)
        return try context.finish(SliceByIndex(rule), [x, start, stop])
    }
}
