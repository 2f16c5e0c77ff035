import MLGraph
import MLNumerics
import MLSpecification

extension Gather: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gather", \.gather) { parameters, context throws(ModelError) in
                let indices = try context.integers(context.input(1))
                try context.finish(
                    try context.add(Gather(axis: Int(clamping: parameters.axis)), context.input(), indices)
                )
            }
        ]
    }
}

extension GatherND: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gatherND", \.gatherNd) { _, context throws(ModelError) in
                let indices = try context.integers(context.input(1))
                try context.finish(try context.add(GatherND(), context.input(), indices))
            }
        ]
    }
}

extension GatherAlongAxis: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gatherAlongAxis", \.gatherAlongAxis) { parameters, context throws(ModelError) in
                let op = GatherAlongAxis(axis: Int(clamping: parameters.axis))
                let indices = try context.integers(context.input(1))
                try context.finish(try context.add(op, context.input(), indices))
            }
        ]
    }
}

extension Scatter: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatter", \.scatter) { parameters, context throws(ModelError) in
                let op = Scatter(axis: Int(clamping: parameters.axis), mode: try ScatterMode(parameters.mode))
                try context.scatter(op)
            }
        ]
    }
}

extension ScatterND: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatterND", \.scatterNd) { parameters, context throws(ModelError) in
                try context.scatter(ScatterND(mode: try ScatterMode(parameters.mode)))
            }
        ]
    }
}

extension ScatterAlongAxis: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("scatterAlongAxis", \.scatterAlongAxis) { parameters, context throws(ModelError) in
                let mode = try ScatterMode(parameters.mode)
                try context.scatter(ScatterAlongAxis(axis: Int(clamping: parameters.axis), mode: mode))
            }
        ]
    }
}

extension LayerContext {
    /// Inputs: data, indices, updates.
    fileprivate mutating func scatter(_ op: some Operator) throws(ModelError) {
        let indices = try integers(input(1))
        try finish(try add(op, input(0), indices, input(2)))
    }
}

extension ScatterMode {
    fileprivate init(_ mode: SpecScatterMode) throws(ModelError) {
        switch mode {
        case .scatterUpdate: self = .update
        case .scatterAdd: self = .add
        case .scatterSub: self = .sub
        case .scatterMul: self = .mul
        case .scatterDiv: self = .div
        case .scatterMax: self = .max
        case .scatterMin: self = .min
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "scatter mode \(value) is not known")
        }
    }
}
