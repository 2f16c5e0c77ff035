import MLGraph
import MLNumerics
import MLSpecification

extension Fill: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("fillStatic", \.fillStatic) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                let op = Fill(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, shape))
            },
            LayerRule("fillDynamic", \.fillDynamic) { parameters, context throws(ModelError) in
                let shape = try context.integers(context.input())
                let op = Fill(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, shape))
            },
        ]
    }
}

extension FillLike: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("fillLike", \.fillLike) { parameters, context throws(ModelError) in
                let op = FillLike(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension Identity: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("loadConstant", \.loadConstant) { parameters, context throws(ModelError) in
                let shape = try extents(integers(parameters.shape))
                let value = try context.weights(parameters.data, shape: shape, name: "data")
                // [C, H, W]; in the legacy form of blobs preceded by a sequence axis.
                let rank = context.usesRank5Mapping ? 4 : max(context.declaredOutputRank() ?? 5, shape.count)
                try context.finish(try context.padded(value, toRank: min(rank, 5)))
            },
            LayerRule("loadConstantND", \.loadConstantNd) { parameters, context throws(ModelError) in
                let shape = try extents(integers(parameters.shape))
                try context.finish(try context.weights(parameters.data, shape: shape, name: "data"))
            },
        ]
    }
}

extension Range1D: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("rangeStatic", \.rangeStatic) { parameters, context throws(ModelError) in
                try context.finish(
                    try context.range(parameters.endValue, parameters.startValue, parameters.stepSizeValue)
                )
            },
            LayerRule("rangeDynamic", \.rangeDynamic) { parameters, context throws(ModelError) in
                try context.finish(try context.range(0, parameters.startValue, parameters.stepSizeValue))
            },
        ]
    }
}

extension LayerContext {
    /// A range whose end, start and step, in this order, are replaced by inputs, as far as there are any.
    fileprivate mutating func range(_ end: Float, _ start: Float, _ step: Float) throws(ModelError) -> ValueID {
        var given = inputs
        for number in [end, start, step].dropFirst(inputs.count) { given.append(constant(number)) }
        return try add(Range1D(), given[1], given[0], given[2])
    }
}

extension OneHot: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("oneHot", \.oneHot) { parameters, context throws(ModelError) in
                let op = OneHot(
                    axis: Int(clamping: parameters.axis),
                    on: Double(parameters.onValue),
                    off: Double(parameters.offValue),
                    scalarType: .float32
                )
                let size =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1))
                    : context.constant(integers: [Int(clamping: parameters.oneHotVectorSize)])
                let indices = try context.integers(context.input())
                try context.finish(try context.add(op, indices, size))
            }
        ]
    }
}

extension TopK: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("topK", \.topK) { parameters, context throws(ModelError) in
                var op = TopK(
                    count: Int(clamping: parameters.k),
                    axis: Int(clamping: parameters.axis),
                    isAscending: parameters.useBottomK
                )
                let x = try context.input()
                guard context.inputs.count > 1 else {
                    try context.setOutputs(try context.append(op, [x]))
                    return
                }
                // The second input is the number of elements: all are sorted, then the first ones are taken.
                op.count = -1
                let rank = context.rank(of: x)
                let axis = try normalizedAxis(op.axis, rank: rank)
                let count = try context.add(
                    Reshape(),
                    context.integers(context.input(1)),
                    context.constant(integers: [1])
                )
                var parts: [ValueID?] = []
                for place in 0..<rank { parts.append(place == axis ? count : context.constant(integers: [-1])) }
                let sizes = try context.append(Concat(axis: 0), parts)[0]
                let begins = context.constant(integers: [Int](repeating: 0, count: rank))
                var outputs: [ValueID] = []
                for result in try context.append(op, [x]) {
                    outputs.append(try context.add(SliceBySize(), result, begins, sizes))
                }
                try context.setOutputs(outputs)
            }
        ]
    }
}

extension ArgSort: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("argSort", \.argSort) { parameters, context throws(ModelError) in
                let op = ArgSort(axis: Int(clamping: parameters.axis), isAscending: !parameters.descending)
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension NonZero: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("whereNonZero", \.whereNonZero) { _, context throws(ModelError) in
                try context.finish(try context.add(NonZero(), context.input()))
            }
        ]
    }
}
