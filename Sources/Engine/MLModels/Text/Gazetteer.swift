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
    private let places: [String: Int]

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
        var places: [String: Int] = [:]
        for _ in 0..<(try reader.count(of: 8)) {
            let place = try reader.integer()
            let term = try reader.string()
            guard place < labels.count else {
                throw ModelError(.malformed, "the term \"\(term)\" has label \(place), but there are \(labels.count)")
            }
            guard places.updateValue(place, forKey: term) == nil else {
                throw ModelError(.malformed, "the term \"\(term)\" occurs twice")
            }
        }
        try reader.end()
        self.places = places
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        [output: .strings(try batch.texts(input).map { places[$0].map { labels[$0] } ?? "" })]
    }

    /// The label of a term; `nil` when it is unknown.
    package func label(of term: String) -> String? { places[term].map { labels[$0] } }

    /// The parameters for terms by label; a term with two labels keeps the first, in the labels' order.
    package static func parameters(_ terms: [String: [String]], language: String = "") -> SpecGazetteer {
        let labels = terms.keys.sorted()
        var places: [String: Int] = [:]
        for (place, label) in labels.enumerated() {
            for term in terms[label] ?? [] where places[term] == nil { places[term] = place }
        }
        var writer = TextParameters.writer(.gazetteer)
        writer.integer(places.count)
        for (term, place) in places.sorted(by: { $0.key < $1.key }) {
            writer.integer(place)
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
