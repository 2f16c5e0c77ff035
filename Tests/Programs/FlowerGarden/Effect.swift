import CoreMLExtras

/// A way to tint pictures.
enum Effect: String, CaseIterable {
    case sepia
    case night
    case spring

    /// The linear combination of red, green and blue for each of them.
    private var mixture: [Float] {
        switch self {
        case .sepia: [0.39, 0.77, 0.19, 0.35, 0.69, 0.17, 0.27, 0.53, 0.13]
        case .night: [0.30, 0.10, 0.10, 0.10, 0.40, 0.20, 0.10, 0.30, 0.80]
        case .spring: [0.90, 0.10, 0.00, 0.10, 1.00, 0.10, 0.00, 0.20, 0.80]
        }
    }

    /// A network that mixes the colours of a picture.
    func network(version: String) throws -> ModelSpecification {
        var builder = NeuralNetworkBuilder(arrays: .rank5)
        let picture = ModelFeatureType.image(width: 32, height: 32, color: .rgb)
        let x = builder.convolution(
            "stylized",
            builder.input("image", picture),
            outputChannels: 3,
            kernel: (1, 1),
            weights: LayerWeights(mixture)
        )
        builder.output(x, picture)
        builder.metadata.description = "Tints a picture: \(rawValue)."
        builder.metadata.author = "swift-coreml"
        builder.metadata.license = "Apache-2.0"
        builder.metadata.version = version
        return try builder.finished()
    }
}
