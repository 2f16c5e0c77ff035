import MLGraph
import MLNumerics
import MLSpecification

extension Concat: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("concat", \.concat) { parameters, context throws(ModelError) in
                // Channels, or the sequence, which comes first.
                let rank = context.rank(of: try context.input())
                let axis = parameters.sequenceConcat ? (rank == 4 ? 0 : -5) : rank >= 3 ? -3 : 0
                try context.finish(try context.append(Concat(axis: axis), context.inputs)[0])
            },
            LayerRule("concatND", \.concatNd) { parameters, context throws(ModelError) in
                let op = Concat(axis: Int(clamping: parameters.axis), isInterleaved: parameters.interleave)
                try context.finish(try context.append(op, context.inputs)[0])
            },
        ]
    }
}

extension Stack: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("stack", \.stack) { parameters, context throws(ModelError) in
                try context.finish(
                    try context.append(Stack(axis: Int(clamping: parameters.axis)), context.inputs)[0]
                )
            }
        ]
    }
}

extension Split: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("split", \.split) { parameters, context throws(ModelError) in
                let x = try context.input()
                let axis = context.rank(of: x) >= 3 ? -3 : 0
                let count = parameters.nOutputs == 0 ? context.layer.output.count : Int(clamping: parameters.nOutputs)
                try context.setOutputs(try context.append(Split(axis: axis, count: count), [x]))
            },
            LayerRule("splitND", \.splitNd) { parameters, context throws(ModelError) in
                let axis = Int(clamping: parameters.axis)
                var sizes = integers(parameters.splitSizes)
                let count = parameters.numSplits == 0 ? context.layer.output.count : Int(clamping: parameters.numSplits)
                let shape = try context.shape(of: context.input())
                if sizes.isEmpty, (1...1 << 20).contains(count),
                    let extent = shape[try normalizedAxis(axis, rank: shape.count)].count
                {
                    // Parts of nearly equal extent; the first ones are larger by 1.
                    sizes = (0..<count).map { extent / count + ($0 < extent % count ? 1 : 0) }
                }
                let op = sizes.isEmpty ? Split(axis: axis, count: count) : Split(axis: axis, sizes: sizes)
                try context.setOutputs(try context.append(op, [context.input()]))
            },
        ]
    }
}

extension Tile: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("tile", \.tile) { parameters, context throws(ModelError) in
                let counts =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1)) : context.constant(integers: integers(parameters.reps))
                // Missing counts are 1, missing axes have extent 1, both in front.
                var (x, repeats) = (try context.input(), counts)
                if let given = context.shape(of: counts)[0].count {
                    let rank = context.rank(of: x)
                    if given > rank { x = try context.padded(x, toRank: given) }
                    if given < rank {
                        let ones = context.constant(integers: [Int](repeating: 1, count: rank - given))
                        repeats = try context.append(Concat(axis: 0), [ones, counts])[0]
                    }
                }
                try context.finish(try context.add(Tile(), x, repeats))
            },
            LayerRule("sequenceRepeat", \.sequenceRepeat) { parameters, context throws(ModelError) in
                let x = try context.input()
                let rank = context.rank(of: x)
                guard rank >= 4 else {
                    throw ModelError(.invalidModel, "a sequence repeat needs [Sequence, .., C, H, W], not rank \(rank)")
                }
                var counts = [Int](repeating: 1, count: rank)
                counts[rank == 4 ? 0 : rank - 5] = max(Int(clamping: parameters.nRepetitions), 1)
                try context.finish(try context.add(Tile(), x, context.constant(integers: counts)))
            },
        ]
    }
}

extension BlockRearrangement: LoweredFromLayers {
    package static var layers: [LayerRule] {
        guard Self.self == SpaceToDepth.self else { return [] }
        return [
            LayerRule("reorganizeData", \.reorganizeData) { parameters, context throws(ModelError) in
                let size = Int(clamping: parameters.blockSize)
                let x = try context.input()
                let image = try context.merged(x, keeping: 3)
                let result: ValueID
                switch parameters.mode {
                case .spaceToDepth: result = try context.add(SpaceToDepth(blockSize: size), image)
                case .depthToSpace: result = try context.add(DepthToSpace(blockSize: size), image)
                case .pixelShuffle: result = try context.add(PixelShuffle(blockSize: size), image)
                case .UNRECOGNIZED(let value):
                    throw ModelError(.unsupported, "reorganisation \(value) is not known")
                }
                try context.finish(try context.restored(result, like: x, keeping: 3))
            }
        ]
    }
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

extension ReverseSequence: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reverseSeq", \.reverseSeq) { parameters, context throws(ModelError) in
                let op = ReverseSequence(
                    sequenceAxis: Int(clamping: parameters.sequenceAxis),
                    batchAxis: Int(clamping: parameters.batchAxis)
                )
                let lengths = try context.integers(context.input(1))
                try context.finish(try context.add(op, context.input(), lengths))
            }
        ]
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

extension BandPart: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("matrixBandPart", \.matrixBandPart) { parameters, context throws(ModelError) in
                let lower = Int(clamping: parameters.numLower)
                let upper = Int(clamping: parameters.numUpper)
                let op = BandPart(lower: lower < 0 ? nil : lower, upper: upper < 0 ? nil : upper)
                try context.finish(try context.add(op, context.input()))
            },
            LayerRule("lowerTriangular", \.lowerTriangular) { parameters, context throws(ModelError) in
                let op = BandPart(lower: nil, upper: Int(clamping: parameters.k))
                try context.finish(try context.add(op, context.input()))
            },
            LayerRule("upperTriangular", \.upperTriangular) { parameters, context throws(ModelError) in
                let op = BandPart(lower: -Int(Int32(clamping: parameters.k)), upper: nil)
                try context.finish(try context.add(op, context.input()))
            },
        ]
    }
}
