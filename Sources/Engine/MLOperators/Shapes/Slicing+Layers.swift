import MLGraph
import MLNumerics
import MLSpecification

extension SliceByIndex: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("slice", \.slice) { parameters, context throws(ModelError) in
                let x = try context.input()
                let rank = context.rank(of: x)
                let place: Int
                switch parameters.axis {
                case .channelAxis: place = rank - 3
                case .heightAxis: place = rank - 2
                case .widthAxis: place = rank - 1
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "axis \(value) of a slice is not known")
                }
                guard place >= 0 else { throw ModelError(.invalidModel, "rank \(rank) lacks the axis of the slice") }
                var rule = SliceRule()
                rule.beginMask = (0..<rank).map { $0 != place }
                rule.endMask = rule.beginMask
                rule.steps = (0..<rank).map { $0 == place ? max(Int(clamping: parameters.stride), 1) : 1 }
                let begin = (0..<rank).map { $0 == place ? Int(clamping: parameters.startIndex) : 0 }
                let end = (0..<rank).map { $0 == place ? Int(clamping: parameters.endIndex) : 0 }
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

extension SliceBySize: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("sliceBySize", \.sliceBySize) { parameters, context throws(ModelError) in
                // One axis; its begin is the second input.
                let x = try context.input()
                let rank = context.rank(of: x)
                let axis = try normalizedAxis(Int(clamping: parameters.axis), rank: rank)
                let begin = try context.integers(context.input(1))
                let start = try context.add(Reshape(), begin, context.constant(integers: [1]))
                var parts: [ValueID?] = []
                for place in 0..<rank { parts.append(place == axis ? start : context.constant(integers: [0])) }
                let begins = try context.append(Concat(axis: 0), parts)[0]
                let sizes = (0..<rank).map { $0 == axis ? Int(clamping: parameters.size) : -1 }
                try context.finish(
                    try context.add(SliceBySize(), x, begins, context.constant(integers: sizes))
                )
            }
        ]
    }
}

extension LayerContext {
    /// [.., H, W] without margins, or cut from an offset on to the rows and columns of a second input.
    fileprivate mutating func cropped(_ parameters: SpecCropLayerParams) throws(ModelError) -> ValueID {
        let x = try input()
        guard inputs.count > 1 else {
            let amounts = parameters.cropAmounts.borderAmounts
            guard amounts.count == 2 else {
                throw ModelError(.invalidModel, "a crop has \(amounts.count) margins; height and width are needed")
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

extension Pad: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("padding", \.padding) { parameters, context throws(ModelError) in
                let amounts = parameters.paddingAmounts.borderAmounts
                guard amounts.isEmpty || amounts.count == 2 else {
                    throw ModelError(
                        .invalidModel,
                        "a padding has \(amounts.count) margins; height and width are needed"
                    )
                }
                let pairs = amounts.flatMap { [Int(clamping: $0.startEdgeSize), Int(clamping: $0.endEdgeSize)] }
                let op: Pad
                switch parameters.paddingType {
                case .constant(let constant): op = Pad(mode: .constant, value: Double(constant.value))
                case .reflection: op = Pad(mode: .reflect)
                case .replication: op = Pad(mode: .replicate)
                case nil: op = Pad(mode: .constant)
                }
                try context.finish(try context.add(op, context.input(), context.constant(integers: pairs)))
            },
            LayerRule("constantPad", \.constantPad) { parameters, context throws(ModelError) in
                let x = try context.input()
                var amounts =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1))
                    : context.constant(integers: integers(parameters.padAmounts))
                if parameters.padToGivenOutputSizeMode { amounts = try context.missing(to: amounts, from: x) }
                try context.finish(
                    try context.add(Pad(mode: .constant, value: Double(parameters.value)), x, amounts)
                )
            },
        ]
    }
}

extension LayerContext {
    /// The amounts to add before and after on every axis of `x` to reach the extents `sizes`, of which at most one of
    /// each pair is not 0.
    fileprivate mutating func missing(to sizes: ValueID, from x: ValueID) throws(ModelError) -> ValueID {
        let rank = rank(of: x)
        let shape = try add(ExpandDims(axes: [1]), add(ShapeOf(), x))
        let twice = try add(Tile(), shape, constant(integers: [1, 2]))
        let extents = try add(Reshape(), twice, constant(integers: [2 * rank]))
        let zero = builder.constant(Tensor([0] as [Int32], shape: [1]))
        return try add(Binary<Max>(), add(Binary<Sub>(), sizes, extents), zero)
    }
}
