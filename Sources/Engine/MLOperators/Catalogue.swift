package import MLGraph

/// The operators that the readers know.
///
/// A value, not a registry: custom layers and tests create their own catalogues.
package struct Catalogue: Sendable {
    package let operators: [any Operator.Type]
    private let byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]]
    private var byField: [String: LayerRule]

    package init(_ operators: [any Operator.Type]) {
        self.operators = operators
        var byName: [String: [(opsets: ClosedRange<Opset>, type: any Operator.Type)]] = [:]
        for type in operators {
            for name in type.names { byName[name.name, default: []].append((name.opsets, type)) }
        }
        self.byName = byName
        var byField: [String: LayerRule] = [:]
        for case let type as any LoweredFromLayers.Type in operators {
            for rule in type.layers { byField[rule.field.lowercased()] = rule }
        }
        self.byField = byField
    }

    /// The catalogue with one additional kind of layer.
    package func adding(_ rule: LayerRule) -> Catalogue {
        var copy = self
        copy.byField[rule.field.lowercased()] = rule
        return copy
    }

    /// The operator that reads the MIL operation `name` as `opset` defines it.
    package func operatorType(named name: String, opset: Opset) -> (any Operator.Type)? {
        byName[name]?.first { $0.opsets.contains(opset) }?.type
    }

    /// The rule for the kind of layer in the field `name` of `NeuralNetworkLayer`, ignoring case: the generated code
    /// spells some fields differently.
    package func rule(forField name: String) -> LayerRule? { byField[name.lowercased()] }

    /// All operators of this package, by family.
    package static let standard = Catalogue([
        // Activations
        PRelu.self, ParametricSoftplus.self, Softmax.self, Unary<ClampedRelu>.self, Unary<Elu>.self, Unary<Gelu>.self,
        Unary<HardSigmoid>.self, Unary<LeakyRelu>.self, Unary<LinearActivation>.self, Unary<Relu>.self,
        Unary<Relu6>.self, Unary<ScaledTanh>.self, Unary<Sigmoid>.self, Unary<Silu>.self, Unary<Softplus>.self,
        Unary<Softsign>.self, Unary<ThresholdedRelu>.self,
        // Classification
        Classify.self,
        // ControlFlow
        Cond.self, WhileLoop.self,
        // Convolution
        Convolution.self, ConvolutionQuantized.self, ConvolutionTransposed.self,
        // Detection
        NonMaximumSuppression.self,
        // Elementwise
        Cast.self, Select.self, Binary<Add>.self, Binary<Equal>.self, Binary<FloorDiv>.self, Binary<Greater>.self,
        Binary<GreaterEqual>.self, Binary<Less>.self, Binary<LessEqual>.self, Binary<LogicalAnd>.self,
        Binary<LogicalOr>.self, Binary<LogicalXor>.self, Binary<Max>.self, Binary<Min>.self, Binary<Mod>.self,
        Binary<Mul>.self, Binary<NotEqual>.self, Binary<Pow>.self, Binary<RealDiv>.self, Binary<Sub>.self,
        Unary<Abs>.self, Unary<Acos>.self, Unary<Acosh>.self, Unary<Asin>.self, Unary<Asinh>.self, Unary<Atan>.self,
        Unary<Atanh>.self, Unary<Ceil>.self,
        Unary<Clip>.self, Unary<Cos>.self, Unary<Cosh>.self, Unary<Erf>.self, Unary<Exp>.self, Unary<Exp2>.self,
        Unary<Floor>.self, Unary<Inverse>.self, Unary<Log>.self, Unary<LogicalNot>.self, Unary<Round>.self,
        Unary<Rsqrt>.self, Unary<Sign>.self, Unary<Sin>.self, Unary<Sinh>.self, Unary<Sqrt>.self, Unary<Square>.self,
        Unary<Tan>.self, Unary<Tanh>.self, Unary<Threshold>.self,
        // Linear
        Einsum.self, Linear.self, MatMul.self,
        // Lists
        ListGather.self, ListLength.self, ListRead.self, ListScatter.self, ListWrite.self, MakeList.self,
        // Normalization
        BatchNorm.self, InstanceNorm.self, L2Norm.self, LayerNorm.self, LocalResponseNorm.self,
        // Pooling
        AveragePool.self, L2Pool.self, MaxPool.self,
        // Quantization
        ConstexprAffineDequantize.self, ConstexprBlockwiseShiftScale.self, ConstexprCast.self,
        ConstexprLutToDense.self, ConstexprLutToSparse.self, ConstexprPackedLutToDense.self,
        ConstexprPackedSparseToDense.self, ConstexprSparseBlockwiseShiftScale.self, ConstexprSparseToDense.self,
        Dequantize.self, Quantize.self,
        // Random
        RandomCategorical.self, RandomFill<Bernoulli>.self, RandomFill<Normal>.self, RandomFill<Uniform>.self,
        // Recurrent
        GRU.self, LSTM.self, RNN.self,
        // Reduction
        CumulativeSum.self, ReduceArg<Greatest>.self, ReduceArg<Least>.self, Reduction<L1NormOfElements>.self,
        Reduction<L2NormOfElements>.self, Reduction<LargestElement>.self, Reduction<LogOfSum>.self,
        Reduction<LogOfSumOfExponentials>.self, Reduction<MeanOfElements>.self, Reduction<ProductOfElements>.self,
        Reduction<SmallestElement>.self, Reduction<SumOfElements>.self, Reduction<SumOfSquares>.self,
        // Resizing
        Affine.self, CropResize.self, Resample.self, ResizeBilinear.self, ResizeNearestNeighbor.self,
        ResizeToShape.self, UpsampleBilinear.self, UpsampleNearestNeighbor.self,
        // ScatterGather
        Gather.self, GatherAlongAxis.self, GatherND.self, Scatter.self, ScatterAlongAxis.self, ScatterND.self,
        // Shapes
        ArgSort.self, BandPart.self, BatchToSpace.self, BroadcastTo.self, Concat.self, Crop.self, DepthToSpace.self,
        ExpandDims.self,
        Fill.self, FillLike.self, Flatten2D.self, Identity.self, NonZero.self, OneHot.self, Pad.self,
        PixelShuffle.self, PixelUnshuffle.self, Range1D.self, Regroup.self, Reshape.self, ReshapeLike.self,
        Reverse.self, ReverseSequence.self, ShapeOf.self, SliceByContents.self, SliceByIndex.self, SliceBySize.self,
        SliceUpdate.self,
        SlidingWindows.self, SpaceToBatch.self, SpaceToDepth.self, Split.self, Squeeze.self, Stack.self, Tile.self,
        TopK.self, Transpose.self,
        // State
        ReadState.self, UpdateState.self,
        // Transformers
        ScaledDotProductAttention.self,
    ])

    /// The operators that only passes create.
    private static let passOperators: [any Operator.Type] = [
        FromGrid.self, IntegerProduct.self, OntoGrid.self, Relayout.self, ToGrid.self,
    ]

    /// The operators that graph files may contain: those of `standard` and those that only passes create, by the names
    /// that `GraphEncoder` writes.
    package static let writtenOperators: [String: any Operator.Type] = {
        var types: [String: any Operator.Type] = [:]
        for type in standard.operators + passOperators { types[GraphEncoder.name(of: type)] = type }
        return types
    }()
}
