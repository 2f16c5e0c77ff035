import CoreML
import Foundation
import ImageIO
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import TestSupport
import Testing

import CreateML

/// Whole flows with an installed extractor whose last blocks learn from the training pictures.
@Suite struct FineTuningTests {
    private let folder: TemporaryFolder
    private let training: URL
    private let store: ExtractorStore
    private let labels = ["left", "right", "top"]

    init() throws {
        folder = try TemporaryFolder()
        training = folder.file("training")
        try ImageFixtures.write(labels, 0..<14, to: training)
        store = ExtractorStore(folder: folder.file("store").path)
        try store.install(BlockNetwork.specification(), as: .efficientNetLite0)
    }

    private func parameters(_ blocks: Int) -> MLImageClassifier.ModelParameters {
        .init(
            featureExtractor: .efficientNetLite0(fineTunedBlocks: blocks),
            validation: .none,
            maxIterations: 6,
            augmentationOptions: .exposure
        )
    }

    private var source: MLImageClassifier.DataSource { .labeledDirectories(at: training) }

    @Test func `The network that was fine-tuned becomes part of the model`() throws {
        try ExtractorStore.$replacement.withValue(store) {
            let classifier = try MLImageClassifier(trainingData: source, parameters: parameters(1))
            #expect(classifier.trainingMetrics.classificationError == 0)
            #expect("\(classifier.modelParameters)".contains("efficientnet-lite0, fine-tuned: 1"))
            let url = folder.file("Tuned.mlmodel")
            try classifier.write(to: url)
            let file = try ModelFile.open(path: url.path)
            let metadata = file.specification.description_p.metadata.userDefined
            #expect(metadata["featureExtractorFineTunedBlocks"] == "1")
            #expect(metadata["featureExtractorNotice"] == Extractor.efficientNetLite0.notice)
            func weights(_ layers: [SpecNeuralNetworkLayer], _ name: String) -> [UInt8] {
                layers.first { $0.name == name }?.convolution.weights.float16Bytes.map { Array($0.buffer) } ?? []
            }
            let before = BlockNetwork.specification().neuralNetwork.layers
            let after = file.specification.neuralNetworkClassifier.layers
            for name in ["stem", "block1.output", "block2.expand", "head"] {
                #expect(!weights(before, name).isEmpty)
                let changed = weights(before, name) != weights(after, name)
                #expect(changed == ["block2.expand", "head"].contains(name), "\(name)")
            }
            // The model answers as the training did.
            let model = try MLModel(contentsOf: url)
            let files = try source.labeledImages().flatMap { label, urls in urls.map { (label: label, path: $0.path) } }
            let evaluation = try ImageEvaluation(of: model, files, labels: labels)
            #expect(evaluation.metrics.classificationError == 0)
        }
    }

    /// Training is the same whether it is stopped after any step or not: the same bytes.
    @Test func `A session continues to the same bytes`() async throws {
        try await ExtractorStore.$replacement.withValue(store) {
            func bytes(_ classifier: MLImageClassifier, _ name: String) throws -> Data {
                try classifier.write(to: folder.file(name), metadata: MLModelMetadata(author: "test"))
                return try Data(contentsOf: folder.file(name))
            }
            let whole = try bytes(MLImageClassifier(trainingData: source, parameters: parameters(2)), "whole.mlmodel")
            let session = MLTrainingSessionParameters(
                sessionDirectory: folder.file("session"),
                reportInterval: 1,
                checkpointInterval: 1
            )
            let job = try MLImageClassifier.train(
                trainingData: source,
                parameters: parameters(2),
                sessionParameters: session
            )
            #expect(try bytes(await job.value, "session.mlmodel") == whole)
            // Continues while features are extracted, after some passes, and before the first one.
            let last = try MLImageClassifier.restoreTrainingSession(sessionParameters: session).checkpoints
                .filter { $0.phase == .extractingFeatures }.map(\.iteration).max()
            for iteration in [try #require(last) - 1, 5, 1] {
                let restored = try MLImageClassifier.restoreTrainingSession(sessionParameters: session)
                try restored.removeCheckpoints { $0.phase == .training || $0.iteration > iteration }
                let again = try await MLImageClassifier.resume(restored).value
                #expect(try bytes(again, "again.mlmodel") == whole)
            }
            #expect(throws: MLCreateError.self) {
                try MLImageClassifier.makeTrainingSession(
                    trainingData: source,
                    parameters: parameters(1),
                    sessionParameters: session
                )
            }
        }
    }

    @Test func `What cannot be fine-tuned is named`() throws {
        func message(_ blocks: Int) -> String {
            do {
                _ = try MLImageClassifier(trainingData: source, parameters: parameters(blocks))
                return "taken"
            } catch { return "\(error)" }
        }
        ExtractorStore.$replacement.withValue(store) {
            #expect(message(0).contains("0 blocks of efficientnet-lite0 cannot be fine-tuned"))
            #expect(message(9).contains("it has 3, of which 1 to 2 can be"))
        }
        ExtractorStore.$replacement.withValue(ExtractorStore(folder: folder.file("empty").path)) {
            #expect(message(1).contains("run: coreml extractor install efficientnet-lite0"))
        }
    }

    /// Broken pictures are named, as without fine-tuning, and nothing is learned where one label is left.
    @Test func `Broken pictures are named`() throws {
        try Data("no picture".utf8).write(to: training.appendingPathComponent("top/broken.png"))
        try ExtractorStore.$replacement.withValue(store) {
            let classifier = try MLImageClassifier(trainingData: source, parameters: parameters(1))
            #expect(classifier.skippedImages.map(\.url.lastPathComponent) == ["broken.png"])
            let one = folder.file("one")
            try ImageFixtures.write(["left"], 0..<4, to: one)
            try FileManager.default.createDirectory(
                at: one.appendingPathComponent("right"),
                withIntermediateDirectories: true
            )
            try Data("no picture".utf8).write(to: one.appendingPathComponent("right/broken.png"))
            do {
                _ = try MLImageClassifier(trainingData: .labeledDirectories(at: one), parameters: parameters(1))
                Issue.record("one label was taken")
            } catch { #expect("\(error)".contains("fewer than two labels are left"), "\(error)") }
        }
    }
}
