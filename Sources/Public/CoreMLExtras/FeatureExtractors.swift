public import CoreML

/// Substitutes for the feature-extraction networks that are part of Apple's systems.
///
/// Files with a vision or audio feature print name such a network without containing it. A model that is registered for
/// it before the file is loaded takes its place; inputs and outputs correspond by their order.
public enum FeatureExtractors {
    /// A feature-extraction network of Apple's systems.
    public enum Kind: Hashable, Sendable {
        /// Maps images to a vector: 299 × 299 to 2,048 values (version 1), 360 × 360 to 768 (version 2).
        case visionScene(version: Int)
        /// Maps images of 299 × 299 to arrays [288, 35, 35] and [768, 17, 17].
        case visionObjects(version: Int)
        /// Maps sound to a vector of 512 values.
        case audioSound(version: Int)
    }

    /// Registers `model` as the network that files refer to by `kind`; nil removes the registration.
    public static func register(_ model: MLModel?, for kind: Kind) {
        switch kind {
        case .visionScene(let version): FeatureExtractorModels.register(model, for: .visionScene(version: version))
        case .visionObjects(let version): FeatureExtractorModels.register(model, for: .visionObjects(version: version))
        case .audioSound(let version): FeatureExtractorModels.register(model, for: .audioSound(version: version))
        }
    }
}
