package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A maximum-entropy classifier of texts: softmax(bias + Σ value(f) · weights(f)) over the features f that the text has.
///
/// Revision 1002 is `TextModel`, revision 1001 `NamedTextModel`.
package struct TextClassifier: ColumnEngine {
    private enum Form: Sendable {
        case keyed(TextModel)
        case named(NamedTextModel)
    }

    package let interface: SpecModelDescription
    private let form: Form
    package let labels: [String]
    /// The BCP 47 tag of the language; "" when the file names none.
    package let language: String
    package let revision: Int
    private let input: String
    private let output: ClassOutput

    package init(_ specification: SpecTextClassifier, _ interface: SpecModelDescription) throws(ModelError) {
        var interface = interface
        if interface.predictedFeatureName.isEmpty { interface.predictedFeatureName = try interface.soleOutput().name }
        self.interface = interface
        input = try interface.textInput()
        labels = specification.stringClassLabels.vector
        (language, revision) = (specification.language, Int(specification.revision))
        output = try ClassOutput(.strings(labels), interface)
        let bytes = SpecBytes.array(specification.modelParameterData)
        if specification.revision == TextParameters.keyedRevision {
            form = .keyed(try TextModel(bytes, labels: labels, language: specification.language))
        } else {
            form = .named(try NamedTextModel(bytes, revision: specification.revision, labels: labels))
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        try output.columns(try probabilities(of: try batch.texts(input)))
    }

    /// The probabilities of every label for every text: [texts × labels].
    package func probabilities(of texts: [String]) throws(ModelError) -> [Double] {
        let width = labels.count
        var scores = [Double](repeating: 0, count: texts.count * width)
        let failure = FirstFailure()
        scores.withUnsafeMutableBufferPointer { scores in
            guard let address = scores.baseAddress else { return }
            // Each range writes its own rows.
            nonisolated(unsafe) let result = address
            inParallel(texts.count, work: 4096) { range in
                for row in range {
                    failure.catching(row) { () throws(ModelError) in
                        try score(
                            texts[row],
                            UnsafeMutableBufferPointer(start: result + row * width, count: width)
                        )
                    }
                }
            }
        }
        try failure.check(texts.count)
        return scores
    }

    private func score(_ text: String, _ result: UnsafeMutableBufferPointer<Double>) throws(ModelError) {
        switch form {
        case .keyed(let model):
            for (label, probability) in try model.probabilities(of: text).enumerated() { result[label] = probability }
        case .named(let model): model.score(text, into: result)
        }
    }

    /// The specification of a trained classifier.
    package static func specification(_ model: TextModel) -> SpecTextClassifier {
        var result = SpecTextClassifier()
        result.revision = TextParameters.keyedRevision
        result.language = model.features.tokenizer.language
        result.modelParameterData = SpecBytes.field(model.bytes)
        result.stringClassLabels.vector = model.labels
        return result
    }
}
