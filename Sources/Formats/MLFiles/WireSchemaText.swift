// Written by scripts/generate/wire-schema from proto/.
// swift-format-ignore-file

/// The fields of every message, for naming the place where a file breaks.
let wireSchemaText = """
    AcosLayerParams
    AcoshLayerParams
    ActivationELU 1:f:alpha
    ActivationLeakyReLU 1:f:alpha
    ActivationLinear 1:f:alpha 2:f:beta
    ActivationPReLU 1:mWeightParams:alpha
    ActivationParametricSoftplus 1:mWeightParams:alpha 2:mWeightParams:beta
    ActivationParams 5:mActivationLinear:linear 10:mActivationReLU:ReLU 15:mActivationLeakyReLU:leakyReLU 20:mActivationThresholdedReLU:thresholdedReLU 25:mActivationPReLU:PReLU 30:mActivationTanh:tanh 31:mActivationScaledTanh:scaledTanh 40:mActivationSigmoid:sigmoid 41:mActivationSigmoidHard:sigmoidHard 50:mActivationELU:ELU 60:mActivationSoftsign:softsign 70:mActivationSoftplus:softplus 71:mActivationParametricSoftplus:parametricSoftplus
    ActivationReLU
    ActivationScaledTanh 1:f:alpha 2:f:beta
    ActivationSigmoid
    ActivationSigmoidHard 1:f:alpha 2:f:beta
    ActivationSoftplus
    ActivationSoftsign
    ActivationTanh
    ActivationThresholdedReLU 1:f:alpha
    AdamOptimizer 1:mDoubleParameter:learningRate 2:mInt64Parameter:miniBatchSize 3:mDoubleParameter:beta1 4:mDoubleParameter:beta2 5:mDoubleParameter:eps
    AddBroadcastableLayerParams
    AddLayerParams 1:f:alpha
    ArgMaxLayerParams 1:v:axis 2:v:removeDim
    ArgMinLayerParams 1:v:axis 2:v:removeDim
    ArgSortLayerParams 1:v:axis 2:v:descending
    Argument 1:+mArgument.Binding:arguments
    Argument.Binding 1:s:name 2:mValue:value
    ArrayFeatureExtractor 1:+v:extractIndex
    ArrayFeatureType 1:+v:shape 2:v:dataType 21:mArrayFeatureType.EnumeratedShapes:enumeratedShapes 31:mArrayFeatureType.ShapeRange:shapeRange 41:v:intDefaultValue 51:f:floatDefaultValue 61:d:doubleDefaultValue
    ArrayFeatureType.EnumeratedShapes 1:+mArrayFeatureType.Shape:shapes
    ArrayFeatureType.Shape 1:+v:shape
    ArrayFeatureType.ShapeRange 1:+mSizeRange:sizeRanges
    AsinLayerParams
    AsinhLayerParams
    AtanLayerParams
    AtanhLayerParams
    AudioFeaturePrint 20:mAudioFeaturePrint.Sound:sound
    AudioFeaturePrint.Sound 1:v:version
    AverageLayerParams
    BatchedMatMulLayerParams 1:v:transposeA 2:v:transposeB 5:v:weightMatrixFirstDimension 6:v:weightMatrixSecondDimension 7:v:hasBias 8:mWeightParams:weights 9:mWeightParams:bias 10:v:int8DynamicQuantize
    BatchnormLayerParams 1:v:channels 5:v:computeMeanVar 6:v:instanceNormalization 10:f:epsilon 15:mWeightParams:gamma 16:mWeightParams:beta 17:mWeightParams:mean 18:mWeightParams:variance
    BayesianProbitRegressor 1:v:numberOfFeatures 2:mBayesianProbitRegressor.Gaussian:bias 3:+mBayesianProbitRegressor.FeatureWeight:features 10:s:regressionInputFeatureName 11:s:optimismInputFeatureName 12:s:samplingScaleInputFeatureName 13:s:samplingTruncationInputFeatureName 20:s:meanOutputFeatureName 21:s:varianceOutputFeatureName 22:s:pessimisticProbabilityOutputFeatureName 23:s:sampledProbabilityOutputFeatureName
    BayesianProbitRegressor.FeatureValueWeight 1:v:featureValue 2:mBayesianProbitRegressor.Gaussian:featureWeight
    BayesianProbitRegressor.FeatureWeight 1:v:featureId 2:+mBayesianProbitRegressor.FeatureValueWeight:weights
    BayesianProbitRegressor.Gaussian 1:d:mean 2:d:precision
    BiDirectionalLSTMLayerParams 1:v:inputVectorSize 2:v:outputVectorSize 10:+mActivationParams:activationsForwardLSTM 11:+mActivationParams:activationsBackwardLSTM 15:mLSTMParams:params 20:+mLSTMWeightParams:weightParams
    BiasLayerParams 1:+v:shape 2:mWeightParams:bias
    Block 1:+mNamedValueType:inputs 2:+s:outputs 3:+mOperation:operations 4:+mBlock.attributes[]:attributes
    Block.attributes[] 1:s:key 2:mValue:value
    BoolParameter 1:v:defaultValue
    BorderAmounts 10:+mBorderAmounts.EdgeSizes:borderAmounts
    BorderAmounts.EdgeSizes 1:v:startEdgeSize 2:v:endEdgeSize
    BoxCoordinatesMode 1:v:boxMode
    BranchLayerParams 1:mNeuralNetwork:ifBranch 2:mNeuralNetwork:elseBranch
    BroadcastToDynamicLayerParams
    BroadcastToLikeLayerParams
    BroadcastToStaticLayerParams 1:+v:targetShape
    CategoricalCrossEntropyLossLayer 1:s:input 2:s:target
    CategoricalDistributionLayerParams 1:v:seed 2:v:numSamples 3:v:isLogits 4:f:eps 5:f:temperature
    CategoricalMapping 1:mStringToInt64Map:stringToInt64Map 2:mInt64ToStringMap:int64ToStringMap 101:s:strValue 102:v:int64Value
    CeilLayerParams
    ClampedReLULayerParams 1:f:alpha 2:f:beta
    ClassConfidenceThresholding 100:+mPrecisionRecallCurve:precisionRecallCurves
    ClipLayerParams 1:f:minVal 2:f:maxVal
    Coefficients 1:+d:alpha
    ConcatLayerParams 100:v:sequenceConcat
    ConcatNDLayerParams 1:v:axis 2:v:interleave
    ConstantPaddingLayerParams 1:f:value 2:+v:padAmounts 3:v:padToGivenOutputSizeMode
    Convolution3DLayerParams 1:v:outputChannels 2:v:inputChannels 10:v:nGroups 20:v:kernelDepth 21:v:kernelHeight 22:v:kernelWidth 31:v:strideDepth 32:v:strideHeight 33:v:strideWidth 40:v:dilationDepth 41:v:dilationHeight 42:v:dilationWidth 50:v:hasBias 60:mWeightParams:weights 61:mWeightParams:bias 70:v:paddingType 80:v:customPaddingFront 81:v:customPaddingBack 82:v:customPaddingTop 83:v:customPaddingBottom 84:v:customPaddingLeft 85:v:customPaddingRight 86:v:isDeconvolution 87:+v:outputShape
    ConvolutionLayerParams 1:v:outputChannels 2:v:kernelChannels 10:v:nGroups 20:+v:kernelSize 30:+v:stride 40:+v:dilationFactor 50:mValidPadding:valid 51:mSamePadding:same 60:v:isDeconvolution 70:v:hasBias 90:mWeightParams:weights 91:mWeightParams:bias 100:+v:outputShape
    CopyLayerParams
    CosLayerParams
    CoshLayerParams
    CropLayerParams 1:mBorderAmounts:cropAmounts 5:+v:offset
    CropResizeLayerParams 1:+v:targetSize 2:v:normalizedCoordinates 3:mSamplingMode:mode 4:mBoxCoordinatesMode:boxIndicesMode 5:f:spatialScale
    CumSumLayerParams 1:v:axis 2:v:excludeFinalSum 3:v:reverse
    CustomLayerParams 10:s:className 20:+mWeightParams:weights 30:+mCustomLayerParams.parameters[]:parameters 40:s:description
    CustomLayerParams.CustomLayerParamValue 10:d:doubleValue 20:s:stringValue 30:v:intValue 40:v:longValue 50:v:boolValue
    CustomLayerParams.parameters[] 1:s:key 2:mCustomLayerParams.CustomLayerParamValue:value
    CustomModel 10:s:className 30:+mCustomModel.parameters[]:parameters 40:s:description
    CustomModel.CustomModelParamValue 10:d:doubleValue 20:s:stringValue 30:v:intValue 40:v:longValue 50:v:boolValue 60:b:bytesValue
    CustomModel.parameters[] 1:s:key 2:mCustomModel.CustomModelParamValue:value
    DenseSupportVectors 1:+mDenseVector:vectors
    DenseVector 1:+d:values
    DictVectorizer 1:mStringVector:stringToIndex 2:mInt64Vector:int64ToIndex
    DictionaryFeatureType 1:mInt64FeatureType:int64KeyType 2:mStringFeatureType:stringKeyType
    DictionaryType 1:mValueType:keyType 2:mValueType:valueType
    DictionaryValue 1:+mDictionaryValue.KeyValuePair:values
    DictionaryValue.KeyValuePair 1:mValue:key 2:mValue:value
    Dimension 1:mDimension.ConstantDimension:constant 2:mDimension.UnknownDimension:unknown
    Dimension.ConstantDimension 1:v:size
    Dimension.UnknownDimension 1:v:variadic
    DivideBroadcastableLayerParams
    DotProductLayerParams 1:v:cosineSimilarity
    DoubleFeatureType
    DoubleParameter 1:d:defaultValue 10:mDoubleRange:range
    DoubleRange 1:d:minValue 2:d:maxValue
    DoubleVector 1:+d:vector
    EmbeddingLayerParams 1:v:inputDim 2:v:outputChannels 10:v:hasBias 20:mWeightParams:weights 21:mWeightParams:bias
    EmbeddingNDLayerParams 1:v:vocabSize 2:v:embeddingSize 3:v:hasBias 20:mWeightParams:weights 21:mWeightParams:bias
    EqualLayerParams 1:f:alpha
    ErfLayerParams
    Exp2LayerParams
    ExpandDimsLayerParams 1:+v:axes
    FeatureDescription 1:s:name 2:s:shortDescription 3:mFeatureType:type
    FeatureType 1:mInt64FeatureType:int64Type 2:mDoubleFeatureType:doubleType 3:mStringFeatureType:stringType 4:mImageFeatureType:imageType 5:mArrayFeatureType:multiArrayType 6:mDictionaryFeatureType:dictionaryType 7:mSequenceFeatureType:sequenceType 8:mStateFeatureType:stateType 1000:v:isOptional
    FeatureVectorizer 1:+mFeatureVectorizer.InputColumn:inputList
    FeatureVectorizer.InputColumn 1:s:inputColumn 2:v:inputDimensions
    FillDynamicLayerParams 1:f:value
    FillLikeLayerParams 1:f:value
    FillStaticLayerParams 1:f:value 2:+v:targetShape
    FlattenLayerParams 1:v:mode
    FlattenTo2DLayerParams 1:v:axis
    FloatParameter 1:f:defaultValue 10:mFloatRange:range
    FloatRange 1:f:minValue 2:f:maxValue
    FloatVector 1:+f:vector
    FloorDivBroadcastableLayerParams
    FloorLayerParams
    Function 1:+mNamedValueType:inputs 2:s:opset 3:+mFunction.block_specializations[]:block_specializations 4:+mFunction.attributes[]:attributes
    Function.attributes[] 1:s:key 2:mValue:value
    Function.block_specializations[] 1:s:key 2:mBlock:value
    FunctionDescription 1:s:name 2:+mFeatureDescription:input 3:+mFeatureDescription:output 6:+mFeatureDescription:state 4:s:predictedFeatureName 5:s:predictedProbabilitiesName
    GLMClassifier 1:+mGLMClassifier.DoubleArray:weights 2:+d:offset 3:v:postEvaluationTransform 4:v:classEncoding 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels
    GLMClassifier.DoubleArray 1:+d:value
    GLMRegressor 1:+mGLMRegressor.DoubleArray:weights 2:+d:offset 3:v:postEvaluationTransform
    GLMRegressor.DoubleArray 1:+d:value
    GRULayerParams 1:v:inputVectorSize 2:v:outputVectorSize 10:+mActivationParams:activations 15:v:sequenceOutput 20:v:hasBiasVectors 30:mWeightParams:updateGateWeightMatrix 31:mWeightParams:resetGateWeightMatrix 32:mWeightParams:outputGateWeightMatrix 50:mWeightParams:updateGateRecursionMatrix 51:mWeightParams:resetGateRecursionMatrix 52:mWeightParams:outputGateRecursionMatrix 70:mWeightParams:updateGateBiasVector 71:mWeightParams:resetGateBiasVector 72:mWeightParams:outputGateBiasVector 100:v:reverseInput
    GatherAlongAxisLayerParams 1:v:axis
    GatherLayerParams 1:v:axis
    GatherNDLayerParams
    Gazetteer 1:v:revision 10:s:language 100:b:modelParameterData 200:mStringVector:stringClassLabels
    GeluLayerParams 1:v:mode
    GetShapeLayerParams
    GlobalPooling3DLayerParams 1:v:type
    GreaterEqualLayerParams 2:f:alpha
    GreaterThanLayerParams 2:f:alpha
    Identity
    ImageFeatureType 1:v:width 2:v:height 21:mImageFeatureType.EnumeratedImageSizes:enumeratedSizes 31:mImageFeatureType.ImageSizeRange:imageSizeRange 3:v:colorSpace
    ImageFeatureType.EnumeratedImageSizes 1:+mImageFeatureType.ImageSize:sizes
    ImageFeatureType.ImageSize 1:v:width 2:v:height
    ImageFeatureType.ImageSizeRange 1:mSizeRange:widthRange 2:mSizeRange:heightRange
    Imputer 1:d:imputedDoubleValue 2:v:imputedInt64Value 3:s:imputedStringValue 4:mDoubleVector:imputedDoubleArray 5:mInt64Vector:imputedInt64Array 6:mStringToDoubleMap:imputedStringDictionary 7:mInt64ToDoubleMap:imputedInt64Dictionary 11:d:replaceDoubleValue 12:v:replaceInt64Value 13:s:replaceStringValue
    InnerProductLayerParams 1:v:inputChannels 2:v:outputChannels 10:v:hasBias 20:mWeightParams:weights 21:mWeightParams:bias 22:v:int8DynamicQuantize
    Int32Parameter 1:v:defaultValue 10:mInt32Range:range 11:mInt32Set:set
    Int32Range 1:v:minValue 2:v:maxValue
    Int32Set 1:+v:values
    Int64FeatureType
    Int64Parameter 1:v:defaultValue 10:mInt64Range:range 11:mInt64Set:set
    Int64Range 1:v:minValue 2:v:maxValue
    Int64Set 1:+v:values
    Int64ToDoubleMap 1:+mInt64ToDoubleMap.map[]:map
    Int64ToDoubleMap.map[] 1:v:key 2:d:value
    Int64ToStringMap 1:+mInt64ToStringMap.map[]:map
    Int64ToStringMap.map[] 1:v:key 2:s:value
    Int64Vector 1:+v:vector
    InverseDistanceWeighting
    ItemSimilarityRecommender 1:+mItemSimilarityRecommender.SimilarItems:itemItemSimilarities 2:mStringVector:itemStringIds 3:mInt64Vector:itemInt64Ids 10:s:itemInputFeatureName 11:s:numRecommendationsInputFeatureName 12:s:itemRestrictionInputFeatureName 13:s:itemExclusionInputFeatureName 20:s:recommendedItemListOutputFeatureName 21:s:recommendedItemScoreOutputFeatureName
    ItemSimilarityRecommender.ConnectedItem 1:v:itemId 2:d:similarityScore
    ItemSimilarityRecommender.SimilarItems 1:v:itemId 2:+mItemSimilarityRecommender.ConnectedItem:similarItemList 3:d:itemScoreAdjustment
    KNearestNeighborsClassifier 1:mNearestNeighborsIndex:nearestNeighborsIndex 3:mInt64Parameter:numberOfNeighbors 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels 110:s:defaultStringLabel 111:v:defaultInt64Label 200:mUniformWeighting:uniformWeighting 210:mInverseDistanceWeighting:inverseDistanceWeighting
    Kernel 1:mLinearKernel:linearKernel 2:mRBFKernel:rbfKernel 3:mPolyKernel:polyKernel 4:mSigmoidKernel:sigmoidKernel
    L2NormalizeLayerParams 1:f:epsilon
    LRNLayerParams 1:f:alpha 2:f:beta 3:v:localSize 4:f:k
    LSTMParams 10:v:sequenceOutput 20:v:hasBiasVectors 30:v:forgetBias 40:v:hasPeepholeVectors 50:v:coupledInputAndForgetGate 60:f:cellClipThreshold
    LSTMWeightParams 1:mWeightParams:inputGateWeightMatrix 2:mWeightParams:forgetGateWeightMatrix 3:mWeightParams:blockInputWeightMatrix 4:mWeightParams:outputGateWeightMatrix 20:mWeightParams:inputGateRecursionMatrix 21:mWeightParams:forgetGateRecursionMatrix 22:mWeightParams:blockInputRecursionMatrix 23:mWeightParams:outputGateRecursionMatrix 40:mWeightParams:inputGateBiasVector 41:mWeightParams:forgetGateBiasVector 42:mWeightParams:blockInputBiasVector 43:mWeightParams:outputGateBiasVector 60:mWeightParams:inputGatePeepholeVector 61:mWeightParams:forgetGatePeepholeVector 62:mWeightParams:outputGatePeepholeVector
    LayerNormalizationLayerParams 1:+v:normalizedShape 2:f:eps 3:mWeightParams:gamma 4:mWeightParams:beta
    LessEqualLayerParams 2:f:alpha
    LessThanLayerParams 2:f:alpha
    LinearIndex
    LinearKernel
    LinearQuantizationParams 1:+f:scale 2:+f:bias
    LinkedModel 1:mLinkedModelFile:linkedModelFile
    LinkedModelFile 1:mStringParameter:linkedModelFileName 2:mStringParameter:linkedModelSearchPath
    ListType 1:mValueType:type 2:mDimension:length
    ListValue 1:+mValue:values
    LoadConstantLayerParams 1:+v:shape 2:mWeightParams:data
    LoadConstantNDLayerParams 1:+v:shape 2:mWeightParams:data
    LogicalAndLayerParams
    LogicalNotLayerParams
    LogicalOrLayerParams
    LogicalXorLayerParams
    LookUpTableQuantizationParams 1:+f:floatValue
    LoopBreakLayerParams
    LoopContinueLayerParams
    LoopLayerParams 1:v:maxLoopIterations 2:s:conditionVar 3:mNeuralNetwork:conditionNetwork 4:mNeuralNetwork:bodyNetwork
    LossLayer 1:s:name 10:mCategoricalCrossEntropyLossLayer:categoricalCrossEntropyLossLayer 11:mMeanSquaredErrorLossLayer:meanSquaredErrorLossLayer
    LowerTriangularLayerParams 1:v:k
    MatrixBandPartLayerParams 1:v:numLower 2:v:numUpper
    MaxBroadcastableLayerParams
    MaxLayerParams
    MeanSquaredErrorLossLayer 1:s:input 2:s:target
    MeanVarianceNormalizeLayerParams 1:v:acrossChannels 2:v:normalizeVariance 3:f:epsilon
    Metadata 1:s:shortDescription 2:s:versionString 3:s:author 4:s:license 100:+mMetadata.userDefined[]:userDefined
    Metadata.userDefined[] 1:s:key 2:s:value
    MinBroadcastableLayerParams
    MinLayerParams
    ModBroadcastableLayerParams
    Model 1:v:specificationVersion 2:mModelDescription:description 10:v:isUpdatable 200:mPipelineClassifier:pipelineClassifier 201:mPipelineRegressor:pipelineRegressor 202:mPipeline:pipeline 300:mGLMRegressor:glmRegressor 301:mSupportVectorRegressor:supportVectorRegressor 302:mTreeEnsembleRegressor:treeEnsembleRegressor 303:mNeuralNetworkRegressor:neuralNetworkRegressor 304:mBayesianProbitRegressor:bayesianProbitRegressor 400:mGLMClassifier:glmClassifier 401:mSupportVectorClassifier:supportVectorClassifier 402:mTreeEnsembleClassifier:treeEnsembleClassifier 403:mNeuralNetworkClassifier:neuralNetworkClassifier 404:mKNearestNeighborsClassifier:kNearestNeighborsClassifier 500:mNeuralNetwork:neuralNetwork 501:mItemSimilarityRecommender:itemSimilarityRecommender 502:mProgram:mlProgram 555:mCustomModel:customModel 556:mLinkedModel:linkedModel 560:mClassConfidenceThresholding:classConfidenceThresholding 600:mOneHotEncoder:oneHotEncoder 601:mImputer:imputer 602:mFeatureVectorizer:featureVectorizer 603:mDictVectorizer:dictVectorizer 604:mScaler:scaler 606:mCategoricalMapping:categoricalMapping 607:mNormalizer:normalizer 609:mArrayFeatureExtractor:arrayFeatureExtractor 610:mNonMaximumSuppression:nonMaximumSuppression 900:mIdentity:identity 2000:mTextClassifier:textClassifier 2001:mWordTagger:wordTagger 2002:mVisionFeaturePrint:visionFeaturePrint 2003:mSoundAnalysisPreprocessing:soundAnalysisPreprocessing 2004:mGazetteer:gazetteer 2005:mWordEmbedding:wordEmbedding 2006:mAudioFeaturePrint:audioFeaturePrint 3000:mSerializedModel:serializedModel
    ModelDescription 20:+mFunctionDescription:functions 21:s:defaultFunctionName 100:mMetadata:metadata 1:+mFeatureDescription:input 10:+mFeatureDescription:output 13:+mFeatureDescription:state 11:s:predictedFeatureName 12:s:predictedProbabilitiesName 50:+mFeatureDescription:trainingInput
    MultiplyBroadcastableLayerParams
    MultiplyLayerParams 1:f:alpha
    NamedParameter 1:s:name 2:s:shortDescription 3:mParameter:parameter
    NamedValueType 1:s:name 2:mValueType:type
    NearestNeighborsIndex 1:v:numberOfDimensions 2:+mFloatVector:floatSamples 100:mLinearIndex:linearIndex 110:mSingleKdTreeIndex:singleKdTreeIndex 200:mSquaredEuclideanDistance:squaredEuclideanDistance
    NetworkUpdateParameters 1:+mLossLayer:lossLayers 2:mOptimizer:optimizer 3:mInt64Parameter:epochs 10:mBoolParameter:shuffle 20:mInt64Parameter:seed
    NeuralNetwork 1:+mNeuralNetworkLayer:layers 2:+mNeuralNetworkPreprocessing:preprocessing 5:v:arrayInputShapeMapping 6:v:imageInputShapeMapping 10:mNetworkUpdateParameters:updateParams
    NeuralNetworkClassifier 1:+mNeuralNetworkLayer:layers 2:+mNeuralNetworkPreprocessing:preprocessing 5:v:arrayInputShapeMapping 6:v:imageInputShapeMapping 10:mNetworkUpdateParameters:updateParams 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels 200:s:labelProbabilityLayerName
    NeuralNetworkImageScaler 10:f:channelScale 20:f:blueBias 21:f:greenBias 22:f:redBias 30:f:grayBias
    NeuralNetworkLayer 1:s:name 2:+s:input 3:+s:output 4:+mTensor:inputTensor 5:+mTensor:outputTensor 10:v:isUpdatable 100:mConvolutionLayerParams:convolution 120:mPoolingLayerParams:pooling 130:mActivationParams:activation 140:mInnerProductLayerParams:innerProduct 150:mEmbeddingLayerParams:embedding 160:mBatchnormLayerParams:batchnorm 165:mMeanVarianceNormalizeLayerParams:mvn 170:mL2NormalizeLayerParams:l2normalize 175:mSoftmaxLayerParams:softmax 180:mLRNLayerParams:lrn 190:mCropLayerParams:crop 200:mPaddingLayerParams:padding 210:mUpsampleLayerParams:upsample 211:mResizeBilinearLayerParams:resizeBilinear 212:mCropResizeLayerParams:cropResize 220:mUnaryFunctionLayerParams:unary 230:mAddLayerParams:add 231:mMultiplyLayerParams:multiply 240:mAverageLayerParams:average 245:mScaleLayerParams:scale 250:mBiasLayerParams:bias 260:mMaxLayerParams:max 261:mMinLayerParams:min 270:mDotProductLayerParams:dot 280:mReduceLayerParams:reduce 290:mLoadConstantLayerParams:loadConstant 300:mReshapeLayerParams:reshape 301:mFlattenLayerParams:flatten 310:mPermuteLayerParams:permute 320:mConcatLayerParams:concat 330:mSplitLayerParams:split 340:mSequenceRepeatLayerParams:sequenceRepeat 345:mReorganizeDataLayerParams:reorganizeData 350:mSliceLayerParams:slice 400:mSimpleRecurrentLayerParams:simpleRecurrent 410:mGRULayerParams:gru 420:mUniDirectionalLSTMLayerParams:uniDirectionalLSTM 430:mBiDirectionalLSTMLayerParams:biDirectionalLSTM 500:mCustomLayerParams:custom 600:mCopyLayerParams:copy 605:mBranchLayerParams:branch 615:mLoopLayerParams:loop 620:mLoopBreakLayerParams:loopBreak 625:mLoopContinueLayerParams:loopContinue 635:mRangeStaticLayerParams:rangeStatic 640:mRangeDynamicLayerParams:rangeDynamic 660:mClipLayerParams:clip 665:mCeilLayerParams:ceil 670:mFloorLayerParams:floor 680:mSignLayerParams:sign 685:mRoundLayerParams:round 700:mExp2LayerParams:exp2 710:mSinLayerParams:sin 715:mCosLayerParams:cos 720:mTanLayerParams:tan 730:mAsinLayerParams:asin 735:mAcosLayerParams:acos 740:mAtanLayerParams:atan 750:mSinhLayerParams:sinh 755:mCoshLayerParams:cosh 760:mTanhLayerParams:tanh 770:mAsinhLayerParams:asinh 775:mAcoshLayerParams:acosh 780:mAtanhLayerParams:atanh 790:mErfLayerParams:erf 795:mGeluLayerParams:gelu 815:mEqualLayerParams:equal 820:mNotEqualLayerParams:notEqual 825:mLessThanLayerParams:lessThan 827:mLessEqualLayerParams:lessEqual 830:mGreaterThanLayerParams:greaterThan 832:mGreaterEqualLayerParams:greaterEqual 840:mLogicalOrLayerParams:logicalOr 845:mLogicalXorLayerParams:logicalXor 850:mLogicalNotLayerParams:logicalNot 855:mLogicalAndLayerParams:logicalAnd 865:mModBroadcastableLayerParams:modBroadcastable 870:mMinBroadcastableLayerParams:minBroadcastable 875:mMaxBroadcastableLayerParams:maxBroadcastable 880:mAddBroadcastableLayerParams:addBroadcastable 885:mPowBroadcastableLayerParams:powBroadcastable 890:mDivideBroadcastableLayerParams:divideBroadcastable 895:mFloorDivBroadcastableLayerParams:floorDivBroadcastable 900:mMultiplyBroadcastableLayerParams:multiplyBroadcastable 905:mSubtractBroadcastableLayerParams:subtractBroadcastable 920:mTileLayerParams:tile 925:mStackLayerParams:stack 930:mGatherLayerParams:gather 935:mScatterLayerParams:scatter 940:mGatherNDLayerParams:gatherND 945:mScatterNDLayerParams:scatterND 950:mSoftmaxNDLayerParams:softmaxND 952:mGatherAlongAxisLayerParams:gatherAlongAxis 954:mScatterAlongAxisLayerParams:scatterAlongAxis 960:mReverseLayerParams:reverse 965:mReverseSeqLayerParams:reverseSeq 975:mSplitNDLayerParams:splitND 980:mConcatNDLayerParams:concatND 985:mTransposeLayerParams:transpose 995:mSliceStaticLayerParams:sliceStatic 1000:mSliceDynamicLayerParams:sliceDynamic 1005:mSlidingWindowsLayerParams:slidingWindows 1015:mTopKLayerParams:topK 1020:mArgMinLayerParams:argMin 1025:mArgMaxLayerParams:argMax 1040:mEmbeddingNDLayerParams:embeddingND 1045:mBatchedMatMulLayerParams:batchedMatmul 1065:mGetShapeLayerParams:getShape 1070:mLoadConstantNDLayerParams:loadConstantND 1080:mFillLikeLayerParams:fillLike 1085:mFillStaticLayerParams:fillStatic 1090:mFillDynamicLayerParams:fillDynamic 1100:mBroadcastToLikeLayerParams:broadcastToLike 1105:mBroadcastToStaticLayerParams:broadcastToStatic 1110:mBroadcastToDynamicLayerParams:broadcastToDynamic 1120:mSqueezeLayerParams:squeeze 1125:mExpandDimsLayerParams:expandDims 1130:mFlattenTo2DLayerParams:flattenTo2D 1135:mReshapeLikeLayerParams:reshapeLike 1140:mReshapeStaticLayerParams:reshapeStatic 1145:mReshapeDynamicLayerParams:reshapeDynamic 1150:mRankPreservingReshapeLayerParams:rankPreservingReshape 1155:mConstantPaddingLayerParams:constantPad 1170:mRandomNormalLikeLayerParams:randomNormalLike 1175:mRandomNormalStaticLayerParams:randomNormalStatic 1180:mRandomNormalDynamicLayerParams:randomNormalDynamic 1190:mRandomUniformLikeLayerParams:randomUniformLike 1195:mRandomUniformStaticLayerParams:randomUniformStatic 1200:mRandomUniformDynamicLayerParams:randomUniformDynamic 1210:mRandomBernoulliLikeLayerParams:randomBernoulliLike 1215:mRandomBernoulliStaticLayerParams:randomBernoulliStatic 1220:mRandomBernoulliDynamicLayerParams:randomBernoulliDynamic 1230:mCategoricalDistributionLayerParams:categoricalDistribution 1250:mReduceL1LayerParams:reduceL1 1255:mReduceL2LayerParams:reduceL2 1260:mReduceMaxLayerParams:reduceMax 1265:mReduceMinLayerParams:reduceMin 1270:mReduceSumLayerParams:reduceSum 1275:mReduceProdLayerParams:reduceProd 1280:mReduceMeanLayerParams:reduceMean 1285:mReduceLogSumLayerParams:reduceLogSum 1290:mReduceSumSquareLayerParams:reduceSumSquare 1295:mReduceLogSumExpLayerParams:reduceLogSumExp 1313:mWhereNonZeroLayerParams:whereNonZero 1315:mMatrixBandPartLayerParams:matrixBandPart 1320:mLowerTriangularLayerParams:lowerTriangular 1325:mUpperTriangularLayerParams:upperTriangular 1330:mWhereBroadcastableLayerParams:whereBroadcastable 1350:mLayerNormalizationLayerParams:layerNormalization 1400:mNonMaximumSuppressionLayerParams:NonMaximumSuppression 1450:mOneHotLayerParams:oneHot 1455:mCumSumLayerParams:cumSum 1460:mClampedReLULayerParams:clampedReLU 1461:mArgSortLayerParams:argSort 1465:mPooling3DLayerParams:pooling3d 1466:mGlobalPooling3DLayerParams:globalPooling3d 1470:mSliceBySizeLayerParams:sliceBySize 1471:mConvolution3DLayerParams:convolution3d
    NeuralNetworkMeanImage 1:+f:meanImage
    NeuralNetworkPreprocessing 1:s:featureName 10:mNeuralNetworkImageScaler:scaler 11:mNeuralNetworkMeanImage:meanImage
    NeuralNetworkRegressor 1:+mNeuralNetworkLayer:layers 2:+mNeuralNetworkPreprocessing:preprocessing 5:v:arrayInputShapeMapping 6:v:imageInputShapeMapping 10:mNetworkUpdateParameters:updateParams
    NonMaximumSuppression 1:mNonMaximumSuppression.PickTop:pickTop 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels 110:d:iouThreshold 111:d:confidenceThreshold 200:s:confidenceInputFeatureName 201:s:coordinatesInputFeatureName 202:s:iouThresholdInputFeatureName 203:s:confidenceThresholdInputFeatureName 210:s:confidenceOutputFeatureName 211:s:coordinatesOutputFeatureName
    NonMaximumSuppression.PickTop 1:v:perClass
    NonMaximumSuppressionLayerParams 1:f:iouThreshold 2:f:scoreThreshold 3:v:maxBoxes 4:v:perClassSuppression
    Normalizer 1:v:normType
    NotEqualLayerParams 1:f:alpha
    OneHotEncoder 1:mStringVector:stringCategories 2:mInt64Vector:int64Categories 10:v:outputSparse 11:v:handleUnknown
    OneHotLayerParams 1:v:oneHotVectorSize 2:v:axis 3:f:onValue 4:f:offValue
    Operation 1:s:type 2:+mOperation.inputs[]:inputs 3:+mNamedValueType:outputs 4:+mBlock:blocks 5:+mOperation.attributes[]:attributes
    Operation.attributes[] 1:s:key 2:mValue:value
    Operation.inputs[] 1:s:key 2:mArgument:value
    Optimizer 10:mSGDOptimizer:sgdOptimizer 11:mAdamOptimizer:adamOptimizer
    PaddingLayerParams 1:mPaddingLayerParams.PaddingConstant:constant 2:mPaddingLayerParams.PaddingReflection:reflection 3:mPaddingLayerParams.PaddingReplication:replication 10:mBorderAmounts:paddingAmounts
    PaddingLayerParams.PaddingConstant 1:f:value
    PaddingLayerParams.PaddingReflection
    PaddingLayerParams.PaddingReplication
    Parameter 1:mInt32Parameter:int32Parameter 2:mFloatParameter:floatParameter
    PermuteLayerParams 1:+v:axis
    Pipeline 1:+mModel:models 2:+s:names
    PipelineClassifier 1:mPipeline:pipeline
    PipelineRegressor 1:mPipeline:pipeline
    PolyKernel 1:v:degree 2:d:c 3:d:gamma
    Pooling3DLayerParams 1:v:type 2:v:kernelDepth 3:v:kernelHeight 4:v:kernelWidth 5:v:strideDepth 6:v:strideHeight 7:v:strideWidth 15:v:paddingType 8:v:customPaddingFront 9:v:customPaddingBack 10:v:customPaddingTop 11:v:customPaddingBottom 12:v:customPaddingLeft 13:v:customPaddingRight 14:v:countExcludePadding
    PoolingLayerParams 1:v:type 10:+v:kernelSize 20:+v:stride 30:mValidPadding:valid 31:mSamePadding:same 32:mPoolingLayerParams.ValidCompletePadding:includeLastPixel 50:v:avgPoolExcludePadding 60:v:globalPooling
    PoolingLayerParams.ValidCompletePadding 10:+v:paddingAmounts
    PowBroadcastableLayerParams
    PrecisionRecallCurve 1:mFloatVector:precisionValues 2:mFloatVector:precisionConfidenceThresholds 3:mFloatVector:recallValues 4:mFloatVector:recallConfidenceThresholds
    Program 1:v:version 2:+mProgram.functions[]:functions 3:s:docString 4:+mProgram.attributes[]:attributes
    Program.attributes[] 1:s:key 2:mValue:value
    Program.functions[] 1:s:key 2:mFunction:value
    QuantizationParams 1:v:numberOfBits 101:mLinearQuantizationParams:linearQuantization 102:mLookUpTableQuantizationParams:lookupTableQuantization
    RBFKernel 1:d:gamma
    RandomBernoulliDynamicLayerParams 1:v:seed 2:f:prob
    RandomBernoulliLikeLayerParams 1:v:seed 2:f:prob
    RandomBernoulliStaticLayerParams 1:v:seed 2:f:prob 3:+v:outputShape
    RandomNormalDynamicLayerParams 1:v:seed 2:f:mean 3:f:stdDev
    RandomNormalLikeLayerParams 1:v:seed 2:f:mean 3:f:stdDev
    RandomNormalStaticLayerParams 1:v:seed 2:f:mean 3:f:stdDev 4:+v:outputShape
    RandomUniformDynamicLayerParams 1:v:seed 2:f:minVal 3:f:maxVal
    RandomUniformLikeLayerParams 1:v:seed 2:f:minVal 3:f:maxVal
    RandomUniformStaticLayerParams 1:v:seed 2:f:minVal 3:f:maxVal 4:+v:outputShape
    RangeDynamicLayerParams 2:f:startValue 3:f:stepSizeValue
    RangeStaticLayerParams 1:f:endValue 2:f:startValue 3:f:stepSizeValue
    RankPreservingReshapeLayerParams 1:+v:targetShape
    ReduceL1LayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceL2LayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceLayerParams 1:v:mode 2:f:epsilon 3:v:axis
    ReduceLogSumExpLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceLogSumLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceMaxLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceMeanLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceMinLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceProdLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceSumLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReduceSumSquareLayerParams 1:+v:axes 2:v:keepDims 3:v:reduceAll
    ReorganizeDataLayerParams 1:v:mode 2:v:blockSize
    ReshapeDynamicLayerParams
    ReshapeLayerParams 1:+v:targetShape 2:v:mode
    ReshapeLikeLayerParams
    ReshapeStaticLayerParams 1:+v:targetShape
    ResizeBilinearLayerParams 1:+v:targetSize 2:mSamplingMode:mode
    ReverseLayerParams 1:+v:reverseDim
    ReverseSeqLayerParams 1:v:batchAxis 2:v:sequenceAxis
    RoundLayerParams
    SGDOptimizer 1:mDoubleParameter:learningRate 2:mInt64Parameter:miniBatchSize 3:mDoubleParameter:momentum
    SamePadding 1:v:asymmetryMode
    SamplingMode 1:v:samplingMethod
    ScaleLayerParams 1:+v:shapeScale 2:mWeightParams:scale 3:v:hasBias 4:+v:shapeBias 5:mWeightParams:bias
    Scaler 1:+d:shiftValue 2:+d:scaleValue
    ScatterAlongAxisLayerParams 1:v:axis 2:v:mode
    ScatterLayerParams 1:v:axis 2:v:mode
    ScatterNDLayerParams 1:v:mode
    SequenceFeatureType 1:mInt64FeatureType:int64Type 3:mStringFeatureType:stringType 101:mSizeRange:sizeRange
    SequenceRepeatLayerParams 1:v:nRepetitions
    SerializedModel 1:s:identifier 2:b:model
    SigmoidKernel 1:d:gamma 2:d:c
    SignLayerParams
    SimpleRecurrentLayerParams 1:v:inputVectorSize 2:v:outputVectorSize 10:mActivationParams:activation 15:v:sequenceOutput 20:v:hasBiasVector 30:mWeightParams:weightMatrix 31:mWeightParams:recursionMatrix 32:mWeightParams:biasVector 100:v:reverseInput
    SinLayerParams
    SingleKdTreeIndex 1:v:leafSize
    SinhLayerParams
    SizeRange 1:v:lowerBound 2:v:upperBound
    SliceBySizeLayerParams 2:v:size 3:v:axis
    SliceDynamicLayerParams 2:+v:beginMasks 3:+v:endIds 4:+v:endMasks 5:+v:strides 6:+v:squeezeMasks
    SliceLayerParams 1:v:startIndex 2:v:endIndex 3:v:stride 4:v:axis
    SliceStaticLayerParams 1:+v:beginIds 2:+v:beginMasks 3:+v:endIds 4:+v:endMasks 5:+v:strides 6:+v:squeezeMasks
    SlidingWindowsLayerParams 1:v:axis 2:v:windowSize 3:v:step
    SoftmaxLayerParams
    SoftmaxNDLayerParams 1:v:axis
    SoundAnalysisPreprocessing 20:mSoundAnalysisPreprocessing.Vggish:vggish
    SoundAnalysisPreprocessing.Vggish
    SparseNode 1:v:index 2:d:value
    SparseSupportVectors 1:+mSparseVector:vectors
    SparseVector 1:+mSparseNode:nodes
    SplitLayerParams 1:v:nOutputs
    SplitNDLayerParams 1:v:axis 2:v:numSplits 3:+v:splitSizes
    SquaredEuclideanDistance
    SqueezeLayerParams 1:+v:axes 2:v:squeezeAll
    StackLayerParams 1:v:axis
    StateFeatureType 1:mArrayFeatureType:arrayType
    StateType 1:mValueType:wrappedType
    StringFeatureType
    StringParameter 1:s:defaultValue
    StringToDoubleMap 1:+mStringToDoubleMap.map[]:map
    StringToDoubleMap.map[] 1:s:key 2:d:value
    StringToInt64Map 1:+mStringToInt64Map.map[]:map
    StringToInt64Map.map[] 1:s:key 2:v:value
    StringVector 1:+s:vector
    SubtractBroadcastableLayerParams
    SupportVectorClassifier 1:mKernel:kernel 2:+v:numberOfSupportVectorsPerClass 3:mSparseSupportVectors:sparseSupportVectors 4:mDenseSupportVectors:denseSupportVectors 5:+mCoefficients:coefficients 6:+d:rho 7:+d:probA 8:+d:probB 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels
    SupportVectorRegressor 1:mKernel:kernel 2:mSparseSupportVectors:sparseSupportVectors 3:mDenseSupportVectors:denseSupportVectors 4:mCoefficients:coefficients 5:d:rho
    TanLayerParams
    TanhLayerParams
    Tensor 1:v:rank 2:+v:dimValue
    TensorType 1:v:dataType 2:v:rank 3:+mDimension:dimensions 4:+mTensorType.attributes[]:attributes
    TensorType.attributes[] 1:s:key 2:mValue:value
    TensorValue 1:mTensorValue.RepeatedFloats:floats 2:mTensorValue.RepeatedInts:ints 3:mTensorValue.RepeatedBools:bools 4:mTensorValue.RepeatedStrings:strings 5:mTensorValue.RepeatedLongInts:longInts 6:mTensorValue.RepeatedDoubles:doubles 7:mTensorValue.RepeatedBytes:bytes
    TensorValue.RepeatedBools 1:+v:values
    TensorValue.RepeatedBytes 1:b:values
    TensorValue.RepeatedDoubles 1:+d:values
    TensorValue.RepeatedFloats 1:+f:values
    TensorValue.RepeatedInts 1:+v:values
    TensorValue.RepeatedLongInts 1:+v:values
    TensorValue.RepeatedStrings 1:+s:values
    TextClassifier 1:v:revision 10:s:language 100:b:modelParameterData 200:mStringVector:stringClassLabels
    TileLayerParams 1:+v:reps
    TopKLayerParams 1:v:axis 2:v:K 3:v:useBottomK
    TransposeLayerParams 1:+v:axes
    TreeEnsembleClassifier 1:mTreeEnsembleParameters:treeEnsemble 2:v:postEvaluationTransform 100:mStringVector:stringClassLabels 101:mInt64Vector:int64ClassLabels
    TreeEnsembleParameters 1:+mTreeEnsembleParameters.TreeNode:nodes 2:v:numPredictionDimensions 3:+d:basePredictionValue
    TreeEnsembleParameters.TreeNode 1:v:treeId 2:v:nodeId 3:v:nodeBehavior 10:v:branchFeatureIndex 11:d:branchFeatureValue 12:v:trueChildNodeId 13:v:falseChildNodeId 14:v:missingValueTracksTrueChild 20:+mTreeEnsembleParameters.TreeNode.EvaluationInfo:evaluationInfo 30:d:relativeHitRate
    TreeEnsembleParameters.TreeNode.EvaluationInfo 1:v:evaluationIndex 2:d:evaluationValue
    TreeEnsembleRegressor 1:mTreeEnsembleParameters:treeEnsemble 2:v:postEvaluationTransform
    TupleType 1:+mValueType:types
    TupleValue 1:+mValue:values
    UnaryFunctionLayerParams 1:v:type 2:f:alpha 3:f:epsilon 4:f:shift 5:f:scale
    UniDirectionalLSTMLayerParams 1:v:inputVectorSize 2:v:outputVectorSize 10:+mActivationParams:activations 15:mLSTMParams:params 20:mLSTMWeightParams:weightParams 100:v:reverseInput
    UniformWeighting
    UpperTriangularLayerParams 1:v:k
    UpsampleLayerParams 1:+v:scalingFactor 7:+f:fractionalScalingFactor 5:v:mode 6:v:linearUpsampleMode
    ValidPadding 1:mBorderAmounts:paddingAmounts
    Value 1:s:docString 2:mValueType:type 3:mValue.ImmediateValue:immediateValue 5:mValue.BlobFileValue:blobFileValue
    Value.BlobFileValue 1:s:fileName 2:v:offset
    Value.ImmediateValue 1:mTensorValue:tensor 2:mTupleValue:tuple 3:mListValue:list 4:mDictionaryValue:dictionary
    ValueType 1:mTensorType:tensorType 2:mListType:listType 3:mTupleType:tupleType 4:mDictionaryType:dictionaryType 5:mStateType:stateType
    VisionFeaturePrint 20:mVisionFeaturePrint.Scene:scene 21:mVisionFeaturePrint.Objects:objects
    VisionFeaturePrint.Objects 1:v:version 100:+s:output
    VisionFeaturePrint.Scene 1:v:version
    WeightParams 1:+f:floatValue 2:b:float16Value 30:b:rawValue 31:b:int8RawValue 40:mQuantizationParams:quantization 50:v:isUpdatable
    WhereBroadcastableLayerParams
    WhereNonZeroLayerParams
    WordEmbedding 1:v:revision 10:s:language 100:b:modelParameterData
    WordTagger 1:v:revision 10:s:language 20:s:tokensOutputFeatureName 21:s:tokenTagsOutputFeatureName 22:s:tokenLocationsOutputFeatureName 23:s:tokenLengthsOutputFeatureName 100:b:modelParameterData 200:mStringVector:stringTags
    """
