import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// A fully connected layer: W x + b over the last axis.
    ///
    /// With the rank-5 mapping it is over the channels of [… C, 1, 1].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - outputChannels: The number of channels of the result.
    ///   - inputChannels: The number of input channels; by default inferred from the weights.
    ///   - weights: [outputChannels, inputChannels].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - quantizesInput: Whether integers are multiplied; `weights` must then be `.int8`. False by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func innerProduct(
        _ name: String,
        _ input: Value,
        outputChannels: Int,
        inputChannels: Int? = nil,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        quantizesInput: Bool = false,
        output: Value? = nil
    ) -> Value {
        let channels = inputChannels ?? (outputChannels > 0 ? weights.count / outputChannels : 0)
        var layer = SpecInnerProductLayerParams()
        layer.inputChannels = natural(name, "the number of input channels", channels, atLeast: 1)
        layer.outputChannels = natural(name, "the number of output channels", outputChannels, atLeast: 1)
        layer.weights = self.weights(
            name,
            "weights [\(outputChannels), \(channels)]",
            weights,
            shape: [outputChannels, channels],
            channels: outputChannels
        )
        if let bias {
            layer.hasBias_p = true
            layer.bias = self.weights(name, "bias", bias, count: outputChannels)
        }
        layer.int8DynamicQuantize = quantizesInput
        checkIntegers(name, weights, quantizesInput)
        return add(name, [input], output, .innerProduct(layer))
    }

    /// Looks up the column of a table for each integer of [Sequence, Batch, 1, 1, 1].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - inputs: The number of columns.
    ///   - outputChannels: The number of channels of the result.
    ///   - weights: [outputChannels, inputs].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func embedding(
        _ name: String,
        _ input: Value,
        inputs: Int,
        outputChannels: Int,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        var layer = SpecEmbeddingLayerParams()
        layer.inputDim = natural(name, "the number of columns", inputs, atLeast: 1)
        layer.outputChannels = natural(name, "the number of output channels", outputChannels, atLeast: 1)
        layer.weights = self.weights(
            name,
            "weights [\(outputChannels), \(inputs)]",
            weights,
            shape: [outputChannels, inputs],
            channels: outputChannels
        )
        if let bias {
            layer.hasBias_p = true
            layer.bias = self.weights(name, "bias", bias, count: outputChannels)
        }
        return add(name, [input], output, .embedding(layer))
    }

    /// Looks up the column of a table for each integer of [… 1]; the last axis gets the extent `size`.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - vocabulary: The number of columns.
    ///   - size: The length of a column.
    ///   - weights: [size, vocabulary].
    ///   - bias: The bias, [size]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func embeddingND(
        _ name: String,
        _ input: Value,
        vocabulary: Int,
        size: Int,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        var layer = SpecEmbeddingNDLayerParams()
        layer.vocabSize = natural(name, "the size of the vocabulary", vocabulary, atLeast: 1)
        layer.embeddingSize = natural(name, "the size of the embedding", size, atLeast: 1)
        layer.weights = self.weights(
            name,
            "weights [\(size), \(vocabulary)]",
            weights,
            shape: [size, vocabulary],
            channels: size
        )
        if let bias {
            layer.hasBias_p = true
            layer.bias = self.weights(name, "bias", bias, count: size)
        }
        return add(name, [input], output, .embeddingNd(layer))
    }

    /// The matrix product of two values over their last two axes; earlier axes are broadcast.
    @discardableResult
    public mutating func batchedMatMul(
        _ name: String,
        _ first: Value,
        _ second: Value,
        transposesFirst: Bool = false,
        transposesSecond: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [first, second],
            output,
            .batchedMatmul(
                .with {
                    $0.transposeA = transposesFirst
                    $0.transposeB = transposesSecond
                }
            )
        )
    }

    /// The product of a value [… rows] with a constant matrix, plus a bias.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - rows: The number of rows of the matrix.
    ///   - columns: The number of columns of the matrix.
    ///   - weights: The matrix column by column: [columns, rows].
    ///   - bias: The bias, [columns]; none by default.
    ///   - quantizesInput: Whether integers are multiplied; `weights` must then be `.int8`. False by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func batchedMatMul(
        _ name: String,
        _ input: Value,
        rows: Int,
        columns: Int,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        quantizesInput: Bool = false,
        output: Value? = nil
    ) -> Value {
        var layer = SpecBatchedMatMulLayerParams()
        layer.weightMatrixFirstDimension = natural(name, "the number of rows", rows, atLeast: 1)
        layer.weightMatrixSecondDimension = natural(name, "the number of columns", columns, atLeast: 1)
        layer.weights = self.weights(
            name,
            "weights [\(columns), \(rows)]",
            weights,
            shape: [columns, rows],
            channels: columns
        )
        if let bias {
            layer.hasBias_p = true
            layer.bias = self.weights(name, "bias", bias, count: columns)
        }
        layer.int8DynamicQuantize = quantizesInput
        checkIntegers(name, weights, quantizesInput)
        return add(name, [input], output, .batchedMatmul(layer))
    }

    /// The dot product of two values over their channels, or with `isCosine` their cosine similarity.
    @discardableResult
    public mutating func dotProduct(
        _ name: String,
        _ first: Value,
        _ second: Value,
        isCosine: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(name, [first, second], output, .dot(.with { $0.cosineSimilarity = isCosine }))
    }

    private mutating func checkIntegers(_ name: String, _ weights: LayerWeights, _ quantizesInput: Bool) {
        var isInteger = false
        if case .int8 = weights.storage { isInteger = true }
        if isInteger != quantizesInput {
            problem(name, "signed 8-bit weights and quantizesInput belong together: give both or neither")
        }
    }
}
