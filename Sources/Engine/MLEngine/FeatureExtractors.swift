package import MLFeatures
import MLNumerics
import MLSpecification
import Synchronization

/// The networks of Apple's systems that model files refer to without containing them, and their registered
/// replacements.
package enum FeatureExtractors {
    /// A network of the system.
    package enum Kind: Hashable, Sendable {
        /// From images to a vector: 299 × 299 pixels to 2,048 values (version 1), 360 × 360 to 768 (version 2).
        case visionScene(version: Int)
        /// From images of 299 × 299 pixels to [288, 35, 35] and [768, 17, 17].
        case visionObjects(version: Int)
        /// From sound to 512 values.
        case audioSound(version: Int)
    }

    private static let registered = Mutex<[Kind: any ModelEngine]>([:])

    /// Registers `engine` as the network that files mean by `kind`; `nil` removes it.
    package static func register(_ engine: (any ModelEngine)?, for kind: Kind) {
        registered.withLock { $0[kind] = engine }
    }

    /// The registered network, with the interface of a file.
    static func engine(for model: SpecModel) throws(ModelError) -> any ModelEngine {
        let kind = try kind(of: model)
        guard let engine = registered.withLock({ $0[kind] }) else {
            throw ModelError(
                .unsupported,
                "the model needs the network \(kind) of Apple's systems, whose weights are not in the file; "
                    + "register your own model for it with FeatureExtractors.register of CoreMLExtras"
            )
        }
        return try RenamedEngine(engine, model.description_p)
    }

    private static func kind(of model: SpecModel) throws(ModelError) -> Kind {
        switch model.type {
        case .visionFeaturePrint(let print)?:
            switch print.visionFeaturePrintType {
            case .scene(let scene)?: return .visionScene(version: scene.version.rawValue)
            case .objects(let objects)?: return .visionObjects(version: objects.version.rawValue)
            case nil: throw ModelError(.invalidModel, "the vision feature print states no kind")
            }
        case .audioFeaturePrint(let print)?:
            switch print.audioFeaturePrintType {
            case .sound(let sound)?: return .audioSound(version: sound.version.rawValue)
            case nil: throw ModelError(.invalidModel, "the audio feature print states no kind")
            }
        default: throw ModelError(.invalidModel, "the model is not a feature print")
        }
    }
}

/// An engine under the feature names of another interface: inputs and outputs correspond by their order.
struct RenamedEngine: ModelEngine {
    let interface: SpecModelDescription
    private let engine: any ModelEngine

    init(_ engine: any ModelEngine, _ interface: SpecModelDescription) throws(ModelError) {
        let inner = engine.interface
        guard inner.input.count == interface.input.count, inner.output.count >= interface.output.count else {
            throw ModelError(
                .invalidModel,
                "the registered extractor has \(inner.input.count) inputs and \(inner.output.count) outputs; "
                    + "the file asks for \(interface.input.count) and \(interface.output.count)"
            )
        }
        self.engine = engine
        self.interface = interface
    }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        var arguments: [String: FeatureData] = [:]
        for (inner, outer) in zip(engine.interface.input, interface.input) {
            arguments[inner.name] = inputs[outer.name]
        }
        let results = try engine.prediction(from: arguments, backings: [:], state: state)
        var outputs: [String: FeatureData] = [:]
        for (inner, outer) in zip(engine.interface.output, interface.output) {
            outputs[outer.name] = results[inner.name]
        }
        return outputs
    }
}
