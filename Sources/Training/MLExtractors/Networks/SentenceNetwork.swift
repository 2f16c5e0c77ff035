package import MLNumerics
package import MLSpecification

/// A BERT encoder whose mean over tokens, of length 1, stands for a sentence: the network of MiniLM sentence encoders.
///
/// A token's vector is the sum of the embeddings of its identifier, its position and its kind (always the first),
/// normalised. Each layer adds attention of several heads, and then two products with a GELU between them; after each
/// sum a layer normalisation.
///
/// Values of the network: `layer<i>.output`, [1, tokens, width], and `sentence_embedding`, [1, width].
///
/// Source: J. Devlin and others, "BERT" (2018); N. Reimers and I. Gurevych, "Sentence-BERT" (2019).
package struct SentenceNetwork: Sendable {
    /// The sizes of a network.
    package struct Sizes: Sendable, Hashable {
        package var layers: Int
        /// The numbers in a token's vector.
        package var width: Int
        package var heads: Int
        /// The numbers between the two products of a layer.
        package var inner: Int
        package var vocabulary: Int
        /// The greatest number of tokens.
        package var positions: Int

        package init(layers: Int, width: Int, heads: Int, inner: Int, vocabulary: Int, positions: Int) {
            (self.layers, self.width, self.heads) = (layers, width, heads)
            (self.inner, self.vocabulary, self.positions) = (inner, vocabulary, positions)
        }

        /// Those of all-MiniLM-L6-v2.
        package static let miniLM = Sizes(
            layers: 6,
            width: 384,
            heads: 12,
            inner: 1536,
            vocabulary: 30_522,
            positions: 512
        )
    }

    private static let epsilon: Float = 1e-12

    private let tensors: [String: Tensor]
    private let sizes: Sizes

    /// Checks the tensors of a network.
    ///
    /// - Parameters:
    ///   - tensors: The state dictionary of Hugging Face's `BertModel`.
    ///   - sizes: The network's sizes.
    /// - Throws: `.malformed` if a tensor is missing or of another shape or type.
    package init(_ tensors: [String: Tensor], _ sizes: Sizes) throws(ModelError) {
        (self.tensors, self.sizes) = (tensors, sizes)
        let (width, inner) = (sizes.width, sizes.inner)
        var shapes: [(String, [Int])] = [
            ("embeddings.word_embeddings.weight", [sizes.vocabulary, width]),
            ("embeddings.position_embeddings.weight", [sizes.positions, width]),
            ("embeddings.token_type_embeddings.weight", [2, width]),
            ("embeddings.LayerNorm.weight", [width]), ("embeddings.LayerNorm.bias", [width]),
        ]
        for layer in 0..<sizes.layers {
            let products = [
                ("attention.self.query", width, width), ("attention.self.key", width, width),
                ("attention.self.value", width, width), ("attention.output.dense", width, width),
                ("intermediate.dense", inner, width), ("output.dense", width, inner),
            ]
            for (name, outputs, inputs) in products {
                shapes.append((Self.name(layer, name + ".weight"), [outputs, inputs]))
                shapes.append((Self.name(layer, name + ".bias"), [outputs]))
            }
            for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
                shapes.append((Self.name(layer, name + ".weight"), [width]))
                shapes.append((Self.name(layer, name + ".bias"), [width]))
            }
        }
        for (name, shape) in shapes {
            guard let tensor = tensors[name], tensor.scalarType == .float32, tensor.shape == shape else {
                let found = tensors[name].map { "\($0.scalarType.milName) \($0.shape)" } ?? "missing"
                throw ModelError(
                    .malformed,
                    "the weights are not those of this sentence encoder: the tensor '\(name)' is \(found), not fp32 \(shape)"
                )
            }
        }
    }

    private static func name(_ layer: Int, _ rest: String) -> String { "encoder.layer.\(layer)." + rest }

    private func values(_ name: String) -> [Float] {
        guard let tensor = tensors[name] else { preconditionFailure("no tensor is named \(name)") }
        return Array(UnsafeBufferPointer(start: tensor.floats, count: tensor.count))
    }

    /// The network as a model: `input_ids`, [1, tokens], in; `sentence_embedding`, [1, width], out.
    package func specification(_ precision: NetworkLayers.Precision) -> SpecModel {
        var network = NetworkLayers(precision)
        embed(&network)
        var value = "embeddings"
        for layer in 0..<sizes.layers { value = add(layer, value, &network) }
        pool(value, &network)
        var model = SpecModel()
        model.specificationVersion = 4
        var tokens = SpecFeatureDescription()
        tokens.name = "input_ids"
        tokens.shortDescription = "The identifiers of a sentence's tokens: [CLS], its pieces, [SEP]."
        tokens.type.multiArrayType.dataType = .int32
        tokens.type.multiArrayType.shape = [1, 32]
        tokens.type.multiArrayType.shapeRange.sizeRanges = [(1, 1), (1, sizes.positions)].map { lower, upper in
            var range = SpecSizeRange()
            (range.lowerBound, range.upperBound) = (UInt64(lower), Int64(upper))
            return range
        }
        model.description_p.input = [tokens]
        model.description_p.output = [
            .floats("sentence_embedding", [1, sizes.width], "The sentence's vector, of length 1.")
        ]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        return model
    }

    /// The sum of the embeddings of identifiers and positions, normalised.
    private func embed(_ network: inout NetworkLayers) {
        var columns = SpecExpandDimsLayerParams()
        columns.axes = [2]
        network.add(["input_ids"], "tokens", .expandDims(columns))
        var ones = SpecFillLikeLayerParams()
        ones.value = 1
        network.add(["input_ids"], "ones", .fillLike(ones))
        // The number of tokens before each: 0, 1, 2, …
        var sums = SpecCumSumLayerParams()
        sums.axis = 1
        sums.excludeFinalSum = true
        network.add(["ones"], "numbers", .cumSum(sums))
        network.add(["numbers"], "places", .expandDims(columns))
        let width = sizes.width
        let kind = values("embeddings.token_type_embeddings.weight").prefix(width)
        let positions = values("embeddings.position_embeddings.weight").enumerated().map { index, value in
            value + kind[index % width]
        }
        lookUp("tokens", "tokens.vectors", values("embeddings.word_embeddings.weight"), sizes.vocabulary, &network)
        lookUp("places", "places.vectors", positions, sizes.positions, &network)
        network.sum(["tokens.vectors", "places.vectors"], "embeddings.sum")
        normalize("embeddings.sum", "embeddings", "embeddings.LayerNorm", &network)
    }

    /// Looks up rows of a table [count, width], which the layer stores as [width, count].
    private func lookUp(
        _ input: String,
        _ output: String,
        _ table: [Float],
        _ count: Int,
        _ network: inout NetworkLayers
    ) {
        let width = sizes.width
        var transposed = [Float](repeating: 0, count: table.count)
        for row in 0..<count {
            for column in 0..<width { transposed[column * count + row] = table[row * width + column] }
        }
        var params = SpecEmbeddingNDLayerParams()
        params.vocabSize = UInt64(count)
        params.embeddingSize = UInt64(width)
        params.weights = network.weights(transposed)
        network.add([input], output, .embeddingNd(params))
    }

    private func normalize(_ input: String, _ output: String, _ name: String, _ network: inout NetworkLayers) {
        var params = SpecLayerNormalizationLayerParams()
        params.normalizedShape = [Int64(sizes.width)]
        params.eps = Self.epsilon
        params.gamma.floatValue = values(name + ".weight")
        params.beta.floatValue = values(name + ".bias")
        network.add([input], output, .layerNormalization(params))
    }

    /// W x + b, times a factor.
    private func product(
        _ input: String,
        _ output: String,
        _ name: String,
        factor: Float = 1,
        _ network: inout NetworkLayers
    ) {
        let bias = values(name + ".bias")
        let weights = values(name + ".weight")
        var params = SpecInnerProductLayerParams()
        params.outputChannels = UInt64(bias.count)
        params.inputChannels = UInt64(weights.count / bias.count)
        params.weights = network.weights(weights.map { $0 * factor })
        params.hasBias_p = true
        params.bias.floatValue = bias.map { $0 * factor }
        network.add([input], output, .innerProduct(params))
    }

    private func transpose(_ input: String, _ output: String, _ axes: [UInt64], _ network: inout NetworkLayers) {
        var params = SpecTransposeLayerParams()
        params.axes = axes
        network.add([input], output, .transpose(params))
    }

    /// Appends a layer; the name of its result.
    private func add(_ layer: Int, _ input: String, _ network: inout NetworkLayers) -> String {
        let own = "layer\(layer)"
        let size = sizes.width / sizes.heads
        for part in ["query", "key", "value"] {
            // Scores are divided by the root of the heads' size: the queries are.
            let factor = part == "query" ? 1 / Float(size).squareRoot() : 1
            let name = Self.name(layer, "attention.self." + part)
            product(input, "\(own).\(part)", name, factor: factor, &network)
            network.reshape("\(own).\(part)", "\(own).\(part).heads", [1, -1, sizes.heads, size])
            transpose("\(own).\(part).heads", "\(own).\(part).split", [0, 2, 1, 3], &network)
        }
        var scores = SpecBatchedMatMulLayerParams()
        scores.transposeB = true
        network.add(["\(own).query.split", "\(own).key.split"], "\(own).scores", .batchedMatmul(scores))
        var softmax = SpecSoftmaxNDLayerParams()
        softmax.axis = -1
        network.add(["\(own).scores"], "\(own).shares", .softmaxNd(softmax))
        let values = SpecBatchedMatMulLayerParams()
        network.add(["\(own).shares", "\(own).value.split"], "\(own).mixed", .batchedMatmul(values))
        transpose("\(own).mixed", "\(own).mixed.heads", [0, 2, 1, 3], &network)
        network.reshape("\(own).mixed.heads", "\(own).context", [1, -1, sizes.width])
        product("\(own).context", "\(own).attention", Self.name(layer, "attention.output.dense"), &network)
        network.sum(["\(own).attention", input], "\(own).attended.sum")
        let norm = Self.name(layer, "attention.output.LayerNorm")
        normalize("\(own).attended.sum", "\(own).attended", norm, &network)
        product("\(own).attended", "\(own).inner", Self.name(layer, "intermediate.dense"), &network)
        var gelu = SpecGeluLayerParams()
        gelu.mode = .exact
        network.add(["\(own).inner"], "\(own).inner.gelu", .gelu(gelu))
        product("\(own).inner.gelu", "\(own).outer", Self.name(layer, "output.dense"), &network)
        network.sum(["\(own).outer", "\(own).attended"], "\(own).sum")
        normalize("\(own).sum", "\(own).output", Self.name(layer, "output.LayerNorm"), &network)
        return "\(own).output"
    }

    /// The mean over the tokens, divided by its length.
    private func pool(_ input: String, _ network: inout NetworkLayers) {
        var mean = SpecReduceMeanLayerParams()
        mean.axes = [1]
        mean.keepDims = false
        network.add([input], "mean", .reduceMean(mean))
        var length = SpecReduceL2LayerParams()
        length.axes = [-1]
        length.keepDims = true
        network.add(["mean"], "length", .reduceL2(length))
        network.add(
            ["mean", "length"],
            "sentence_embedding",
            .divideBroadcastable(SpecDivideBroadcastableLayerParams())
        )
    }
}
