import Glibc
package import MLNumerics

/// A linear text classifier over the keys of features: softmax(bias + Σ value(f) · weights(f)).
///
/// A feature's value is its count (optionally 1 + ln of it) times its scale; with normalisation the values of a text
/// are divided by their Euclidean length. With word embeddings the text's vector, the sum of its words' directions
/// normalised to length 1, adds its product with `vectorWeights`.
package struct TextModel: Sendable {
    /// Word embeddings, by the words' keys.
    package struct Vectors: Sendable {
        package let dimensions: Int
        package let words: KeyTable
        /// [words × dimensions].
        package let values: [Float]

        package init(dimensions: Int, words: KeyTable, values: [Float]) {
            precondition(values.count == dimensions * words.count)
            self.dimensions = dimensions
            self.words = words
            self.values = values
        }

        /// The sum of the directions of these words, normalised to length 1; zeros when none is known.
        package func vector(of keys: [(key: UInt64, count: Int)]) -> [Float] {
            var sum = [Float](repeating: 0, count: dimensions)
            for (key, count) in keys {
                guard let position = words.position(of: key) else { continue }
                let row = values[position * dimensions..<(position + 1) * dimensions]
                let length = row.reduce(0) { $0 + $1 * $1 }.squareRoot()
                guard length > 0 else { continue }
                for (index, value) in row.enumerated() { sum[index] += value / length * Float(count) }
            }
            let length = sum.reduce(0) { $0 + $1 * $1 }.squareRoot()
            return length > 0 ? sum.map { $0 / length } : sum
        }
    }

    package var features: TextFeatures
    package var normalizes: Bool
    /// Whether a feature that occurs n times has the value 1 + ln n before scaling.
    package var isLogarithmic: Bool
    package var labels: [String]
    package var bias: [Float]
    /// The indices of the features in `scales` and `weights`.
    package var table: KeyTable
    package var scales: [Float]
    /// [features × labels].
    package var weights: [Float]
    package var vectors: Vectors?
    /// [dimensions × labels].
    package var vectorWeights: [Float]

    package init(
        features: TextFeatures,
        normalizes: Bool,
        isLogarithmic: Bool,
        labels: [String],
        bias: [Float],
        table: KeyTable,
        scales: [Float],
        weights: [Float],
        vectors: Vectors? = nil,
        vectorWeights: [Float] = []
    ) {
        precondition(scales.count == table.count && weights.count == table.count * labels.count)
        precondition(bias.count == labels.count && vectorWeights.count == (vectors?.dimensions ?? 0) * labels.count)
        self.features = features
        self.normalizes = normalizes
        self.isLogarithmic = isLogarithmic
        self.labels = labels
        self.bias = bias
        self.table = table
        self.scales = scales
        self.weights = weights
        self.vectors = vectors
        self.vectorWeights = vectorWeights
    }

    /// The values of the features that the model knows, by ascending key.
    package static func values(
        of counts: [(key: UInt64, count: Int)],
        in table: KeyTable,
        scales: [Float],
        normalizes: Bool,
        isLogarithmic: Bool
    ) -> [(position: Int, value: Float)] {
        var values: [(position: Int, value: Float)] = []
        values.reserveCapacity(counts.count)
        var squares: Float = 0
        for (key, count) in counts {
            guard let position = table.position(of: key) else { continue }
            let amount = isLogarithmic && count > 1 ? 1 + Float(log(Double(count))) : Float(count)
            let value = amount * scales[position]
            squares += value * value
            values.append((position, value))
        }
        if normalizes, squares > 0 {
            let length = squares.squareRoot()
            for index in values.indices { values[index].value /= length }
        }
        return values
    }

    /// The probability of each label.
    package func probabilities(of text: String) throws(ModelError) -> [Double] {
        var scores = bias.map(Double.init)
        let counts = try features.counts(text)
        let known = Self.values(
            of: counts,
            in: table,
            scales: scales,
            normalizes: normalizes,
            isLogarithmic: isLogarithmic
        )
        for (position, value) in known {
            for label in scores.indices {
                scores[label] += Double(value) * Double(weights[position * labels.count + label])
            }
        }
        if let vectors {
            for (dimension, value) in vectors.vector(of: counts).enumerated() where value != 0 {
                for label in scores.indices {
                    scores[label] += Double(value) * Double(vectorWeights[dimension * labels.count + label])
                }
            }
        }
        scores.withUnsafeMutableBufferPointer { softmax($0) }
        return scores
    }

    /// - Throws: `.malformed` for bytes that are not such a model.
    init(_ bytes: [UInt8], labels: [String], language: String) throws(ModelError) {
        var reader = try TextParameters.reader(
            bytes,
            revision: TextParameters.keyedRevision,
            .textClassifier,
            of: [TextParameters.keyedRevision]
        )
        let wordNGramLength = Int(try reader.byte())
        let (shortest, longest) = (Int(try reader.byte()), Int(try reader.byte()))
        let flags = try reader.byte()
        guard flags < 4, shortest <= longest, shortest > 0 || longest == 0 else {
            throw ModelError(
                .malformed,
                "the features are runs of \(shortest) to \(longest) characters with the flags \(flags)"
            )
        }
        features = try TextFeatures(
            wordNGramLength: wordNGramLength,
            characterNGramLengths: longest > 0 ? shortest...longest : nil,
            language: language
        )
        normalizes = flags & 1 != 0
        isLogarithmic = flags & 2 != 0
        self.labels = labels
        bias = try reader.finiteFloats(labels.count)
        let dimensions = try reader.count(of: 4 * labels.count)
        let count = try reader.count(of: 12 + 4 * labels.count)
        table = try reader.keys(count)
        scales = try reader.finiteFloats(count)
        weights = try reader.finiteFloats(count * labels.count)
        vectorWeights = try reader.finiteFloats(dimensions * labels.count)
        if dimensions > 0 {
            let words = try reader.count(of: 8 + 4 * dimensions)
            let table = try reader.keys(words)
            vectors = Vectors(
                dimensions: dimensions,
                words: table,
                values: try reader.finiteFloats(words * dimensions)
            )
        }
        try reader.end()
    }

    /// The `modelParameterData`, with features by ascending key.
    package var bytes: [UInt8] {
        var writer = TextParameters.writer(.textClassifier)
        writer.byte(UInt8(features.wordNGramLength))
        writer.byte(UInt8(features.characterNGramLengths?.lowerBound ?? 0))
        writer.byte(UInt8(features.characterNGramLengths?.upperBound ?? 0))
        writer.byte((normalizes ? 1 : 0) | (isLogarithmic ? 2 : 0))
        writer.floats(bias)
        writer.integer(vectors?.dimensions ?? 0)
        let order = table.keys.indices.sorted { table.keys[$0] < table.keys[$1] }
        writer.integer(order.count)
        writer.keys(order.map { table.keys[$0] })
        writer.floats(order.map { scales[$0] })
        for position in order {
            writer.floats(Array(weights[position * labels.count..<(position + 1) * labels.count]))
        }
        writer.floats(vectorWeights)
        if let vectors {
            let order = vectors.words.keys.indices.sorted { vectors.words.keys[$0] < vectors.words.keys[$1] }
            writer.integer(order.count)
            writer.keys(order.map { vectors.words.keys[$0] })
            for position in order {
                writer.floats(
                    Array(vectors.values[position * vectors.dimensions..<(position + 1) * vectors.dimensions])
                )
            }
        }
        return writer.bytes
    }
}
