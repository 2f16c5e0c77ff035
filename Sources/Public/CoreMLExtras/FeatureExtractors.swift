public import CoreML

/// Models in the place of networks that are parts of Apple's systems.
///
/// Files with a vision or audio feature print name such a network without containing it.  A model of your own that is
/// registered for it before the file is loaded takes its place: its inputs and outputs correspond by their order.
public enum FeatureExtractors {
    /// A network of Apple's systems.
    public enum Kind: Hashable, Sendable {
        /// Pictures to a vector: 299 × 299 to 2,048 values (version 1), 360 × 360 to 768 (version 2).
        case visionScene(version: Int)
        /// Pictures of 299 × 299 to arrays [288, 35, 35] and [768, 17, 17].
        case visionObjects(version: Int)
        /// Sound to 512 values.
        case audioSound(version: Int)
    }

    /// Makes `model` the network that files mean by `kind`; `nil` forgets it.
    public static func register(_ model: MLModel?, for kind: Kind) {
        switch kind {
        case .visionScene(let version): FeatureExtractorModels.register(model, for: .visionScene(version: version))
        case .visionObjects(let version): FeatureExtractorModels.register(model, for: .visionObjects(version: version))
        case .audioSound(let version): FeatureExtractorModels.register(model, for: .audioSound(version: version))
        }
    }
}
