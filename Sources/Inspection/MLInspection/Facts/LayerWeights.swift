import MLFiles
import MLNumerics
import MLOperators
import MLSpecification

/// A field of a network's layer that holds weights, and how it is laid out.
struct LayerWeightField {
    let name: String
    let path: WritableKeyPath<SpecNeuralNetworkLayer, SpecWeightParams>
    /// The extents that the layer's attributes imply; `nil` where they do not determine them.
    var shape: [UInt64]?
    /// The axis of per-channel scales and biases.
    var channelAxis = 0
}

extension SpecNeuralNetworkLayer {
    /// The fields of this kind of layer that hold weights, in the order of the specification.
    var weightFields: [LayerWeightField] {
        switch layer {
        case .convolution?, .convolution3D?: return convolutionWeightFields
        case .innerProduct(let layer)?:
            return [
                field("weights", \.innerProduct.weights, [layer.outputChannels, layer.inputChannels]),
                field("bias", \.innerProduct.bias, layer.hasBias_p ? [layer.outputChannels] : nil),
            ]
        case .batchedMatmul(let layer)?:
            let size = [layer.weightMatrixFirstDimension, layer.weightMatrixSecondDimension]
            let isStated = size.allSatisfy { $0 > 0 }
            return [
                field("weights", \.batchedMatmul.weights, isStated ? size : nil, channelAxis: 1),
                field("bias", \.batchedMatmul.bias, layer.hasBias_p && isStated ? [size[1]] : nil),
            ]
        case .embedding(let layer)?:
            return [
                field("weights", \.embedding.weights, [layer.inputDim, layer.outputChannels], channelAxis: 1),
                field("bias", \.embedding.bias, layer.hasBias_p ? [layer.outputChannels] : nil),
            ]
        case .embeddingNd(let layer)?:
            return [
                field("weights", \.embeddingNd.weights, [layer.vocabSize, layer.embeddingSize], channelAxis: 1),
                field("bias", \.embeddingNd.bias, layer.hasBias_p ? [layer.embeddingSize] : nil),
            ]
        case .batchnorm(let layer)?:
            let computes = layer.computeMeanVar
            return [
                field("gamma", \.batchnorm.gamma, [layer.channels]), field("beta", \.batchnorm.beta, [layer.channels]),
                field("mean", \.batchnorm.mean, computes ? nil : [layer.channels]),
                field("variance", \.batchnorm.variance, computes ? nil : [layer.channels]),
            ]
        case .scale(let layer)?:
            return [
                field("scale", \.scale.scale, layer.shapeScale),
                field("bias", \.scale.bias, layer.hasBias_p ? layer.shapeBias : nil),
            ]
        case .bias(let layer)?: return [field("bias", \.bias.bias, layer.shape)]
        case .loadConstant(let layer)?: return [field("data", \.loadConstant.data, layer.shape)]
        case .loadConstantNd(let layer)?: return [field("data", \.loadConstantNd.data, layer.shape)]
        case .layerNormalization(let layer)?:
            return [
                field("gamma", \.layerNormalization.gamma, layer.normalizedShape.map { UInt64(clamping: $0) }),
                field("beta", \.layerNormalization.beta, layer.normalizedShape.map { UInt64(clamping: $0) }),
            ]
        case .simpleRecurrent?, .gru?, .uniDirectionalLstm?, .biDirectionalLstm?: return recurrentWeightFields
        case .activation(let activation)?:
            switch activation.nonlinearityType {
            case .preLu?: return [field("PReLU.alpha", \.activation.preLu.alpha)]
            case .parametricSoftplus?:
                return [
                    field("parametricSoftplus.alpha", \.activation.parametricSoftplus.alpha),
                    field("parametricSoftplus.beta", \.activation.parametricSoftplus.beta),
                ]
            default: return []
            }
        case .custom(let layer)?:
            return layer.weights.indices.map { field("weights[\($0)]", \.custom.weights[$0]) }
        default: return []
        }
    }

    private func field(
        _ name: String,
        _ path: WritableKeyPath<SpecNeuralNetworkLayer, SpecWeightParams>,
        _ shape: [UInt64]? = nil,
        channelAxis: Int = 0
    ) -> LayerWeightField {
        LayerWeightField(name: name, path: path, shape: shape, channelAxis: channelAxis)
    }

    private var convolutionWeightFields: [LayerWeightField] {
        switch layer {
        case .convolution(let layer)?:
            let kernel = layer.kernelSize.isEmpty ? [3, 3] : layer.kernelSize
            let groups = Swift.max(layer.nGroups, 1)
            // A weight that is the second input replaces the field.
            let isDeconvolution = layer.isDeconvolution
            let shape =
                isDeconvolution
                ? [layer.kernelChannels, layer.outputChannels / groups] + kernel
                : [layer.outputChannels, layer.kernelChannels] + kernel
            let weights = field("weights", \.convolution.weights, shape, channelAxis: isDeconvolution ? 1 : 0)
            return [
                weights, field("bias", \.convolution.bias, layer.hasBias_p ? [layer.outputChannels] : nil),
            ]
        case .convolution3D(let layer)?:
            let kernel = [UInt64(clamping: layer.kernelDepth), UInt64(clamping: layer.kernelHeight)]
            let (outputs, inputs) = (UInt64(clamping: layer.outputChannels), UInt64(clamping: layer.inputChannels))
            let groups = UInt64(clamping: Swift.max(layer.nGroups, 1))
            let shape =
                (layer.isDeconvolution ? [inputs, outputs / groups] : [outputs, inputs / groups]) + kernel
                + [UInt64(clamping: layer.kernelWidth)]
            return [
                field("weights", \.convolution3D.weights, shape),
                field("bias", \.convolution3D.bias, layer.hasBias_p ? [outputs] : nil),
            ]
        default: return []
        }
    }

    private var recurrentWeightFields: [LayerWeightField] {
        switch layer {
        case .simpleRecurrent(let layer)?:
            let (outputs, inputs) = (layer.outputVectorSize, layer.inputVectorSize)
            return [
                field("weightMatrix", \.simpleRecurrent.weightMatrix, [outputs, inputs]),
                field("recursionMatrix", \.simpleRecurrent.recursionMatrix, [outputs, outputs]),
                field("biasVector", \.simpleRecurrent.biasVector, layer.hasBiasVector_p ? [outputs] : nil),
            ]
        case .gru(let layer)?:
            let (outputs, inputs) = (layer.outputVectorSize, layer.inputVectorSize)
            let bias: [UInt64]? = layer.hasBiasVectors_p ? [outputs] : nil
            return [
                field("updateGateWeightMatrix", \.gru.updateGateWeightMatrix, [outputs, inputs]),
                field("resetGateWeightMatrix", \.gru.resetGateWeightMatrix, [outputs, inputs]),
                field("outputGateWeightMatrix", \.gru.outputGateWeightMatrix, [outputs, inputs]),
                field("updateGateRecursionMatrix", \.gru.updateGateRecursionMatrix, [outputs, outputs]),
                field("resetGateRecursionMatrix", \.gru.resetGateRecursionMatrix, [outputs, outputs]),
                field("outputGateRecursionMatrix", \.gru.outputGateRecursionMatrix, [outputs, outputs]),
                field("updateGateBiasVector", \.gru.updateGateBiasVector, bias),
                field("resetGateBiasVector", \.gru.resetGateBiasVector, bias),
                field("outputGateBiasVector", \.gru.outputGateBiasVector, bias),
            ]
        case .uniDirectionalLstm(let layer)?:
            return Self.fields(
                ofLSTM: \.uniDirectionalLstm.weightParams,
                "weightParams",
                layer.params,
                layer.outputVectorSize,
                layer.inputVectorSize
            )
        case .biDirectionalLstm(let layer)?:
            return layer.weightParams.indices.flatMap { index in
                Self.fields(
                    ofLSTM: \.biDirectionalLstm.weightParams[index],
                    "weightParams[\(index)]",
                    layer.params,
                    layer.outputVectorSize,
                    layer.inputVectorSize
                )
            }
        default: return []
        }
    }

    private static func fields(
        ofLSTM path: WritableKeyPath<SpecNeuralNetworkLayer, SpecLSTMWeightParams>,
        _ prefix: String,
        _ parameters: SpecLSTMParams,
        _ outputs: UInt64,
        _ inputs: UInt64
    ) -> [LayerWeightField] {
        typealias Part = WritableKeyPath<SpecLSTMWeightParams, SpecWeightParams>
        let matrices: [(String, Part, [UInt64])] = [
            ("inputGateWeightMatrix", \.inputGateWeightMatrix, [outputs, inputs]),
            ("forgetGateWeightMatrix", \.forgetGateWeightMatrix, [outputs, inputs]),
            ("blockInputWeightMatrix", \.blockInputWeightMatrix, [outputs, inputs]),
            ("outputGateWeightMatrix", \.outputGateWeightMatrix, [outputs, inputs]),
            ("inputGateRecursionMatrix", \.inputGateRecursionMatrix, [outputs, outputs]),
            ("forgetGateRecursionMatrix", \.forgetGateRecursionMatrix, [outputs, outputs]),
            ("blockInputRecursionMatrix", \.blockInputRecursionMatrix, [outputs, outputs]),
            ("outputGateRecursionMatrix", \.outputGateRecursionMatrix, [outputs, outputs]),
        ]
        let biases: [(String, Part)] = [
            ("inputGateBiasVector", \.inputGateBiasVector), ("forgetGateBiasVector", \.forgetGateBiasVector),
            ("blockInputBiasVector", \.blockInputBiasVector), ("outputGateBiasVector", \.outputGateBiasVector),
        ]
        let peepholes: [(String, Part)] = [
            ("inputGatePeepholeVector", \.inputGatePeepholeVector),
            ("forgetGatePeepholeVector", \.forgetGatePeepholeVector),
            ("outputGatePeepholeVector", \.outputGatePeepholeVector),
        ]
        func field(_ name: String, _ part: Part, _ shape: [UInt64]?) -> LayerWeightField {
            LayerWeightField(name: "\(prefix).\(name)", path: path.appending(path: part), shape: shape)
        }
        return matrices.map { field($0.0, $0.1, $0.2) }
            + biases.map { field($0.0, $0.1, parameters.hasBiasVectors_p ? [outputs] : nil) }
            + peepholes.map { field($0.0, $0.1, parameters.hasPeepholeVectors_p ? [outputs] : nil) }
    }

    /// The layer without the contents of its weight fields, for comparing everything else.
    var withoutWeights: SpecNeuralNetworkLayer {
        var copy = self
        for field in weightFields { copy[keyPath: field.path] = SpecWeightParams() }
        return copy
    }

    /// The tensors of this layer.
    ///
    /// - Parameter location: The name of the layer.
    /// - Returns: The tensors in the order of the specification; empty for a layer without weights.
    func parameterTensors(_ location: String) -> [ParameterTensor] {
        weightFields.compactMap { field in
            let weights = self[keyPath: field.path]
            guard !weights.isEmpty else { return nil }
            let stated = field.shape.flatMap { shape in
                let extents = shape.map { Int(clamping: $0) }
                return (try? extents.checkedElementCount()).map { (extents, $0) }
            }
            let count = weights.valueCount(expecting: stated?.1)
            let shape = stated?.1 == count ? stated?.0 ?? [count] : [count]
            let channelAxis = shape.indices.contains(field.channelAxis) ? field.channelAxis : 0
            return ParameterTensor(
                name: "\(location).\(field.name)",
                shape: shape,
                count: count,
                storage: weights.storage,
                byteCount: weights.storedByteCount
            ) { () throws(ModelError) in
                try weightTensor(weights, shape: shape, channelAxis: channelAxis)
            }
        }
    }
}

extension SpecWeightParams {
    /// The number of values.
    ///
    /// The last byte of packed values may have unused bits.
    func valueCount(expecting expected: Int? = nil) -> Int {
        if !floatValue.isEmpty { return floatValue.count }
        if SpecBytes.count(float16Value) > 0 { return SpecBytes.count(float16Value) / 2 }
        if SpecBytes.count(int8RawValue) > 0 { return SpecBytes.count(int8RawValue) }
        let bits = min(max(Int(clamping: quantization.numberOfBits), 1), 8)
        let bytes = SpecBytes.count(rawValue)
        if let expected, expected <= 1 << 40, (expected * bits + 7) / 8 == bytes { return expected }
        return bytes * 8 / bits
    }

    var storage: ParameterStorage {
        if !floatValue.isEmpty { return ParameterStorage("float32") }
        if SpecBytes.count(float16Value) > 0 { return ParameterStorage("float16") }
        if SpecBytes.count(int8RawValue) > 0 { return ParameterStorage("linear int8") }
        let bits = quantization.numberOfBits
        switch quantization.quantizationType {
        case .lookupTableQuantization?: return ParameterStorage("palette of \(bits) bits")
        case .linearQuantization?, nil: return ParameterStorage("linear uint\(bits)")
        }
    }

    /// The bytes of values, tables, scales and biases.
    var storedByteCount: Int {
        let table = quantization.lookUpTableQuantizationByteCount
        return floatValue.count * 4 + SpecBytes.count(float16Value) + SpecBytes.count(int8RawValue)
            + SpecBytes.count(rawValue) + table
    }
}

extension SpecQuantizationParams {
    fileprivate var lookUpTableQuantizationByteCount: Int {
        switch quantizationType {
        case .lookupTableQuantization(let table)?: table.floatValue.count * 4
        case .linearQuantization(let line)?: (line.scale.count + line.bias.count) * 4
        case nil: 0
        }
    }
}
