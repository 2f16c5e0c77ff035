package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Words to vectors; a word that is not there has the vector 0.  Words match exactly.
///
/// Parameters: the number of dimensions, the number of words, and for each the word and its vector.
package struct WordEmbedding: ColumnEngine {
    package let interface: SpecModelDescription
    package let dimensions: Int
    private let input: String
    private let output: NumericOutput
    private let vectors: [String: [Float]]

    package init(_ parameters: SpecWordEmbedding, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try interface.textInput()
        let feature = try interface.soleOutput()
        guard case .multiArrayType(let array)? = feature.type.type else { throw feature.mismatch("a multi-array") }
        output = try NumericOutput(feature)
        var reader = try TextParameters.reader(
            SpecBytes.array(parameters.modelParameterData),
            revision: parameters.revision,
            .wordEmbedding
        )
        dimensions = try reader.integer()
        if let count = array.fixedCount, count != dimensions {
            throw ModelError(
                .invalidModel,
                "the vectors have \(dimensions) values, but the output '\(feature.name)' has \(count)"
            )
        }
        var vectors: [String: [Float]] = [:]
        for _ in 0..<(try reader.count(of: 4)) {
            let word = try reader.string()
            guard vectors.updateValue(try reader.floats(dimensions), forKey: word) == nil else {
                throw ModelError(.malformed, "the word \"\(word)\" is there twice")
            }
        }
        try reader.end()
        self.vectors = vectors
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        var values: [Double] = []
        for word in try batch.texts(input) {
            values += vectors[word]?.map(Double.init) ?? [Double](repeating: 0, count: dimensions)
        }
        return [
            output.name: try output.column(
                Tensor(values: values, scalarType: .float64, shape: [batch.count, dimensions])
            )
        ]
    }

    /// The words nearest to a vector by cosine, nearest first.
    package func nearest(to vector: [Float], count: Int) -> [(word: String, similarity: Double)] {
        func dot(_ a: [Float], _ b: [Float]) -> Double { zip(a, b).reduce(0) { $0 + Double($1.0) * Double($1.1) } }
        let own = dot(vector, vector).squareRoot()
        let all = vectors.map { word, other in
            let size = own * dot(other, other).squareRoot()
            return (word: word, similarity: size > 0 ? dot(vector, other) / size : 0)
        }
        return Array(all.sorted { ($1.similarity, $0.word) < ($0.similarity, $1.word) }.prefix(count))
    }

    /// The vector of a word; `nil` when it is not there.
    package func vector(of word: String) -> [Float]? { vectors[word] }

    /// The parameters for vectors of equal length by word.
    package static func parameters(_ vectors: [String: [Float]], language: String = "") -> SpecWordEmbedding {
        let dimensions = vectors.values.first?.count ?? 0
        precondition(vectors.values.allSatisfy { $0.count == dimensions })
        var writer = TextParameters.writer(.wordEmbedding)
        writer.integer(dimensions)
        writer.integer(vectors.count)
        for (word, vector) in vectors.sorted(by: { $0.key < $1.key }) {
            writer.string(word)
            writer.floats(vector)
        }
        var result = SpecWordEmbedding()
        result.revision = TextParameters.revision
        result.language = language
        result.modelParameterData = SpecBytes.field(writer.bytes)
        return result
    }
}
