package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// The function that a pool applies to the elements in its window.
package protocol PoolingFunction: Hashable, Sendable {
    static var milName: MILName { get }
    /// The result of a window.
    ///
    /// - Parameters:
    ///   - sum: The accumulated value: the largest element, the sum, or the sum of squares.
    ///   - count: The number of elements in the window, including the padding when it counts.
    /// - Returns: The pooled value.
    static func result(_ sum: Double, count: Int) -> Double
    static func accumulate(_ sum: Double, _ element: Double) -> Double
    static var start: Double { get }
}

/// The largest element.
package enum Maximum: PoolingFunction {
    package static let milName: MILName = "max_pool"
    package static let start = -Double.infinity
    package static func accumulate(_ sum: Double, _ element: Double) -> Double { Swift.max(sum, element) }
    package static func result(_ sum: Double, count: Int) -> Double { sum }
}

/// The mean; padding counts as zeros, unless `excludesPadding`.
package enum Average: PoolingFunction {
    package static let milName: MILName = "avg_pool"
    package static let start = 0.0
    package static func accumulate(_ sum: Double, _ element: Double) -> Double { sum + element }
    package static func result(_ sum: Double, count: Int) -> Double { sum / Double(Swift.max(count, 1)) }
}

/// The Euclidean norm.
package enum EuclideanLength: PoolingFunction {
    package static let milName: MILName = "l2_pool"
    package static let start = 0.0
    package static func accumulate(_ sum: Double, _ element: Double) -> Double { sum + element * element }
    package static func result(_ sum: Double, count: Int) -> Double { sum.squareRoot() }
}

package typealias MaxPool = Pooling<Maximum>
package typealias AveragePool = Pooling<Average>
package typealias L2Pool = Pooling<EuclideanLength>

/// Reduces the elements under a window that slides over the spatial axes.
///
/// Operand: x [N, C, spatial…] of rank 3 to 5. Result: [N, C, ⌊(spatial + padding − window) / stride⌋ + 1 …], with
/// `roundsUp` ⌈…⌉, without a window that would start beyond the input and its leading padding.
package struct Pooling<Function: PoolingFunction>: Operator {
    package static var names: [MILName] { [Function.milName] }

    /// The extents of the window; `nil` covers all spatial axes.
    package var kernel: [Int]?
    package var strides: [Int]
    package var padding: WindowPadding
    package var roundsUp: Bool
    package var excludesPadding: Bool

    /// Global pooling, over all spatial axes.
    package static var global: Pooling { Pooling() }

    private init() {
        kernel = nil
        strides = []
        padding = .valid
        roundsUp = false
        excludesPadding = false
    }

    package init(
        kernel: [Int],
        strides: [Int]? = nil,
        padding: WindowPadding = .valid,
        roundsUp: Bool = false,
        excludesPadding: Bool = false
    ) {
        self.kernel = kernel
        self.strides = strides ?? kernel.map { _ in 1 }
        self.padding = padding
        self.roundsUp = roundsUp
        self.excludesPadding = excludesPadding
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let kernel = try arguments.ints("kernel_sizes")
        let isAverage = Function.self == Average.self
        self.init(
            kernel: kernel,
            strides: try arguments.ints("strides", default: kernel.map { _ in 1 }),
            padding: try WindowPadding(reading: &arguments, spatialRank: kernel.count),
            roundsUp: try arguments.bool("ceil_mode", default: false),
            excludesPadding: isAverage ? try arguments.bool("exclude_padding_from_average", default: false) : false
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard (3...5).contains(x.rank) else {
            throw ModelError(.invalidModel, "\(displayName) needs x of rank 3 to 5, not \(x)")
        }
        var shape = Array(x.shape.prefix(2))
        guard let kernel else { return [x.with(shape + [Dimension](repeating: 1, count: x.rank - 2))] }
        guard kernel.count == x.rank - 2, strides.count == kernel.count, (kernel + strides).allSatisfy({ $0 > 0 })
        else {
            throw ModelError(
                .invalidModel,
                "kernel sizes \(kernel) and strides \(strides) must be \(x.rank - 2) positive numbers each"
            )
        }
        try padding.check(spatialRank: kernel.count)
        for axis in kernel.indices {
            guard let extent = x.shape[axis + 2].count else {
                shape.append(.unknown)
                continue
            }
            let stride = strides[axis]
            let pad = padding.amounts(axis: axis, extent: extent, window: kernel[axis], stride: stride)
            let room = extent + pad.before + pad.after - kernel[axis]
            guard room >= 0 else {
                throw ModelError(
                    .invalidModel,
                    "a window of \(kernel[axis]) does not fit into spatial axis \(axis) of \(extent) elements"
                )
            }
            var result = room / stride + 1
            if roundsUp {
                result = (room + stride - 1) / stride + 1
                if pad.before + pad.after > 0, (result - 1) * stride >= extent + pad.before { result -= 1 }
            }
            shape.append(Dimension(result))
        }
        return [x.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let shape = operands.shape()
        let window = geometry(x.shape, shape).volumetric
        let input = x.values
        var result: [Double] = []
        result.reserveCapacity(shape.elementCount)
        for slice in 0..<shape[0] * shape[1] {
            for d in 0..<window.output[0] {
                for h in 0..<window.output[1] {
                    for w in 0..<window.output[2] {
                        var sum = Function.start
                        var count = 0
                        window.forEachTap(d, h, w) { position, _ in
                            sum = Function.accumulate(sum, input[slice * window.inputCount + position])
                            count += 1
                        }
                        if !excludesPadding { count = paddedCount(window, [d, h, w]) }
                        result.append(Function.result(sum, count: count))
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    /// The number of the window's elements inside the input and its padding, which extends at least `before` elements
    /// beyond the input's end.
    func paddedCount(_ window: WindowGeometry, _ position: [Int]) -> Int {
        position.indices.reduce(1) { count, axis in
            let start = position[axis] * window.strides[axis] - window.before[axis]
            let lead = 3 - strides.count
            var end = window.input[axis]
            if axis >= lead {
                end +=
                    padding.amounts(
                        axis: axis - lead,
                        extent: window.input[axis],
                        window: window.kernel[axis],
                        stride: window.strides[axis]
                    ).after
            }
            return count * Swift.max(Swift.min(start + window.kernel[axis], end) - start, 1)
        }
    }

    /// The window over concrete logical shapes.
    package func geometry(_ x: [Int], _ result: [Int]) -> WindowGeometry {
        let input = Array(x.dropFirst(2))
        let ones = input.map { _ in 1 }
        return WindowGeometry(
            padding: padding,
            input: input,
            kernel: kernel ?? input,
            strides: kernel == nil ? ones : strides,
            dilations: ones,
            output: Array(result.dropFirst(2))
        )
    }

    /// Whether this is a mean over all spatial axes, which is a reduction.
    func coversAll(_ spatial: [Int]) -> Bool {
        Function.self == Average.self && (kernel == nil || kernel == spatial && padding == .valid)
    }

    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? { try context.rows(self) }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard let shape = (try? operands.shape(0))?.counts else { return .channelsLast }
        return coversAll(Array(shape.dropFirst(2))) ? .agnostic : .channelsLastIfAdjacent
    }
}

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
    /// Appends a pool of the layer's input.
    ///
    /// - Parameters:
    ///   - kind: The function that the layer applies.
    ///   - window: The window; `nil` for global pooling.
    ///   - spatialRank: The number of axes that the window spans.
    /// - Throws: Errors of the operators' type rules.
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

extension Pooling {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let y = request.results.first,
            x.layout == y.layout, x.count > 0, y.count > 0, let operation
        else { return [] }
        let window = geometry(x.logicalShape, y.logicalShape)
        let (batch, channels) = (x.logicalShape[0], x.logicalShape[1])
        let isLast = x.layout == .channelsLast
        if coversAll(window.input) {
            let space = window.input.reduce(1, *)
            return [
                Kernel("mean") { context in
                    ReductionKernel.reduce(
                        .mean,
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: isLast ? batch : batch * channels,
                        axis: space,
                        inner: isLast ? channels : 1
                    )
                }
            ]
        }
        let geometry = ConvolutionGeometry(
            batch: isLast ? batch : batch * channels,
            inputSize: window.input,
            outputSize: window.output,
            strides: window.strides,
            dilations: window.dilations,
            paddingBefore: window.before
        )
        let after = window.input.indices.map { axis in
            kernel == nil
                ? 0
                : padding.amounts(
                    axis: axis,
                    extent: window.input[axis],
                    window: window.kernel[axis],
                    stride: window.strides[axis]
                ).after
        }
        return [
            Kernel("pool") { context in
                PoolingKernel.pool(
                    operation,
                    context.floats(0),
                    into: context.resultFloats(),
                    geometry,
                    kernel: window.kernel,
                    paddingAfter: after,
                    inner: isLast ? channels : 1
                )
            }
        ]
    }

    private var operation: PoolingKernel.Operation? {
        if Function.self == Maximum.self { return .maximum }
        if Function.self == EuclideanLength.self { return .l2Norm }
        if Function.self == Average.self { return excludesPadding ? .mean : .meanWithPadding }
        return nil
    }
}

extension Pooling: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dx = try context.add(
            PoolingGradient(self),
            context.operand(),
            context.results[0],
            context.resultGradient()
        )
        context.setGradient(ofOperand: 0, to: dx)
    }
}
