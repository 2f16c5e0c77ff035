import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics
import MLSpecification

package struct SumOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_sum"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0, +) }

    package static var layers: [LayerRule] {
        [
            .reduction("reduceSum", \.reduceSum, Self.self),
            LayerRule("reduce", \.reduce) { parameters, context throws(ModelError) in
                try context.finish(try context.reduced(parameters))
            },
        ]
    }

    package static let kernel = ReductionKernel.Operation.sum

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        group.dy
    }
}

package struct MeanOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_mean"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0, +) / Double(elements.count) }
    package static var layers: [LayerRule] { [.reduction("reduceMean", \.reduceMean, Self.self)] }
    package static let kernel = ReductionKernel.Operation.mean

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.scaled(group.dy, by: 1 / Double(Swift.max(group.count, 1)))
    }
}

package struct ProductOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_prod"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(1, *) }
    package static var layers: [LayerRule] { [.reduction("reduceProd", \.reduceProd, Self.self)] }
    package static let kernel = ReductionKernel.Operation.product

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.product(group.dy, reduction.productOfOthers(group.x, group.axes, &context))
    }
}

package struct LargestElement: ReductionFunction {
    package static let names: [MILName] = ["reduce_max"]
    package init() {}

    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(-.infinity) { $0.isNaN ? $0 : $1.isNaN ? $1 : max($0, $1) }
    }

    package static var layers: [LayerRule] { [.reduction("reduceMax", \.reduceMax, Self.self)] }
    package static let kernel = ReductionKernel.Operation.maximum

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.sharedByEqualElements(group)
    }
}

package struct SmallestElement: ReductionFunction {
    package static let names: [MILName] = ["reduce_min"]
    package init() {}

    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(.infinity) { $0.isNaN ? $0 : $1.isNaN ? $1 : min($0, $1) }
    }

    package static var layers: [LayerRule] { [.reduction("reduceMin", \.reduceMin, Self.self)] }
    package static let kernel = ReductionKernel.Operation.minimum

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.sharedByEqualElements(group)
    }
}

/// `Σ |x|`.
package struct L1NormOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_l1_norm"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0) { $0 + Swift.abs($1) } }
    package static var layers: [LayerRule] { [.reduction("reduceL1", \.reduceL1, Self.self)] }
    package static let kernel = ReductionKernel.Operation.l1Norm

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.product(group.dy, context.add(Unary(Sign()), group.x))
    }
}

/// `√(Σ x²)`.
package struct L2NormOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_l2_norm"]
    package init() {}

    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }

    package static var layers: [LayerRule] { [.reduction("reduceL2", \.reduceL2, Self.self)] }
    package static let kernel = ReductionKernel.Operation.l2Norm

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.product(group.dy, context.quotient(group.x, group.y))
    }
}

/// `Σ x²`.
package struct SumOfSquares: ReductionFunction {
    package static let names: [MILName] = ["reduce_sum_square"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0) { $0 + $1 * $1 } }
    package static var layers: [LayerRule] { [.reduction("reduceSumSquare", \.reduceSumSquare, Self.self)] }
    package static let kernel = ReductionKernel.Operation.sumOfSquares

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.product(group.dy, context.scaled(group.x, by: 2))
    }
}

/// `log(Σ x)`.
package struct LogOfSum: ReductionFunction {
    package static let names: [MILName] = ["reduce_log_sum"]
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { log(elements.reduce(0, +)) }
    package static var layers: [LayerRule] { [.reduction("reduceLogSum", \.reduceLogSum, Self.self)] }
    package static let kernel = ReductionKernel.Operation.logSum

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.quotient(group.dy, context.summed(group.x, axes: group.axes, keepsDimensions: true))
    }
}

/// `log(Σ eˣ)`, without overflow.
package struct LogOfSumOfExponentials: ReductionFunction {
    package static let names: [MILName] = ["reduce_log_sum_exp"]
    package init() {}

    package func callAsFunction(_ elements: [Double]) -> Double {
        let largest = elements.max() ?? -.infinity
        guard largest.isFinite else { return largest }
        return log(elements.reduce(0) { $0 + exp($1 - largest) }) + largest
    }

    package static var layers: [LayerRule] { [.reduction("reduceLogSumExp", \.reduceLogSumExp, Self.self)] }
    package static let kernel = ReductionKernel.Operation.logSumExp

    package static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        try context.product(group.dy, context.add(Unary(Exp()), context.difference(group.x, group.y)))
    }
}

/// The fields that the messages of all reducing layers share.
protocol ReductionParameters: Sendable {
    var axes: [Int64] { get }
    var keepDims: Bool { get }
    var reduceAll: Bool { get }
}

extension SpecReduceL1LayerParams: ReductionParameters {}
extension SpecReduceL2LayerParams: ReductionParameters {}
extension SpecReduceMaxLayerParams: ReductionParameters {}
extension SpecReduceMinLayerParams: ReductionParameters {}
extension SpecReduceSumLayerParams: ReductionParameters {}
extension SpecReduceProdLayerParams: ReductionParameters {}
extension SpecReduceMeanLayerParams: ReductionParameters {}
extension SpecReduceLogSumLayerParams: ReductionParameters {}
extension SpecReduceSumSquareLayerParams: ReductionParameters {}
extension SpecReduceLogSumExpLayerParams: ReductionParameters {}

extension LayerRule {
    /// A layer that reduces the axes stated in its message.
    fileprivate static func reduction<Parameters: ReductionParameters, Function: ReductionFunction>(
        _ field: String,
        _ path: any KeyPath<SpecNeuralNetworkLayer, Parameters> & Sendable,
        _: Function.Type
    ) -> LayerRule {
        LayerRule(field, path) { parameters, context throws(ModelError) in
            let op = Reduction<Function>(
                axes: parameters.reduceAll ? nil : integers(parameters.axes),
                keepsDimensions: parameters.keepDims
            )
            try context.finish(try context.add(op, context.input()))
        }
    }
}

extension LayerContext {
    /// The reduction over channels, rows or columns of early models; the rank is unchanged.
    fileprivate mutating func reduced(_ parameters: SpecReduceLayerParams) throws(ModelError) -> ValueID {
        let axes: [Int]
        switch parameters.axis {
        case .chw: axes = [-3, -2, -1]
        case .hw: axes = [-2, -1]
        case .c: axes = [-3]
        case .h: axes = [-2]
        case .w: axes = [-1]
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "axis \(value) of a reduction is not known")
        }
        let x = try input()
        func op<Function: ReductionFunction>(_: Function.Type) -> Reduction<Function> {
            Reduction<Function>(axes: axes, keepsDimensions: true)
        }
        switch parameters.mode {
        case .sum: return try add(op(SumOfElements.self), x)
        case .avg: return try add(op(MeanOfElements.self), x)
        case .prod: return try add(op(ProductOfElements.self), x)
        case .logsum:
            // The sum of logarithms; `reduceLogSum` is the logarithm of the sum.
            return try add(
                op(SumOfElements.self),
                add(Unary(Log(epsilon: stated(parameters.epsilon, or: 1e-6))), x)
            )
        case .sumsquare: return try add(op(SumOfSquares.self), x)
        case .l1: return try add(op(L1NormOfElements.self), x)
        case .l2: return try add(op(L2NormOfElements.self), x)
        case .max: return try add(op(LargestElement.self), x)
        case .min: return try add(op(SmallestElement.self), x)
        case .argmax:
            guard axes.count == 1 else {
                throw ModelError(.invalidModel, "an argmax needs one axis; choose C, H or W")
            }
            return try add(ReduceArg<Greatest>(axis: axes[0], keepsDimensions: true), x)
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "reduction \(value) is not known")
        }
    }
}

extension Reduction<ProductOfElements> {
    /// For every element the product of the others of its group: of those before times those after, so that zeros do no
    /// harm.
    fileprivate func productOfOthers(
        _ x: ValueID,
        _ axes: [Int],
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID {
        let shape = try context.extents(x)
        let kept = shape.indices.filter { !axes.contains($0) }
        let order = kept + axes
        let count = axes.reduce(1) { $0 * shape[$1] }
        let rows = kept.reduce(1) { $0 * shape[$1] }
        guard count <= 1 << 12 else { throw notDifferentiable("over more than 4,096 elements") }
        let matrix = try context.reshaped(context.add(Transpose(order), x), to: [rows, 1, count])
        // Row i of each group has a one at element i.
        let ownPlace = (0..<count * count).map { Double($0 / count == $0 % count ? 1 : 0) }
        let isOwn = context.builder.constant(Tensor(values: ownPlace, scalarType: .bool, shape: [1, count, count]))
        let others = try context.add(Select(), isOwn, context.scalar(1, like: x), matrix)
        let products = try context.add(Reduction<ProductOfElements>(axes: [2], keepsDimensions: false), others)
        let ordered = try context.reshaped(products, to: order.map { shape[$0] })
        let inverse = shape.indices.map { axis in order.firstIndex(of: axis) ?? axis }
        return try context.add(Transpose(inverse), ordered)
    }
}

extension GradientContext {
    /// The gradient of a chosen element of each group; equal elements share it.
    fileprivate mutating func sharedByEqualElements(_ group: ReducedGroup) throws(ModelError) -> ValueID {
        let isChosen = try add(Binary<Equal>(), group.x, group.y)
        let ones = try kept(add(FillLike(value: 1, scalarType: scalarType(group.x)), group.x), where: isChosen)
        let share = try quotient(group.dy, summed(ones, axes: group.axes, keepsDimensions: true))
        return try product(ones, share)
    }
}
