import MLGraph

extension Catalogue {
    /// All operators of this package.
    package static let standard = Catalogue(withoutLayers, loweredFromLayers: withLayers + families)

    /// Operators that no kind of layer is lowered to, by family.
    private static let withoutLayers: [any Operator.Type] = [
        // Activations
        PRelu.self, ParametricSoftplus.self,
        // Classification and control flow
        Classify.self, Cond.self, WhileLoop.self,
        // Convolution
        ConvolutionQuantized.self, ConvolutionTransposed.self,
        // Elementwise and linear
        Cast.self, Einsum.self, MatMul.self,
        // Lists
        ListGather.self, ListLength.self, ListRead.self, ListScatter.self, ListWrite.self, MakeList.self,
        // Normalization
        InstanceNorm.self,
        // Quantization
        ConstexprAffineDequantize.self, ConstexprBlockwiseShiftScale.self, ConstexprCast.self,
        ConstexprLutToDense.self, ConstexprLutToSparse.self, ConstexprPackedLutToDense.self,
        ConstexprPackedSparseToDense.self, ConstexprSparseBlockwiseShiftScale.self, ConstexprSparseToDense.self,
        Dequantize.self, Quantize.self,
        // Resizing
        Affine.self, Resample.self,
        // Shapes
        BatchToSpace.self, Crop.self, Regroup.self, SliceByContents.self, SliceUpdate.self, SpaceToBatch.self,
        // State
        ReadState.self, UpdateState.self,
        // Transformers
        ScaledDotProductAttention.self,
    ]

    /// Operators with rules for layers, by family, except the forms of generic ones.
    private static let withLayers: [any LoweredFromLayers.Type] = [
        // Activations, convolution, detection
        Softmax.self, Convolution.self, NonMaximumSuppression.self,
        // Elementwise and linear
        Select.self, Linear.self,
        // Normalization
        BatchNorm.self, L2Norm.self, LayerNorm.self, LocalResponseNorm.self,
        // Random
        RandomCategorical.self,
        // Recurrent
        GRU.self, LSTM.self, RNN.self,
        // Reduction
        CumulativeSum.self,
        // Resizing
        CropResize.self,
        // ScatterGather
        Gather.self, GatherAlongAxis.self, GatherND.self, Scatter.self, ScatterAlongAxis.self, ScatterND.self,
        // Shapes
        ArgSort.self, BandPart.self, BroadcastTo.self, Concat.self, ExpandDims.self, Fill.self, FillLike.self,
        Flatten2D.self, Identity.self, NonZero.self, OneHot.self, Pad.self, Range1D.self, Reshape.self,
        ReshapeLike.self, Reverse.self, ReverseSequence.self, ShapeOf.self, SliceByIndex.self, SliceBySize.self,
        SlidingWindows.self, Split.self, Squeeze.self, Stack.self, Tile.self, TopK.self, Transpose.self,
    ]

    // MARK: Forms of generic operators

    // A type that the program states in full, such as `Unary<Relu>`, is made at run time from its name, and the
    // conformance of its argument is searched among all of the program, which takes a tenth of a millisecond and more.
    // The functions below get the argument together with its conformance.

    /// The forms of generic operators; all have rules for layers.
    private static var families: [any LoweredFromLayers.Type] {
        unaryFunctions.map { unary($0) } + binaryFunctions.map { binary($0) } + reductions.map { reduction($0) }
            + extrema.map { extremum($0) } + distributions.map { distribution($0) } + pools.map { pool($0) }
            + blockOrders.map { rearrangement($0) } + resizeForms.map { resize($0) }
    }

    private static func unary<Function: ScalarFunction>(_: Function.Type) -> any LoweredFromLayers.Type {
        Unary<Function>.self
    }

    private static func binary<Function: BinaryFunction>(_: Function.Type) -> any LoweredFromLayers.Type {
        Binary<Function>.self
    }

    private static func reduction<Function: ReductionFunction>(_: Function.Type) -> any LoweredFromLayers.Type {
        Reduction<Function>.self
    }

    private static func extremum<Which: Extremum>(_: Which.Type) -> any LoweredFromLayers.Type { ReduceArg<Which>.self }

    private static func distribution<Numbers: Distribution>(_: Numbers.Type) -> any LoweredFromLayers.Type {
        RandomFill<Numbers>.self
    }

    private static func pool<Function: PoolingFunction>(_: Function.Type) -> any LoweredFromLayers.Type {
        Pooling<Function>.self
    }

    private static func rearrangement<Order: BlockOrder>(_: Order.Type) -> any LoweredFromLayers.Type {
        BlockRearrangement<Order>.self
    }

    private static func resize<Form: ResizeForm>(_: Form.Type) -> any LoweredFromLayers.Type { Resize<Form>.self }

    private static let unaryFunctions: [any ScalarFunction.Type] = [
        // Activations
        ClampedRelu.self, Elu.self, Gelu.self, HardSigmoid.self, LeakyRelu.self, LinearActivation.self, Relu.self,
        Relu6.self, ScaledTanh.self, Sigmoid.self, Silu.self, Softplus.self, Softsign.self, ThresholdedRelu.self,
        // Elementwise
        Abs.self, Acos.self, Acosh.self, Asin.self, Asinh.self, Atan.self, Atanh.self, Ceil.self, Clip.self, Cos.self,
        Cosh.self, Erf.self, Exp.self, Exp2.self, Floor.self, Inverse.self, Log.self, LogicalNot.self, Round.self,
        Rsqrt.self, Sign.self, Sin.self, Sinh.self, Sqrt.self, Square.self, Tan.self, Tanh.self, Threshold.self,
    ]

    private static let binaryFunctions: [any BinaryFunction.Type] = [
        Add.self, Equal.self, FloorDiv.self, Greater.self, GreaterEqual.self, Less.self, LessEqual.self,
        LogicalAnd.self, LogicalOr.self, LogicalXor.self, Max.self, Min.self, Mod.self, Mul.self, NotEqual.self,
        Pow.self, RealDiv.self, Sub.self,
    ]

    private static let reductions: [any ReductionFunction.Type] = [
        L1NormOfElements.self, L2NormOfElements.self, LargestElement.self, LogOfSum.self,
        LogOfSumOfExponentials.self, MeanOfElements.self, ProductOfElements.self, SmallestElement.self,
        SumOfElements.self, SumOfSquares.self,
    ]

    private static let extrema: [any Extremum.Type] = [Greatest.self, Least.self]
    private static let distributions: [any Distribution.Type] = [Bernoulli.self, Normal.self, Uniform.self]
    private static let pools: [any PoolingFunction.Type] = [Average.self, EuclideanLength.self, Maximum.self]
    private static let blockOrders: [any BlockOrder.Type] = [
        DepthToSpaceOrder.self, PixelShuffleOrder.self, PixelUnshuffleOrder.self, SpaceToDepthOrder.self,
    ]
    private static let resizeForms: [any ResizeForm.Type] = [
        ResizeBilinearForm.self, ResizeNearestNeighborForm.self, ResizeToShapeForm.self, UpsampleBilinearForm.self,
        UpsampleNearestNeighborForm.self,
    ]
}
