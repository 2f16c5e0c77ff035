import CoreGraphics
import CoreML
import Foundation
import ImageIO
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import Testing

import CreateML

/// Whole flows without a pretrained extractor: features are learned from the training pictures.
@Suite struct LearnedFeaturesTests {
    private let folder: TemporaryFolder
    private let training: URL
    private let labels = ["checks", "columns", "rows"]

    init() throws {
        folder = try TemporaryFolder()
        training = folder.file("training")
    }

    /// A texture whose phase, colours and noise differ from picture to picture, so that no pixel tells the class.
    private func picture(_ label: String, _ number: Int, side: Int) -> Bitmap {
        var source = SplitMix64(seed: UInt64(number) &* 977 &+ UInt64(label.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
        let phase = (Int.random(in: 0..<4, using: &source), Int.random(in: 0..<4, using: &source))
        let colours = (0..<2).map { part in
            (0..<3).map { _ in Double.random(in: 0...90, using: &source) + Double(110 * part) }
        }
        var bitmap = Bitmap(width: side, height: side, layout: .rgba)
        for y in 0..<side {
            for x in 0..<side {
                let (u, v) = ((x + phase.0) / 2 % 2, (y + phase.1) / 2 % 2)
                let isLight = label == "rows" ? v == 1 : label == "columns" ? u == 1 : u != v
                for component in 0..<3 {
                    let value = colours[isLight ? 1 : 0][component] + Double.random(in: -12...12, using: &source)
                    bitmap.pixels[(y * side + x) * 4 + component] = UInt8(min(max(value, 0), 255))
                }
                bitmap.pixels[(y * side + x) * 4 + 3] = 255
            }
        }
        return bitmap
    }

    private func write(_ numbers: Range<Int>, side: Int) throws {
        for label in labels {
            let own = training.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            for number in numbers {
                try ImageEncoder.png(picture(label, number, side: side), isOpaque: true)
                    .write(to: own.appendingPathComponent("\(number).png"))
            }
        }
    }

    private func parameters(
        _ extractor: MLImageClassifier.FeatureExtractorType = .learned,
        _ augmentation: MLImageClassifier.ImageAugmentationOptions = []
    ) -> MLImageClassifier.ModelParameters {
        .init(featureExtractor: extractor, validation: .none, augmentationOptions: augmentation)
    }

    /// The compiled model has the classes of the training, and the probabilities that the written model has, for pictures of
    /// the smallest size and larger ones.
    @Test(arguments: [(8, false), (32, true)])
    func `Pictures become a model that answers as the training does`(side: Int, isMirrored: Bool) async throws {
        try write(0..<16, side: side)
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        let classifier = try MLImageClassifier(
            trainingData: source,
            parameters: parameters(.learned, isMirrored ? .flip : [])
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.evaluation(on: source).classificationError == 0)
        #expect(classifier.warnings.count == 1 && classifier.warnings[0].contains("natural categories"))
        let url = folder.file("Textures.mlmodel")
        try classifier.write(to: url)
        let file = try ModelFile.open(path: url.path)
        #expect(file.specification.neuralNetworkClassifier.layers.contains { $0.name == "patches.filtered" })
        let metadata = file.specification.description_p.metadata.userDefined
        #expect(metadata["featureExtractor"] == "learned")
        #expect(metadata["featureExtractorNotice"]?.contains("coreml extractor install efficientnet-lite0") == true)

        let compiled = try await MLModel.compileModel(at: url)
        defer { try? FileManager.default.removeItem(at: compiled) }
        let model = try MLModel(contentsOf: compiled)
        let input = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
        #expect((input.pixelsWide, input.pixelsHigh) == (side, side))
        var right = 0
        for label in labels {
            for number in 100..<108 {
                let picture = CGImage(picture(label, number, side: side), isOpaque: true)
                let value = try MLFeatureValue(cgImage: picture, constraint: input)
                let output = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
                let answer = output.featureValue(for: "classLabel")?.stringValue
                #expect(try classifier.prediction(from: picture) == answer)
                right += answer == label ? 1 : 0
            }
        }
        #expect(right >= 22)
    }

    @Test func `Without an installed extractor features are learned, and the model says so`() throws {
        try write(0..<8, side: 24)
        let broken = training.appendingPathComponent("rows/broken.png")
        try Data("no picture".utf8).write(to: broken)
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        try ExtractorStore.$replacement.withValue(ExtractorStore(folder: folder.file("store").path)) {
            let classifier = try MLImageClassifier(
                trainingData: source,
                parameters: parameters(.scenePrint(revision: 1))
            )
            let warning = try #require(classifier.warnings.first)
            #expect(warning.contains("'efficientnet-lite0' is not installed"))
            #expect(warning.contains("coreml extractor install efficientnet-lite0"))
            #expect(classifier.description.contains("Warning: \(warning)"))
            #expect(classifier.debugDescription.contains(warning))
            #expect(classifier.skippedImages.map(\.url.lastPathComponent) == ["broken.png"])
            // Who asks for the extractor gets it or an error.
            let error = #expect(throws: MLCreateError.self) {
                try MLImageClassifier(trainingData: source, parameters: parameters(.efficientNetLite0))
            }
            #expect("\(String(describing: error))".contains("is not installed; run: coreml extractor install"))
        }
    }

    /// Training is the same whether it is stopped after any step or not: the same bytes.
    @Test func `A session continues to the same bytes`() async throws {
        try write(0..<14, side: 24)
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        let own = parameters(.learned, .noise)
        func bytes(_ classifier: MLImageClassifier, _ name: String) throws -> Data {
            try classifier.write(to: folder.file(name), metadata: MLModelMetadata(author: "test"))
            return try Data(contentsOf: folder.file(name))
        }
        let whole = try bytes(MLImageClassifier(trainingData: source, parameters: own), "whole.mlmodel")
        let session = MLTrainingSessionParameters(
            sessionDirectory: folder.file("session"),
            reportInterval: 1,
            checkpointInterval: 1
        )
        let job = try MLImageClassifier.train(trainingData: source, parameters: own, sessionParameters: session)
        #expect(try bytes(await job.value, "session.mlmodel") == whole)
        // Continues after the second step of training, after the first batch of pictures, and after the filters.
        for (phase, last) in [(MLPhase.training, 1), (.extractingFeatures, 2), (.extractingFeatures, 1)] {
            let restored = try MLImageClassifier.restoreTrainingSession(sessionParameters: session)
            #expect(restored.checkpoints.contains { $0.phase == phase && $0.iteration == last })
            try restored.removeCheckpoints {
                $0.phase == phase ? $0.iteration > last : $0.phase == .training
            }
            #expect(try bytes(await MLImageClassifier.resume(restored).value, "again.mlmodel") == whole)
        }
        #expect(throws: MLCreateError.self) {
            try MLImageClassifier.makeTrainingSession(
                trainingData: source,
                parameters: parameters(.custom(.init(modelPath: try ImageFixtures.custom(folder))), .noise),
                sessionParameters: session
            )
        }
    }

    @Test func `Pictures without contrast or that cannot be read are an error`() throws {
        for label in labels {
            let own = training.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let plain = Bitmap(width: 16, height: 16, layout: .rgba)
            try ImageEncoder.png(plain, isOpaque: true).write(to: own.appendingPathComponent("plain.png"))
        }
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        func failure() -> String {
            do {
                return try MLImageClassifier(trainingData: source, parameters: parameters()).description
            } catch { return "\(error)" }
        }
        #expect(failure().contains("all of one colour"))
        for label in labels { try Data().write(to: training.appendingPathComponent("\(label)/plain.png")) }
        #expect(failure().contains("none of 3 training images can be read"))
    }
}
