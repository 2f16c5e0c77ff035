import Foundation
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSeriesTraining
import MLSpecification

/// The settings of a picture classifier's training, as they are kept with a session.
struct ImageSettings: Codable, Hashable, Sendable {
    /// The name of an installed extractor; `nil` for a model of the caller's, and for learned features.
    var installed: String?
    /// `nil` for features of a pretrained network.
    var learned: FeatureLearningCause?
    /// The number of the installed extractor's last blocks that are fine-tuned; `nil` for none.
    var tunedBlocks: Int?
    /// The path and the output of the caller's model.
    var modelPath: String?
    var outputName: String?
    /// Whether the extractor was requested as Apple's, and the revision.
    var isScenePrint = false
    var revision: Int?
    /// The sizes of dense layers; empty for a logistic regression.
    var layerSizes: [Int] = []
    var iterations = 25
    var augmentation = 0

    init(_ parameters: MLImageClassifier.ModelParameters) {
        iterations = parameters.maxIterations
        augmentation = parameters.augmentationOptions.rawValue
        switch parameters.algorithm {
        case .transferLearning(let extractor, let classifier):
            switch extractor {
            case .custom(let custom):
                switch custom.origin {
                case .store(let name):
                    installed = name
                    tunedBlocks = custom.fineTunedBlocks
                case .pictures: learned = .request
                case .file:
                    modelPath = custom.modelPath.path
                    outputName = custom.outputName
                }
            case .scenePrint(let revision):
                if ExtractorStore.user.contains(.efficientNetLite0) {
                    installed = Extractor.efficientNetLite0.name
                } else {
                    learned = .missingExtractor
                }
                isScenePrint = true
                self.revision = revision
            }
            if case .multilayerPerceptron(let sizes) = classifier { layerSizes = sizes }
        }
    }

    /// The extractor, for sessions and fingerprints.
    var extractorName: String {
        guard learned == nil else { return "learned" }
        let name = installed ?? modelPath ?? ""
        return tunedBlocks.map { "\(name), fine-tuned: \($0)" } ?? name
    }

    /// Whether the training pictures are learned from before features are extracted.
    var learnsExtractor: Bool { learned != nil || tunedBlocks != nil }

    var options: MLImageClassifier.ImageAugmentationOptions { .init(rawValue: augmentation) }

    /// The public parameters.
    var parameters: MLImageClassifier.ModelParameters {
        let extractor: MLImageClassifier.FeatureExtractorType =
            if isScenePrint {
                .scenePrint(revision: revision)
            } else if let modelPath {
                .custom(.init(modelPath: URL(fileURLWithPath: modelPath), outputName: outputName))
            } else {
                learned == nil
                    ? tunedBlocks.map { .efficientNetLite0(fineTunedBlocks: $0) } ?? .efficientNetLite0 : .learned
            }
        return .init(
            validation: .none,
            maxIterations: iterations,
            augmentation: options,
            algorithm: .transferLearning(
                featureExtractor: extractor,
                classifier: layerSizes.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: layerSizes)
            )
        )
    }
}

/// A loaded extractor with what its features need, and the views of pictures that are learned from.
struct ImageExtractor: Sendable {
    let encoder: ImageFeatureEncoder
    /// The installed extractor; `nil` for other ones.
    let installed: Extractor?
    /// The network whose layers become part of the classifier; `nil` for a stage of its own in a pipeline.
    let network: SpecModel?
    /// The extractor's model.
    let file: ModelFile
    let options: MLImageClassifier.ImageAugmentationOptions

    /// - Parameters:
    ///   - settings: The settings, which name the extractor.
    ///   - learned: What was learned from the training pictures; `nil` for the named extractor.
    /// - Throws: The errors of loading the extractor.
    init(_ settings: ImageSettings, learned: LearnedExtractor?) throws(ModelError) {
        options = settings.options
        if let learned {
            let specification = learned.specification
            installed = learned.installed
            network = specification
            file = ModelFile(specification: specification, path: "the learned features")
            encoder = try ImageFeatureEncoder(file)
        } else if let name = settings.installed {
            let model = try ExtractorStore.user.load(.named(name, in: Extractor.ofImages))
            installed = model.extractor
            network = model.specification
            file = ModelFile(specification: model.specification, path: "the extractor \(name)")
            encoder = try ImageFeatureEncoder(file)
        } else {
            let path = settings.modelPath ?? ""
            file = try ModelFile.open(path: path)
            encoder = try ImageFeatureEncoder(file, output: settings.outputName)
            installed = nil
            network = nil
            try file.requireUnprotected("a classifier with it")
        }
    }

    /// Whether predictions use the mean of the picture's features and its mirror image's.
    var isMirrored: Bool { options.contains(.flip) && network != nil }

    /// Whether square roots of the features are taken: those of installed extractors and of learned filters are means of
    /// activations that are never negative, and few of which are large.
    var takesRoots: Bool { network != nil }

    func viewCount(isValidation: Bool) -> Int {
        isValidation ? (isMirrored ? 2 : 1) : 1 + options.augmentations.count
    }

    /// The features of the views of a picture: [views, features].
    ///
    /// With `isMirrored` the second view is the mirror image.
    func views(_ picture: Bitmap, isValidation: Bool, seed: UInt64) throws(ModelError) -> [Float] {
        let plain = encoder.fitted(picture)
        let pictures =
            isValidation ? (isMirrored ? [plain, plain.mirrored] : [plain]) : changed(picture, seed: seed)
        var result: [Float] = []
        for picture in pictures { result += scaled(try encoder.features(of: picture)) }
        return result
    }

    /// The views of a picture that are learned from, in the extractor's size: itself, and a changed copy for each option.
    func changed(_ picture: Bitmap, seed: UInt64) -> [Bitmap] {
        let plain = encoder.fitted(picture)
        return [plain]
            + options.augmentations.map { augmentation in
                var source = SplitMix64(seed: seed &+ UInt64(augmentation.rawValue) &* 0x9E37_79B9)
                return augmentation == .flip ? plain.mirrored : augmentation.changed(picture, encoder, &source)
            }
    }

    /// The features' square roots, if they are taken, divided by their length.
    private func scaled(_ features: [Float]) -> [Float] {
        var values = features
        if takesRoots { for position in values.indices { values[position] = max(values[position], 0).squareRoot() } }
        let length = max(values.reduce(0) { $0 + $1 * $1 }.squareRoot(), ImageNetworkWriter.minimumNorm)
        return values.map { $0 / length }
    }
}
