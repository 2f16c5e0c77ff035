import MLGraph
import MLNumerics
import MLSpecification

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

extension L1NormOfElements {
    package static var layers: [LayerRule] { [.reduction("reduceL1", \.reduceL1, Self.self)] }
}

extension L2NormOfElements {
    package static var layers: [LayerRule] { [.reduction("reduceL2", \.reduceL2, Self.self)] }
}

extension LargestElement {
    package static var layers: [LayerRule] { [.reduction("reduceMax", \.reduceMax, Self.self)] }
}

extension SmallestElement {
    package static var layers: [LayerRule] { [.reduction("reduceMin", \.reduceMin, Self.self)] }
}

extension ProductOfElements {
    package static var layers: [LayerRule] { [.reduction("reduceProd", \.reduceProd, Self.self)] }
}

extension MeanOfElements {
    package static var layers: [LayerRule] { [.reduction("reduceMean", \.reduceMean, Self.self)] }
}

extension LogOfSum {
    package static var layers: [LayerRule] { [.reduction("reduceLogSum", \.reduceLogSum, Self.self)] }
}

extension SumOfSquares {
    package static var layers: [LayerRule] { [.reduction("reduceSumSquare", \.reduceSumSquare, Self.self)] }
}

extension LogOfSumOfExponentials {
    package static var layers: [LayerRule] { [.reduction("reduceLogSumExp", \.reduceLogSumExp, Self.self)] }
}

extension SumOfElements {
    package static var layers: [LayerRule] {
        [
            .reduction("reduceSum", \.reduceSum, Self.self),
            LayerRule("reduce", \.reduce) { parameters, context throws(ModelError) in
                try context.finish(try context.reduced(parameters))
            },
        ]
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

extension ReduceArg: LoweredFromLayers {
    package static var layers: [LayerRule] { Which.layers }
}

extension Extremum {
    /// The index of the extremum; a rank of 1 is kept.
    fileprivate static func lower(_ axis: Int64, _ removes: Bool, _ context: inout LayerContext) throws(ModelError) {
        let op = ReduceArg<Self>(axis: Int(clamping: axis), keepsDimensions: !removes)
        try context.finish(try context.add(op, context.input()))
    }
}

extension Greatest {
    package static var layers: [LayerRule] {
        [
            LayerRule("argMax", \.argMax) { parameters, context throws(ModelError) in
                try lower(parameters.axis, parameters.removeDim, &context)
            }
        ]
    }
}

extension Least {
    package static var layers: [LayerRule] {
        [
            LayerRule("argMin", \.argMin) { parameters, context throws(ModelError) in
                try lower(parameters.axis, parameters.removeDim, &context)
            }
        ]
    }
}

extension CumulativeSum: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("cumSum", \.cumSum) { parameters, context throws(ModelError) in
                let op = CumulativeSum(
                    axis: context.inputs.count > 1 ? 0 : Int(clamping: parameters.axis),
                    isExclusive: parameters.excludeFinalSum,
                    isReversed: parameters.reverse
                )
                let axis = context.inputs.count > 1 ? try context.integers(context.input(1)) : nil
                try context.finish(try context.add(op, context.input(), axis))
            }
        ]
    }
}
