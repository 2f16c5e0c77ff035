import MLGraph
package import MLNumerics
import MLOperators

extension LoweredModel {
    /// The model as bytes.
    ///
    /// - Parameter constant: Returns the number that a reader finds a constant by.
    /// - Returns: The encoded model.
    /// - Throws: `.invalidModel` when an input of the model is not an input of its graph, and errors that `constant`
    ///   throws.
    package func encoded(
        constant: (Tensor, _ name: String) throws(ModelError) -> Int
    ) throws(ModelError) -> [UInt8] {
        var places: [ValueID: Int] = [:]
        for (place, id) in graph.inputs.enumerated() { places[id] = place }
        var coded: [Features.Input] = []
        for input in inputs {
            guard let place = places[input.value] else {
                throw ModelError(.invalidModel, "the input '\(input.name)' is not an input of the graph")
            }
            coded.append(Features.Input(input, place: place))
        }
        let features = Features(
            inputs: coded,
            outputs: outputs,
            states: states,
            classifier: classifier,
            language: language
        )
        var writer = BinaryWriter()
        try ValueTree(encoding: features).write(to: &writer)
        writer.block(try GraphEncoder.encode(graph, constant: constant))
        return writer.bytes
    }

    /// Decodes a model that `encoded` wrote.
    ///
    /// - Parameters:
    ///   - bytes: The encoded model.
    ///   - constant: Returns the constant with the number that the encoder was given for it.
    /// - Throws: `.invalidModel` for bytes that are not a model, and errors that `constant` throws.
    package init(
        decoding bytes: [UInt8],
        constant: (Int) throws(ModelError) -> Tensor
    ) throws(ModelError) {
        var reader = BinaryReader(bytes)
        let features = try ValueTree(from: &reader).decoded(as: Features.self)
        let graph = try GraphDecoder.decode(
            try reader.block(),
            operatorTypes: Catalogue.writtenOperators,
            constant: constant
        )
        guard reader.isAtEnd else { throw BinaryReader.malformed("bytes are left after the graph") }
        try features.check(graph)
        self.init(
            graph: graph,
            inputs: features.inputs.map { $0.feature(graph) },
            outputs: features.outputs,
            states: features.states,
            classifier: features.classifier,
            language: features.language
        )
    }

    /// Everything except the graph; its inputs are identified by index.
    private struct Features: Codable {
        struct Input: Codable {
            let name: String
            let place: Int
            let form: InputFeature.Form
            let isOptional: Bool
            let defaultValue: Double

            init(_ input: InputFeature, place: Int) {
                name = input.name
                self.place = place
                form = input.form
                isOptional = input.isOptional
                defaultValue = input.defaultValue
            }

            func feature(_ graph: Graph) -> InputFeature {
                InputFeature(
                    name: name,
                    value: graph.inputs[place],
                    form: form,
                    isOptional: isOptional,
                    defaultValue: defaultValue
                )
            }
        }

        let inputs: [Input]
        let outputs: [OutputFeature]
        let states: [StateFeature]
        let classifier: Classifier?
        let language: Language

        /// Throws unless every index is valid in the graph, and every input is provided.
        func check(_ graph: Graph) throws(ModelError) {
            let (ins, outs) = (graph.inputs.indices, graph.body.outputs.indices)
            guard inputs.map(\.place) == Array(ins), outputs.allSatisfy({ outs.contains($0.index) }),
                states.allSatisfy({ ins.contains($0.input) && $0.output.map(outs.contains) ?? true }),
                classifier.map({ outs.contains($0.probabilities) }) ?? true
            else { throw BinaryReader.malformed("the features are not those of the graph") }
        }
    }
}
