import MLSpecification

/// The specification version that the layers of a neural network need.
enum NetworkVersion {
    static func minimum(
        _ layers: [SpecNeuralNetworkLayer],
        array: SpecNeuralNetworkMultiArrayShapeMapping,
        image: SpecNeuralNetworkImageShapeMapping
    ) -> Int32 {
        let mappings: Int32 = array != .rank5ArrayMapping || image != .rank5ImageMapping ? 4 : 1
        return layers.reduce(mappings) { max($0, max(kind($1), weights(of: $1))) }
    }

    private static func kind(_ layer: SpecNeuralNetworkLayer) -> Int32 {
        switch layer.layer {
        case .convolution?: layer.input.count > 1 ? 4 : 1
        case .innerProduct(let product)?: product.int8DynamicQuantize ? 5 : 1
        case .batchedMatmul(let product)?: product.int8DynamicQuantize ? 5 : 4
        case .upsample(let upsample)?:
            upsample.linearUpsampleMode != .default || !upsample.fractionalScalingFactor.isEmpty ? 5 : 1
        case .reorganizeData(let reorganize)?: reorganize.mode == .pixelShuffle ? 5 : 1
        case .sliceDynamic(let slice)?: layer.input.count == 7 || !slice.squeezeMasks.isEmpty ? 5 : 4
        case .cumSum?, .oneHot?, .clampedReLu?, .argSort?, .pooling3D?, .globalPooling3D?, .sliceBySize?,
            .convolution3D?:
            5
        case .custom?: 2
        case .resizeBilinear?, .cropResize?: 3
        case .batchnorm?, .activation?, .pooling?, .padding?, .concat?, .lrn?, .softmax?, .split?, .add?, .multiply?,
            .unary?, .bias?, .l2Normalize?, .reshape?, .flatten?, .permute?, .reduce?, .loadConstant?, .scale?,
            .simpleRecurrent?, .gru?, .uniDirectionalLstm?, .biDirectionalLstm?, .crop?, .average?, .max?, .min?,
            .dot?, .mvn?, .embedding?, .sequenceRepeat?, .slice?, nil:
            1
        case .branch(let branch)?:
            max(4, branch.ifBranch.layers.map(kind).max() ?? 4, branch.elseBranch.layers.map(kind).max() ?? 4)
        case .loop(let loop)?:
            max(4, loop.bodyNetwork.layers.map(kind).max() ?? 4, loop.conditionNetwork.layers.map(kind).max() ?? 4)
        default: 4
        }
    }

    /// The version that a layer's weights need: 2 for half precision, 3 for quantized ones.
    private static func weights(of layer: SpecNeuralNetworkLayer) -> Int32 {
        parameters(of: layer).map { weights in
            if weights.hasQuantization { return 3 }
            return SpecBytes.count(weights.float16Value) > 0 ? 2 : 1
        }.max() ?? 1
    }

    private static func parameters(of layer: SpecNeuralNetworkLayer) -> [SpecWeightParams] {
        switch layer.layer {
        case .convolution(let layer)?: [layer.weights, layer.bias]
        case .innerProduct(let layer)?: [layer.weights, layer.bias]
        case .batchedMatmul(let layer)?: [layer.weights, layer.bias]
        case .batchnorm(let layer)?: [layer.gamma, layer.beta, layer.mean, layer.variance]
        case .loadConstant(let layer)?: [layer.data]
        case .loadConstantNd(let layer)?: [layer.data]
        case .scale(let layer)?: [layer.scale, layer.bias]
        case .bias(let layer)?: [layer.bias]
        case .embedding(let layer)?: [layer.weights, layer.bias]
        case .embeddingNd(let layer)?: [layer.weights, layer.bias]
        case .simpleRecurrent(let layer)?: [layer.weightMatrix, layer.recursionMatrix, layer.biasVector]
        case .gru(let layer)?:
            [
                layer.updateGateWeightMatrix, layer.resetGateWeightMatrix, layer.outputGateWeightMatrix,
                layer.updateGateRecursionMatrix, layer.resetGateRecursionMatrix, layer.outputGateRecursionMatrix,
                layer.updateGateBiasVector, layer.resetGateBiasVector, layer.outputGateBiasVector,
            ]
        case .uniDirectionalLstm(let layer)?: parameters(of: layer.weightParams)
        case .biDirectionalLstm(let layer)?: layer.weightParams.flatMap(parameters)
        case .activation(let activation)?:
            switch activation.nonlinearityType {
            case .preLu(let layer)?: [layer.alpha]
            case .parametricSoftplus(let layer)?: [layer.alpha, layer.beta]
            default: []
            }
        default: []
        }
    }

    private static func parameters(of lstm: SpecLSTMWeightParams) -> [SpecWeightParams] {
        [
            lstm.inputGateWeightMatrix, lstm.forgetGateWeightMatrix, lstm.blockInputWeightMatrix,
            lstm.outputGateWeightMatrix, lstm.inputGateRecursionMatrix, lstm.forgetGateRecursionMatrix,
            lstm.blockInputRecursionMatrix, lstm.outputGateRecursionMatrix, lstm.inputGateBiasVector,
            lstm.forgetGateBiasVector, lstm.blockInputBiasVector, lstm.outputGateBiasVector,
            lstm.inputGatePeepholeVector, lstm.forgetGatePeepholeVector, lstm.outputGatePeepholeVector,
        ]
    }
}
