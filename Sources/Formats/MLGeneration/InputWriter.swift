import MLFiles

/// Writes a class that provides the inputs of a model, or those of an example that it learns from.
struct InputWriter {
    let types: TypeWriter
    let name: String
    let features: [GeneratedFeature]
    let comment: String

    private var access: String { types.access }
    private var list: FeatureList { FeatureList(features: features) }

    func write(to writer: inout SourceWriter) {
        writer.space()
        writer.add(comment)
        writer.add(types.availability.ofType)
        // Unchecked: a caller that changes an input of the generated class must ensure that nobody reads it meanwhile.
        writer.block("\(access)class \(name): MLFeatureProvider, @unchecked Sendable") { writer in
            for feature in features {
                writer.add(feature.comment)
                writer.add("\(access)var \(feature.identifier): \(feature.type)" + (feature.isOptional ? " = nil" : ""))
                writer.space()
            }
            writeProvider(to: &writer)
            writeInitializers(to: &writer)
            writeImages(to: &writer)
        }
    }

    private func writeProvider(to writer: inout SourceWriter) {
        writer.call("\(access)var featureNames: Set<String> { ", features.map(\.literal), open: "[", close: "] }")
        writer.space()
        writer.block("\(access)func featureValue(for featureName: String) -> MLFeatureValue?") { writer in
            guard !features.isEmpty else { return writer.add("nil") }
            writer.add("switch featureName {")
            for feature in features {
                writer.add("case \(feature.literal): \(feature.wrapped("self.\(feature.identifier)"))")
            }
            writer.add("default: nil")
            writer.add("}")
        }
        writer.space()
    }

    private func writeInitializers(to writer: inout SourceWriter) {
        writer.function("\(access)init", list.parameters, "") { writer in
            for feature in features { writer.add("self.\(feature.identifier) = \(feature.identifier)") }
        }
        writer.space()
        guard list.hasArrays else { return }
        writer.guarded(float16: list.hasFloat16) { writer in
            writer.add(types.availability.member(since: 6))
            writer.function("\(access)convenience init", list.shapedParameters, "") { writer in
                writer.call("self.init", list.shapedArguments)
            }
        }
        writer.space()
    }

    // MARK: Images

    private func writeImages(to writer: inout SourceWriter) {
        guard features.contains(where: { $0.convertible != nil }) else { return }
        for (word, type, label) in [("With", "CGImage", "cgImage"), ("At", "URL", "imageAt")] {
            writer.add("/// Brings pictures to the model's size and form.")
            writer.add(types.availability.member(since: 4))
            writer.function("\(access)convenience init", parameters(word, type), " throws") { writer in
                writer.call("self.init", features.map { argument($0, label) })
            }
            writer.space()
        }
        var names = Set(features.map(\.identifier))
        for feature in features {
            guard feature.convertible != nil else { continue }
            let setter = SwiftIdentifier.unused("set" + SwiftIdentifier.capitalized(feature.identifier), in: &names)
            for (type, label) in [("CGImage", "cgImage"), ("URL", "imageAt")] {
                writer.add("/// Brings a picture to the model's size and form.")
                writer.add(types.availability.member(since: 4))
                writer.function("\(access)func \(setter)", ["with \(feature.identifier): \(type)"], " throws") {
                    writer in
                    writer.add("self.\(feature.identifier) = \(converted(feature, label, feature.identifier))")
                }
                writer.space()
            }
        }
    }

    /// Optional images have a default only where a required one tells this form from the others.
    private func parameters(_ word: String, _ type: String) -> [String] {
        let isTold = features.contains { $0.convertible != nil && !$0.isOptional }
        return zip(features, list.parameters).map { feature, parameter in
            guard feature.convertible != nil else { return parameter }
            let form = feature.isOptional ? "?" + (isTold ? " = nil" : "") : ""
            return "\(feature.identifier)\(word) \(feature.identifier): \(type)\(form)"
        }
    }

    private func argument(_ feature: GeneratedFeature, _ label: String) -> String {
        let name = feature.identifier
        guard feature.convertible != nil else { return "\(name): \(name)" }
        guard feature.isOptional else { return "\(name): \(converted(feature, label, name))" }
        return "\(name): try \(name).map { \(converted(feature, label, "$0")) }"
    }

    private func converted(_ feature: GeneratedFeature, _ label: String, _ name: String) -> String {
        guard let form = feature.convertible else { return name }
        return "try MLFeatureValue(\(label): \(name), pixelsWide: \(form.width), pixelsHigh: \(form.height), "
            + "pixelFormatType: \(form.format), options: nil).imageBufferValue!"
    }
}
