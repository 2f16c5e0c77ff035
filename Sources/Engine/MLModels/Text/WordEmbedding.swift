package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Maps words to vectors; unknown words have the zero vector.
///
/// Words must match exactly.
///
/// Parameters: the number of dimensions, the number of words, and for each the word and its vector.
package struct WordEmbedding: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let output: NumericOutput
    package let vectors: WordVectors
    /// The BCP 47 tag of the language; "" when the file names none.
    package let language: String

    package init(_ parameters: SpecWordEmbedding, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        language = parameters.language
        input = try interface.textInput()
        let feature = try interface.soleOutput()
        guard case .multiArrayType(let array)? = feature.type.type else { throw feature.mismatch("a multi-array") }
        output = try NumericOutput(feature)
        var reader = try TextParameters.reader(
            SpecBytes.array(parameters.modelParameterData),
            revision: parameters.revision,
            .wordEmbedding
        )
        vectors = try WordVectors(&reader)
        if let count = array.fixedCount, count != vectors.dimensions {
            throw ModelError(
                .invalidModel,
                "the vectors have \(vectors.dimensions) values, but the output '\(feature.name)' has \(count)"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        var values: [Double] = []
        for word in try batch.texts(input) {
            values += vectors.vector(of: word)?.map(Double.init) ?? [Double](repeating: 0, count: vectors.dimensions)
        }
        return [
            output.name: try output.column(
                Tensor(values: values, scalarType: .float64, shape: [batch.count, vectors.dimensions])
            )
        ]
    }
}
