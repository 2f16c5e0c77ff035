import MLEngine

/// Access to the engine's registry of feature extractors.
package enum FeatureExtractorModels {
    /// The networks that files name; see `FeatureExtractors` of `CoreMLExtras`.
    package enum Kind: Sendable {
        case visionScene(version: Int)
        case visionObjects(version: Int)
        case audioSound(version: Int)
    }

    package static func register(_ model: MLModel?, for kind: Kind) {
        let name: FeatureExtractors.Kind =
            switch kind {
            case .visionScene(let version): .visionScene(version: version)
            case .visionObjects(let version): .visionObjects(version: version)
            case .audioSound(let version): .audioSound(version: version)
            }
        FeatureExtractors.register(model?.engine, for: name)
    }
}
