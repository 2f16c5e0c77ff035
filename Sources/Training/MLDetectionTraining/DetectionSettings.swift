package import MLNumerics

/// The hyperparameters of a detector's training.
package struct DetectionSettings: Sendable, Hashable {
    /// The number of iterations; the learning rate falls towards the last.
    package var iterations: Int
    /// The number of views of images in an iteration.
    package var batchSize: Int
    /// The number of labels.
    package var labelCount: Int
    /// Whether half of the views are mirror images.
    package var mirrorsImages: Bool
    /// Whether views are turned by any angle.
    package var turnsImages: Bool
    package var seed: UInt64 = 42

    package init(
        iterations: Int,
        batchSize: Int = DetectionSettings.defaultBatchSize,
        labelCount: Int,
        mirrorsImages: Bool = true,
        turnsImages: Bool = false
    ) {
        self.iterations = iterations
        self.batchSize = batchSize
        self.labelCount = labelCount
        self.mirrorsImages = mirrorsImages
        self.turnsImages = turnsImages
    }

    package static let defaultBatchSize = 16

    /// The largest number of `automaticIterations`.
    package static let maximumAutomaticIterationCount = 4000

    /// The number of iterations for a number of images: more for many images, 1,200 to 4,000; half more of it, up to 4,000,
    /// with turned views, of which there are more kinds; two thirds of it where the whole network is trained, which takes
    /// longer.
    package static func automaticIterations(imageCount: Int, turnsImages: Bool, learnsFeatures: Bool) -> Int {
        let requested = 60 * imageCount / defaultBatchSize
        let usual = Swift.max((requested + 50) / 100 * 100, 1200)
        let count = Swift.min(turnsImages ? usual * 3 / 2 : usual, maximumAutomaticIterationCount)
        return learnsFeatures ? count * 2 / 3 : count
    }

    /// The learning rate of Adam with β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸, before it falls along a cosine.
    static let learningRate = 2e-3
    /// The number of iterations in which the learning rate rises.
    static let warmupIterations = 50
    /// The part of the learning rate that is left at the end.
    static let lastShare = 0.01
    /// The weight of the loss of the boxes' sides against that of the centres.
    static let boxWeight = 5.0
    /// The decay of the moving mean of the parameters, which the model is made of.
    static let meanDecay = 0.998

    /// - Throws: `.invalidInput`, with the range, for a setting that is out of range.
    package func validate() throws(ModelError) {
        guard iterations >= 1 else {
            throw ModelError(.invalidInput, "the number of iterations is \(iterations); it must be 1 or more")
        }
        guard (1...256).contains(batchSize) else {
            throw ModelError(.invalidInput, "the batch size is \(batchSize); it must be from 1 to 256")
        }
        guard (1...1000).contains(labelCount) else {
            throw ModelError(.invalidInput, "there are \(labelCount) labels; a detector learns 1 to 1000")
        }
    }
}
