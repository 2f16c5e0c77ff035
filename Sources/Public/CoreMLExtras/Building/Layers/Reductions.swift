import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// What becomes of the elements along the axes of [… C, H, W].
    public enum ImageReduction: Hashable, Sendable {
        case sum, average, product
        /// The sum of ln(x + epsilon).
        case logSum(epsilon: Float)
        case sumOfSquares, l1, l2, maximum, minimum
        /// The place of the greatest; over one axis.
        case argMax
    }

    /// Axes of [… C, H, W].
    public enum ImageAxes: Hashable, Sendable { case chw, hw, c, h, w }

    /// Reduces axes of [… C, H, W] to extent 1.
    @discardableResult
    public mutating func reduce(
        _ name: String,
        _ function: ImageReduction,
        _ input: Value,
        over axes: ImageAxes,
        output: Value? = nil
    ) -> Value {
        var layer = SpecReduceLayerParams()
        layer.axis =
            switch axes {
            case .chw: .chw
            case .hw: .hw
            case .c: .c
            case .h: .h
            case .w: .w
            }
        switch function {
        case .sum: layer.mode = .sum
        case .average: layer.mode = .avg
        case .product: layer.mode = .prod
        case .logSum(let epsilon): (layer.mode, layer.epsilon) = (.logsum, epsilon)
        case .sumOfSquares: layer.mode = .sumsquare
        case .l1: layer.mode = .l1
        case .l2: layer.mode = .l2
        case .maximum: layer.mode = .max
        case .minimum: layer.mode = .min
        case .argMax: layer.mode = .argmax
        }
        return add(name, [input], output, .reduce(layer))
    }

    /// What becomes of the elements along any axes.
    public enum Reduction: Hashable, Sendable, CaseIterable {
        case sum, mean, product, maximum, minimum, l1, l2
        case sumOfSquares
        /// ln Σx
        case logSum
        /// ln Σeˣ
        case logSumExp
    }

    /// Reduces axes of a value of any rank.
    /// - Parameters:
    ///   - axes: negative ones count from the end; `nil` for all.
    ///   - keepsAxes: they stay with extent 1.
    @discardableResult
    public mutating func reduceND(
        _ name: String,
        _ function: Reduction,
        _ input: Value,
        axes: [Int]? = nil,
        keepsAxes: Bool = true,
        output: Value? = nil
    ) -> Value {
        func set(_ axisField: inout [Int64], _ keep: inout Bool, _ all: inout Bool) {
            axisField = (axes ?? []).map { Int64($0) }
            keep = keepsAxes
            all = axes == nil
        }
        let kind: SpecNeuralNetworkLayer.OneOf_Layer =
            switch function {
            case .sum: .reduceSum(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .mean: .reduceMean(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .product: .reduceProd(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .maximum: .reduceMax(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .minimum: .reduceMin(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .l1: .reduceL1(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .l2: .reduceL2(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .sumOfSquares: .reduceSumSquare(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .logSum: .reduceLogSum(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            case .logSumExp: .reduceLogSumExp(.with { set(&$0.axes, &$0.keepDims, &$0.reduceAll) })
            }
        return add(name, [input], output, kind)
    }

    /// The place of the greatest element along an axis.
    @discardableResult
    public mutating func argMax(
        _ name: String,
        _ input: Value,
        axis: Int,
        keepsAxis: Bool = true,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .argMax(
                .with {
                    $0.axis = Int64(axis)
                    $0.removeDim = !keepsAxis
                }
            )
        )
    }

    /// The place of the least element along an axis.
    @discardableResult
    public mutating func argMin(
        _ name: String,
        _ input: Value,
        axis: Int,
        keepsAxis: Bool = true,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .argMin(
                .with {
                    $0.axis = Int64(axis)
                    $0.removeDim = !keepsAxis
                }
            )
        )
    }

    /// Running sums along an axis.
    /// - Parameters:
    ///   - excludesSelf: each sum ends before its own element.
    ///   - isReversed: from the end.
    @discardableResult
    public mutating func cumulativeSum(
        _ name: String,
        _ input: Value,
        axis: Int,
        excludesSelf: Bool = false,
        isReversed: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .cumSum(
                .with {
                    $0.axis = Int64(axis)
                    $0.excludeFinalSum = excludesSelf
                    $0.reverse = isReversed
                }
            )
        )
    }
}
