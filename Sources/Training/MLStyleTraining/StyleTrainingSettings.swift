package import MLNumerics

/// The hyperparameters of a style network's training.
package struct StyleTrainingSettings: Sendable, Hashable, Codable {
    /// The number of iterations; the learning rate falls towards the last.
    package var iterations = 500
    /// The side of the crops that a step draws, in pixels; a multiple of 4.
    package var cropSize = 160
    /// The side, or without a square the shorter side, of the style image in pixels.
    package var density = 256
    /// The strength of the style relative to the content, from 1 to 10.
    package var strength = 5
    /// Whether changes of what is drawn by small movements and noise are a part of the loss, so that videos flicker less.
    package var isForVideo = false
    package var isLite = false
    package var seed: UInt64 = 42

    package init() {}

    /// The number of crops, and steps of the optimiser, in an iteration.
    static let stepsPerIteration = 4
    /// The learning rate of Adam with β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸, before it falls.
    static let learningRate = 2e-3
    /// The number of steps in which the network learns to draw the crop itself; a tenth of all steps at most.
    static let identitySteps = 40
    /// The number of steps in which the learning rate rises.
    static let warmupSteps = 20

    /// The number of scales at which the loss network sees the drawn image: whole, and halved.
    var scales: Int { 2 }
    var styleWeight: Double { 1 }
    var colourWeight: Double { 10 }
    var smoothness: Double { 2 }
    var flickerWeight: Double { 100 }

    /// The weight of the content: 3 at strength 5, and half or twice as much two steps further.
    var contentWeight: Double {
        var weight = 3.0
        for _ in 0..<abs(strength - 5) { weight *= strength > 5 ? 0.5.squareRoot() : 2.0.squareRoot() }
        return weight
    }

    /// The network of the settings.
    package var network: StyleNetwork { isLite ? .lite : .full }

    /// - Throws: `.invalidInput`, with the range, for a setting that is out of range.
    package func validate() throws(ModelError) {
        guard iterations >= 1 else {
            throw ModelError(.invalidInput, "the number of iterations is \(iterations); it must be 1 or more")
        }
        guard (64...1024).contains(density), density % 4 == 0 else {
            throw ModelError(
                .invalidInput,
                "the textel density is \(density); it must be a multiple of 4 from 64 to 1024"
            )
        }
        guard (1...10).contains(strength) else {
            throw ModelError(.invalidInput, "the style strength is \(strength); it must be from 1 to 10")
        }
        guard (16...1024).contains(cropSize), cropSize % 4 == 0 else {
            throw ModelError(.invalidInput, "the crop size is \(cropSize); it must be a multiple of 4 from 16 to 1024")
        }
    }
}
