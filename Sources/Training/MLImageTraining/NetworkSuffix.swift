package import MLExtractors
package import MLGraph
package import MLNumerics
import MLOperators
import MLSpecification

/// The last blocks of an extractor of images: from the result of an earlier block to the features.
///
/// Blocks end with values whose names end with `.output`, as those of EfficientNet-Lite0 do. The layers after the last
/// block belong to it. The convolutions of all channels learn; those with a window for each channel, which have few weights,
/// keep theirs.
package struct NetworkSuffix: Sendable {
    /// The name of the value that the layers begin with.
    let input: String
    /// The layers in their order.
    let layers: [SpecNeuralNetworkLayer]
    /// The name of the last value.
    let output: String
    /// The weights and biases of all convolutions by the names of their layers.
    package let weights: [String: (weight: Tensor, bias: Tensor)]

    /// - Parameters:
    ///   - model: The extractor.
    ///   - blockCount: The number of blocks.
    /// - Throws: `.invalidInput` where the network does not have more blocks, `.unsupported` for layers that are not
    ///   trained.
    package init(_ model: ExtractorModel, blockCount: Int) throws(ModelError) {
        let blocks = model.valueNames.filter { $0.hasSuffix(".output") }
        guard blockCount > 0, blockCount < blocks.count else {
            throw ModelError(
                .invalidInput,
                "\(blockCount) blocks of \(model.extractor.name) cannot be fine-tuned; it has \(blocks.count), of which 1 to "
                    + "\(Swift.max(1, blocks.count - 1)) can be"
            )
        }
        let all = model.specification.neuralNetwork.layers
        input = blocks[blocks.count - 1 - blockCount]
        let first = input
        guard let position = all.firstIndex(where: { $0.output == [first] }) else {
            throw ModelError(.invalidModel, "no layer of \(model.extractor.name) gives '\(first)' alone")
        }
        layers = Array(all[(position + 1)...])
        output = layers.last?.output.first ?? first
        let stored = model.weights()
        weights = stored.filter { name, _ in all[(position + 1)...].contains { $0.name == name } }
        var known: Set = [first]
        for layer in layers {
            guard layer.input.allSatisfy(known.contains), layer.output.count == 1 else {
                throw ModelError(
                    .unsupported,
                    "layer '\(layer.name)' of \(model.extractor.name) needs values of earlier blocks"
                )
            }
            known.insert(layer.output[0])
        }
    }

    /// The names of the convolutions that learn, in their order.
    package var convolutions: [String] {
        layers.filter { layer in
            guard case .convolution(let params)? = layer.layer else { return false }
            return params.nGroups <= 1 && weights[layer.name] != nil
        }.map(\.name)
    }

    /// Appends the layers to a graph.
    ///
    /// - Parameters:
    ///   - builder: The graph to append to.
    ///   - x: The value `input` of N images, [N, C, H, W].
    ///   - parameters: The weight and the bias of each of `convolutions`.
    /// - Returns: The features, [N, F].
    /// - Throws: `.unsupported` for a layer that is not trained.
    package func append(
        to builder: inout GraphBuilder,
        _ x: ValueID,
        parameters: [(weight: ValueID, bias: ValueID)]
    ) throws(ModelError) -> ValueID {
        var values = [input: x]
        var learning = [String: (weight: ValueID, bias: ValueID)]()
        for (name, pair) in zip(convolutions, parameters) { learning[name] = pair }
        let count = builder.shape(of: x)[0].count ?? 1
        for layer in layers {
            let operands = layer.input.compactMap { values[$0] }
            guard let source = operands.first else { continue }
            let result: ValueID
            switch layer.layer {
            case .convolution(let params)? where !params.isDeconvolution:
                guard let pair = learning[layer.name] ?? constants(layer.name, &builder),
                    case .same(let padding)? = params.convolutionPaddingType
                else {
                    throw unsupported(layer)
                }
                let convolution = Convolution(
                    strides: params.stride.isEmpty ? [1, 1] : params.stride.map { Int($0) },
                    padding: padding.asymmetryMode == .topLeftHeavy ? .sameLower : .same,
                    groups: Swift.max(1, Int(params.nGroups))
                )
                result = try builder.add(convolution, source, pair.weight, pair.bias)
            case .clip(let params)?:
                result = try builder.add(
                    Unary(Clip(lower: Double(params.minVal), upper: Double(params.maxVal))),
                    source
                )
            case .addBroadcastable? where operands.count == 2:
                result = try builder.add(Binary<Add>(), operands[0], operands[1])
            case .pooling(let params)? where params.type == .average && params.globalPooling:
                result = try builder.add(Reduction<MeanOfElements>(axes: [2, 3], keepsDimensions: true), source)
            case .reshapeStatic(let params)?:
                let extents = [Int32(count)] + params.targetShape.map { Int32(clamping: $0) }
                result = try builder.add(Reshape(), source, builder.constant(Tensor(extents, shape: [extents.count])))
            default: throw unsupported(layer)
            }
            values[layer.output[0]] = result
        }
        guard let features = values[output] else { throw ModelError(.invalidModel, "there is no value '\(output)'") }
        return features
    }

    private func constants(_ name: String, _ builder: inout GraphBuilder) -> (weight: ValueID, bias: ValueID)? {
        weights[name].map { (builder.constant($0.weight), builder.constant($0.bias)) }
    }

    private func unsupported(_ layer: SpecNeuralNetworkLayer) -> ModelError {
        ModelError(.unsupported, "layer '\(layer.name)' cannot be fine-tuned; fine-tune fewer blocks, or none")
    }
}

extension SpecWeightParams {
    /// The numbers in the precision of these ones.
    func replaced(by values: [Float]) -> SpecWeightParams {
        NetworkLayers(float16Bytes == nil ? .float32 : .float16).weights(values)
    }
}
