package import MLNumerics
package import MLSpecification

/// The Core ML model of a feature extractor.
package struct ExtractorModel: Sendable {
    package let extractor: Extractor
    /// A neural network with one image as its input and the output `features`.
    package let specification: SpecModel

    package init(extractor: Extractor, specification: SpecModel) {
        self.extractor = extractor
        self.specification = specification
    }

    /// The names of the values that the network computes, in their order.
    package var valueNames: [String] { specification.neuralNetwork.layers.flatMap(\.output) }

    /// The network up to intermediate values, which become its outputs, [1, channels, height, width]; layers that none of
    /// them needs are left out.
    ///
    /// - Parameter names: Names of `valueNames`, such as `block2.output`.
    /// - Returns: The shortened network.
    /// - Throws: `.invalidInput`, with the known names, for one that is not there.
    package func specification(outputs names: [String]) throws(ModelError) -> SpecModel {
        let known = Set(valueNames)
        for name in names where !known.contains(name) {
            throw ModelError(
                .invalidInput,
                "the network \(extractor.name) has no value '\(name)'; it has \(valueNames.joined(separator: ", "))"
            )
        }
        var needed = Set(names)
        var layers: [SpecNeuralNetworkLayer] = []
        for layer in specification.neuralNetwork.layers.reversed() where layer.output.contains(where: needed.contains) {
            needed.formUnion(layer.input)
            layers.append(layer)
        }
        var model = specification
        model.neuralNetwork.layers = layers.reversed()
        model.description_p.output = names.map { .floats($0, [], "The value '\($0)' of the network.") }
        return model
    }

    /// The convolutions' weights and biases by the names of their layers, as float32: `stem`, `block1.expand`,
    /// `block1.depthwise`, `block1.project` (or `block1.output` in a block without a sum), `head`.
    package func weights() -> [String: (weight: Tensor, bias: Tensor)] {
        var result: [String: (weight: Tensor, bias: Tensor)] = [:]
        for layer in specification.neuralNetwork.layers {
            guard case .convolution(let params)? = layer.layer else { continue }
            let shape = [params.outputChannels, params.kernelChannels, params.kernelSize[0], params.kernelSize[1]]
            result[layer.name] = (
                Tensor(Self.floats(params.weights), shape: shape.map { Int($0) }),
                Tensor(Self.floats(params.bias), shape: [Int(params.outputChannels)])
            )
        }
        return result
    }

    private static func floats(_ weights: SpecWeightParams) -> [Float] {
        guard let half = weights.float16Bytes else { return weights.floatValue }
        return (0..<half.count / 2).map { index in
            let bits = half.buffer.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
            return Float(Float16(bitPattern: UInt16(littleEndian: bits)))
        }
    }
}
