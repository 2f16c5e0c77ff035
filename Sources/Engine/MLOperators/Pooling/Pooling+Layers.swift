import MLGraph
import MLNumerics
import MLSpecification

extension Pooling: LoweredFromLayers {
    /// The rules of all pooling layers are declared with the maximum; the layer states the function.
    package static var layers: [LayerRule] {
        guard self == MaxPool.self else { return [] }
        return [
            LayerRule("pooling", \.pooling) { parameters, context throws(ModelError) in
                let window = parameters.globalPooling ? nil : try PoolingWindow(parameters)
                let function: PoolingKind
                switch parameters.type {
                case .max: function = .maximum
                case .average: function = .average
                case .l2: function = .length
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "pooling type \(value) is not known")
                }
                try context.pool(function, window, spatialRank: 2)
            },
            LayerRule("pooling3d", \.pooling3D) { parameters, context throws(ModelError) in
                let window = try PoolingWindow(parameters)
                try context.pool(parameters.type == .average ? .average : .maximum, window, spatialRank: 3)
            },
            LayerRule("globalPooling3d", \.globalPooling3D) { parameters, context throws(ModelError) in
                try context.pool(parameters.type == .average ? .average : .maximum, nil, spatialRank: 3)
            },
        ]
    }
}

private enum PoolingKind { case maximum, average, length }

/// The common attributes of the pooling layers with two and with three spatial axes.
private struct PoolingWindow {
    var kernel: [Int]
    var strides: [Int]
    var padding: WindowPadding
    var roundsUp = false
    var excludesPadding: Bool

    init(_ layer: SpecPoolingLayerParams) throws(ModelError) {
        kernel = layer.kernelSize.isEmpty ? [3, 3] : layer.kernelSize.map { Int(clamping: $0) }
        strides = layer.stride.isEmpty ? [1, 1] : layer.stride.map { Int(clamping: $0) }
        excludesPadding = layer.avgPoolExcludePadding
        switch layer.poolingPaddingType {
        case .valid(let valid): padding = try WindowPadding(valid.paddingAmounts)
        case .same(let same): padding = WindowPadding(same)
        case .includeLastPixel(let complete):
            let amounts = complete.paddingAmounts.isEmpty ? [0, 0] : complete.paddingAmounts.map { Int(clamping: $0) }
            guard amounts.count == 2, amounts.allSatisfy({ $0 <= 1 << 24 }) else {
                throw ModelError(
                    .invalidModel,
                    "padding amounts \(amounts); one for rows and one for columns are needed"
                )
            }
            padding = .custom(before: amounts, after: amounts)
            roundsUp = true
        case nil: padding = .valid
        }
        try WindowPadding.check(kernel, strides, spatialRank: 2)
    }

    init(_ layer: SpecPooling3DLayerParams) throws(ModelError) {
        func extents(_ numbers: [Int32]) -> [Int] { numbers.map { max(1, Int($0)) } }
        kernel = extents([layer.kernelDepth, layer.kernelHeight, layer.kernelWidth])
        strides = extents([layer.strideDepth, layer.strideHeight, layer.strideWidth])
        excludesPadding = layer.countExcludePadding
        switch layer.paddingType {
        case .custom:
            padding = .custom(
                before: [layer.customPaddingFront, layer.customPaddingTop, layer.customPaddingLeft].map { Int($0) },
                after: [layer.customPaddingBack, layer.customPaddingBottom, layer.customPaddingRight].map { Int($0) }
            )
        case .valid: padding = .valid
        case .same: padding = .same
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "padding type \(value) is not known")
        }
        try WindowPadding.check(kernel, strides, spatialRank: 3)
    }

    func op<Function: PoolingFunction>(_: Function.Type) -> Pooling<Function> {
        Pooling(
            kernel: kernel,
            strides: strides,
            padding: padding,
            roundsUp: roundsUp,
            excludesPadding: excludesPadding && Function.self == Average.self
        )
    }
}

extension LayerContext {
    /// - Parameter window: `nil` for global pooling.
    fileprivate mutating func pool(
        _ kind: PoolingKind,
        _ window: PoolingWindow?,
        spatialRank: Int
    ) throws(ModelError) {
        let input = try input()
        let x = try merged(input, keeping: spatialRank + 1)
        let y: ValueID
        switch kind {
        case .maximum: y = try add(window?.op(Maximum.self) ?? MaxPool.global, x)
        case .average: y = try add(window?.op(Average.self) ?? AveragePool.global, x)
        case .length: y = try add(window?.op(EuclideanLength.self) ?? L2Pool.global, x)
        }
        try setOutputs([try restored(y, like: input, keeping: spatialRank + 1)])
    }
}
