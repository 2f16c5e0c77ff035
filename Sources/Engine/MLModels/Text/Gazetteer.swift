package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Maps terms to labels; unknown terms have the empty label.
///
/// Terms must match exactly.
///
/// Parameters: the number of terms, and for each the index of its label and the term.
package struct Gazetteer: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let output: String
    private let labels: [String]
    private let positions: [String: Int]

    package init(_ parameters: SpecGazetteer, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try interface.textInput()
        output = try interface.textOutput()
        labels = parameters.stringClassLabels.vector
        var reader = try TextParameters.reader(
            SpecBytes.array(parameters.modelParameterData),
            revision: parameters.revision,
            .gazetteer
        )
        var positions: [String: Int] = [:]
        for _ in 0..<(try reader.count(of: 8)) {
            let position = try reader.integer()
            let term = try reader.string()
            guard position < labels.count else {
                throw ModelError(
                    .malformed,
                    "the term \"\(term)\" has label \(position), but there are \(labels.count)"
                )
            }
            guard positions.updateValue(position, forKey: term) == nil else {
                throw ModelError(.malformed, "the term \"\(term)\" occurs twice")
            }
        }
        try reader.end()
        self.positions = positions
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        [output: .strings(try batch.texts(input).map { positions[$0].map { labels[$0] } ?? "" })]
    }

    /// The label of a term; `nil` when it is unknown.
    package func label(of term: String) -> String? { positions[term].map { labels[$0] } }

    /// The parameters for terms by label; a term with two labels keeps the first, in the labels' order.
    package static func parameters(_ terms: [String: [String]], language: String = "") -> SpecGazetteer {
        let labels = terms.keys.sorted()
        var positions: [String: Int] = [:]
        for (position, label) in labels.enumerated() {
            for term in terms[label] ?? [] where positions[term] == nil { positions[term] = position }
        }
        var writer = TextParameters.writer(.gazetteer)
        writer.integer(positions.count)
        for (term, position) in positions.sorted(by: { $0.key < $1.key }) {
            writer.integer(position)
            writer.string(term)
        }
        var result = SpecGazetteer()
        result.revision = TextParameters.revision
        result.language = language
        result.modelParameterData = SpecBytes.field(writer.bytes)
        result.stringClassLabels.vector = labels
        return result
    }
}
