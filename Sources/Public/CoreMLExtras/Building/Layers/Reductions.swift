import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The function that reduces elements along axes of [… C, H, W] to one.
    public enum ImageReduction: Hashable, Sendable {
        /// The sum, the mean or the product.
        case sum, average, product
        /// The sum of ln(x + epsilon).
        case logSum(epsilon: Float)
        /// The sum of squares, the sum of absolute values, the Euclidean norm, the greatest or the least element.
        case sumOfSquares, l1, l2, maximum, minimum
        /// The position of the greatest element, over one axis.
        case argMax
    }

    /// A set of axes of [… C, H, W].
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

    /// The function that reduces elements along any axes to one.
    public enum Reduction: Hashable, Sendable, CaseIterable {
        /// The sum, mean, product, greatest or least element, sum of absolute values or Euclidean norm.
        case sum, mean, product, maximum, minimum, l1, l2
        /// The sum of squares.
        case sumOfSquares
        /// ln Σx.
        case logSum
        /// ln Σeˣ.
        case logSumExp
    }

    /// Reduces axes of a value of any rank.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - function: The function that reduces elements to one.
    ///   - input: The value to process.
    ///   - axes: The axes; negative ones count from the last; nil, the default, for all.
    ///   - keepsAxes: Whether reduced axes stay with extent 1; true by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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

    /// The position of the greatest element along an axis.
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

    /// The position of the least element along an axis.
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

    /// Cumulative sums along an axis.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - axis: The axis; a negative one counts from the last.
    ///   - excludesSelf: Whether each sum excludes its own element; false by default.
    ///   - isReversed: Whether sums start at the end; false by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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
