/// Writes the types of one interface.
struct TypeWriter {
    let interface: GeneratedInterface
    let options: GenerationOptions
    let availability: Availability
    /// The name of the compiled folder without its ending.
    let resource: String
    /// Documentation lines of the model's class.
    let description: [String]

    var access: String { options.isPublic ? "public " : "" }
    var any: String { options.swift.existential }

    func write(to writer: inout SourceWriter) {
        InputWriter(
            types: self,
            name: interface.inputName,
            features: interface.inputs,
            comment: "/// What \(interface.className) predicts from."
        ).write(to: &writer)
        OutputWriter(types: self).write(to: &writer)
        if let inputs = interface.trainingInputs {
            InputWriter(
                types: self,
                name: interface.trainingInputName,
                features: inputs,
                comment: "/// An example that \(interface.className) learns from."
            ).write(to: &writer)
        }
        if !interface.states.isEmpty { writeState(to: &writer) }
        ModelWriter(types: self).write(to: &writer)
    }

    private func writeState(to writer: inout SourceWriter) {
        writer.space()
        writer.add("/// What \(interface.className) keeps from one prediction to the next.")
        writer.add(availability.ofType)
        // Unchecked: the class that is written holds an `MLState`, which threads may share.
        writer.block("\(access)final class \(interface.stateName): @unchecked Sendable") { writer in
            writer.add("/// The names of the states.")
            writer.block("\(access)enum Name: String, CaseIterable") { writer in
                for state in interface.states {
                    writer.add(state.comment)
                    writer.add("case \(state.identifier) = \(SourceText.literal(state.name))")
                }
            }
            writer.space()
            writer.add("\(access)let handle: MLState")
            writer.space()
            writer.block("\(access)init(handle: MLState)") { $0.add("self.handle = handle") }
            writer.space()
            writer.add("/// Calls `body` with a state's array, whose elements it may change.")
            writer.block(
                "\(access)func withMultiArray<R>(for stateName: Name, _ body: (MLMultiArray) throws -> R) rethrows -> R"
            ) { $0.add("try handle.withMultiArray(for: stateName.rawValue, body)") }
        }
    }
}

/// The forms in which lists of features stand as parameters and arguments.
struct FeatureList {
    let features: [GeneratedFeature]

    /// The parameters of a declaration, such as `x: Int64, y: Double? = nil`.
    var parameters: [String] {
        features.map { "\($0.identifier): \($0.type)" + ($0.isOptional ? " = nil" : "") }
    }

    /// The arguments of a call, such as `x: x, y: y`.
    var arguments: [String] { features.map { "\($0.identifier): \($0.identifier)" } }

    var hasArrays: Bool { features.contains { $0.scalar != nil } }
    var hasFloat16: Bool { features.contains { $0.scalar == "Float16" } }

    /// The parameters with shaped arrays in place of multi-arrays.
    ///
    /// Optional ones have a default only where a required one tells this form from the other.
    var shapedParameters: [String] {
        let isTold = features.contains { $0.scalar != nil && !$0.isOptional }
        return features.map { feature in
            guard let scalar = feature.scalar else {
                return "\(feature.identifier): \(feature.type)" + (feature.isOptional ? " = nil" : "")
            }
            let type = "MLShapedArray<\(scalar)>"
            guard feature.isOptional else { return "\(feature.identifier): \(type)" }
            return "\(feature.identifier): \(type)?" + (isTold ? " = nil" : "")
        }
    }

    var shapedArguments: [String] {
        features.map { feature in
            let name = feature.identifier
            guard feature.scalar != nil else { return "\(name): \(name)" }
            return "\(name): " + (feature.isOptional ? "\(name).map { MLMultiArray($0) }" : "MLMultiArray(\(name))")
        }
    }
}
