import MLFiles

/// Writes the class that holds a model's prediction.
struct OutputWriter {
    let types: TypeWriter

    private var access: String { types.access }
    private var features: [GeneratedFeature] { types.interface.outputs }

    func write(to writer: inout SourceWriter) {
        writer.space()
        writer.add("/// What \(types.interface.className) predicted.")
        writer.add(types.availability.ofType)
        // Unchecked: the generated class never changes; a caller that writes to the array of an output must ensure that
        // nobody reads it meanwhile.
        writer.block("\(access)class \(types.interface.outputName): MLFeatureProvider, @unchecked Sendable") { writer in
            writer.add("private let provider: \(types.any)MLFeatureProvider")
            writer.space()
            writeProperties(to: &writer)
            writer.add("\(access)var featureNames: Set<String> { self.provider.featureNames }")
            writer.space()
            writer.block("\(access)func featureValue(for featureName: String) -> MLFeatureValue?") {
                $0.add("self.provider.featureValue(for: featureName)")
            }
            writer.space()
            writeInitializers(to: &writer)
        }
    }

    private func writeProperties(to writer: inout SourceWriter) {
        var names = Set(features.map(\.identifier)).union(["featureNames", "featureValue", "provider"])
        for feature in features {
            writer.add(feature.comment)
            let value = feature.read(from: "self.provider")
            writer.add("\(access)var \(feature.identifier): \(feature.type) { \(value) }")
            writer.space()
            guard let scalar = feature.scalar else { continue }
            let name = SwiftIdentifier.unused(feature.identifier + "ShapedArray", in: &names)
            let type = "MLShapedArray<\(scalar)>"
            writer.guarded(float16: scalar == "Float16") { writer in
                writer.add(feature.comment)
                writer.add(types.availability.member(since: 6))
                if feature.isOptional {
                    writer.add("\(access)var \(name): \(type)? { self.\(feature.identifier).map { \(type)($0) } }")
                } else {
                    writer.add("\(access)var \(name): \(type) { \(type)(self.\(feature.identifier)) }")
                }
            }
            writer.space()
        }
    }

    private func writeInitializers(to writer: inout SourceWriter) {
        let list = FeatureList(features: features)
        writer.function("\(access)init", list.parameters, "") { writer in
            let values = features.map { "\($0.literal): \($0.wrapped($0.identifier))" }
            let header = "self.provider = try! MLDictionaryFeatureProvider(dictionary: "
            if features.contains(where: \.isOptional) {
                writer.call(
                    header,
                    values,
                    open: "([",
                    close: "] as [String: MLFeatureValue?]).compactMapValues { $0 })"
                )
            } else {
                writer.call(header, values.isEmpty ? [":"] : values, open: "[", close: "])")
            }
        }
        writer.space()
        writer.block("\(access)init(features: \(types.any)MLFeatureProvider)") { $0.add("self.provider = features") }
    }
}
