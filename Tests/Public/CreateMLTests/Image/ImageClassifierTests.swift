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

/// Whole flows with an extractor that is made by code.
@Suite struct ImageClassifierTests {
    private let folder: TemporaryFolder
    private let training: URL
    private let testing: URL
    private let labels = ["left", "right", "top"]

    init() throws {
        folder = try TemporaryFolder()
        training = folder.file("training")
        testing = folder.file("testing")
        try ImageFixtures.write(labels, 0..<14, to: training)
        try ImageFixtures.write(labels, 50..<54, to: testing)
    }

    private func parameters(
        _ augmentation: MLImageClassifier.ImageAugmentationOptions = [],
        layers: [Int] = [],
        iterations: Int = 25
    ) throws -> MLImageClassifier.ModelParameters {
        .init(
            validation: .dataSource(.labeledDirectories(at: testing)),
            maxIterations: iterations,
            augmentation: augmentation,
            algorithm: .transferLearning(
                featureExtractor: .custom(.init(modelPath: try ImageFixtures.custom(folder))),
                classifier: layers.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: layers)
            )
        )
    }

    @Test func `Folders of pictures give one model that answers alike`() throws {
        let classifier = try MLImageClassifier(
            trainingData: .labeledDirectories(at: training),
            parameters: parameters()
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.validationMetrics.classificationError == 0)
        #expect(classifier.skippedImages.isEmpty)
        #expect(classifier.evaluation(on: .labeledDirectories(at: testing)).classificationError == 0)
        let files = try MLImageClassifier.DataSource.labeledDirectories(at: testing).labeledImages()
        #expect(try classifier.predictions(from: files["right"] ?? []) == ["right", "right", "right", "right"])
        let picture = CGImage(ImageFixtures.picture("top", 70), isOpaque: true)
        #expect(try classifier.prediction(from: picture) == "top")

        let url = folder.file("pictures.mlmodel")
        try classifier.write(to: url)
        let model = try MLModel(contentsOf: url)
        #expect(model.modelDescription.classLabels as? [String] == labels)
        #expect(model.modelDescription.predictedFeatureName == "classLabel")
        let input = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
        #expect((input.pixelsWide, input.pixelsHigh) == (16, 16))
        let value = try MLFeatureValue(
            cgImage: picture,
            constraint: input,
            options: [.cropAndScale: NSNumber(value: 0)]
        )
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
        #expect(output.featureValue(for: "classLabel")?.stringValue == "top")
        let sum = output.featureValue(for: "classLabelProbs")?.dictionaryValue.values.reduce(0) { $0 + $1.doubleValue }
        #expect(abs((sum ?? 0) - 1) < 1e-4)
    }

    /// Training is the same whether it is stopped after any step or not: the same bytes.
    @Test func `A session continues to the same bytes`() async throws {
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        let own = try parameters([.crop, .noise])
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

        for removed in [MLPhase.training, .extractingFeatures] {
            let restored = try MLImageClassifier.restoreTrainingSession(sessionParameters: session)
            let checkpoints = restored.checkpoints
            #expect(checkpoints.contains { $0.phase == .training && $0.iteration == 1 })
            #expect(checkpoints.contains { $0.phase == .extractingFeatures && $0.iteration == 1 })
            // Continues after the second step of training, then after the first batch of pictures.
            try restored.removeCheckpoints {
                removed == .training
                    ? $0.phase == .training && $0.iteration > 1 : $0.phase == .training || $0.iteration > 1
            }
            let again = try await MLImageClassifier.resume(restored).value
            #expect(try bytes(again, "again.mlmodel") == whole)
        }
        #expect(throws: MLCreateError.self) {
            try MLImageClassifier.makeTrainingSession(
                trainingData: source,
                parameters: parameters([.flip]),
                sessionParameters: session
            )
        }
    }

    @Test func `Another session takes over the features`() async throws {
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        func session(_ name: String, _ layers: [Int]) throws -> MLTrainingSession<MLImageClassifier> {
            try MLImageClassifier.makeTrainingSession(
                trainingData: source,
                parameters: parameters(layers: layers, iterations: 7),
                sessionParameters: .init(sessionDirectory: folder.file(name))
            )
        }
        let first = try session("first", [])
        _ = try await MLImageClassifier.resume(first).value
        let second = try session("second", [5])
        try second.reuseExtractedFeatures(from: first)
        #expect(second.phase == .training)
        // Without the pictures.
        try FileManager.default.moveItem(at: training, to: folder.file("elsewhere"))
        let classifier = try await MLImageClassifier.resume(second).value
        guard case .transferLearning(_, .multilayerPerceptron(let sizes)) = classifier.modelParameters.algorithm else {
            Issue.record("\(classifier.modelParameters)")
            return
        }
        #expect(sizes == [5])
        #expect(classifier.trainingMetrics.confusionDataFrame.rows.count > 0)
    }

    /// Files that are broken, empty or no pictures, and pictures with two labels, are named and left out.
    @Test func `Broken files are named and left out`() throws {
        let left = training.appendingPathComponent("left")
        let png = try ImageEncoder.png(ImageFixtures.picture("left", 90), isOpaque: true)
        try Data().write(to: left.appendingPathComponent("empty.png"))
        try Data("no picture".utf8).write(to: left.appendingPathComponent("text.jpg"))
        try png.prefix(png.count / 2).write(to: left.appendingPathComponent("half.png"))
        try png.write(to: left.appendingPathComponent("twice.png"))
        try png.write(to: training.appendingPathComponent("right/same.png"))
        let classifier = try MLImageClassifier(
            trainingData: .labeledDirectories(at: training),
            parameters: parameters()
        )
        let reasons = Dictionary(
            uniqueKeysWithValues: classifier.skippedImages.map { ($0.url.lastPathComponent, $0.reason) }
        )
        #expect(reasons.keys.sorted() == ["empty.png", "half.png", "same.png", "text.jpg", "twice.png"])
        #expect(reasons["empty.png"]?.contains("empty") == true)
        #expect(reasons["text.jpg"]?.contains("not a PNG") == true)
        #expect(reasons["twice.png"]?.contains("the same image is labelled 'right', too") == true)
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.description.contains("Skipped Images: 5"))
        let details = try classifier.evaluationDetails(on: .labeledDirectories(at: training))
        #expect(details.skipped.count == 3)
        // The picture with two labels is wrong in one of them.
        #expect(details.misclassified.map(\.url.lastPathComponent) == ["same.png"])
        #expect(details.misclassified.first?.prediction == "left")

        let broken = folder.file("broken")
        for label in ["a", "b"] {
            try FileManager.default.createDirectory(
                at: broken.appendingPathComponent(label),
                withIntermediateDirectories: true
            )
            try Data().write(to: broken.appendingPathComponent("\(label)/0.png"))
        }
        let own = MLImageClassifier.ModelParameters(
            featureExtractor: .custom(.init(modelPath: folder.file("extractor.mlmodel"))),
            validation: .none
        )
        #expect(throws: MLCreateError.self) {
            try MLImageClassifier(trainingData: .labeledDirectories(at: broken), parameters: own)
        }
        let files = ["one": [training.appendingPathComponent("left/0.png")]]
        do { _ = try MLImageClassifier(trainingData: files, parameters: own) } catch {
            #expect("\(error)".contains("one label, 'one'; a classifier needs images of at least two labels"))
        }
    }

    @Test func `An ML program with a weight file becomes part of the classifier's package`() throws {
        func classifier(_ extractor: URL) throws -> MLImageClassifier {
            try MLImageClassifier(
                trainingData: .labeledDirectories(at: training),
                parameters: .init(featureExtractor: .custom(.init(modelPath: extractor)), validation: .none)
            )
        }
        let extractor = try ImageFixtures.program(folder)
        let trained = try classifier(extractor)
        #expect(trained.trainingMetrics.classificationError == 0)
        let error = #expect(throws: MLCreateError.self) { try trained.write(to: folder.file("pictures.mlmodel")) }
        #expect("\(String(describing: error))".contains("which a .mlmodel file cannot hold; use .mlpackage"))
        let url = folder.file("Pictures.mlpackage")
        try trained.write(to: url, metadata: MLModelMetadata(author: "Ada"))
        try FileManager.default.removeItem(at: extractor)

        let model = try MLModel(contentsOf: url)
        #expect(model.modelDescription.metadata[.author] as? String == "Ada")
        let input = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
        let other = try classifier(try ImageFixtures.custom(folder))
        for (number, label) in labels.enumerated() {
            let picture = CGImage(ImageFixtures.picture(label, 70 + number), isOpaque: true)
            let value = try MLFeatureValue(
                cgImage: picture,
                constraint: input,
                options: [.cropAndScale: NSNumber(value: 0)]
            )
            let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
            #expect(answer.featureValue(for: "classLabel")?.stringValue == label)
            // The same features as those of the neural network give the same classifier.
            #expect(try other.prediction(from: picture) == label)
        }
    }

    @Test func `Dense layers learn, too`() throws {
        let classifier = try MLImageClassifier(
            trainingData: .labeledDirectories(at: training),
            parameters: parameters(layers: [16], iterations: 60)
        )
        #expect(classifier.trainingMetrics.classificationError < 0.05)
        #expect(
            classifier.evaluation(on: .labeledDirectories(at: testing)).classificationError
                == classifier.validationMetrics.classificationError
        )
    }

    @Test func `Extractors that do not fit are named`() throws {
        let url = folder.file("other.mlmodel")
        var model = ImageFixtures.extractor()
        model.description_p.input[0].type.multiArrayType.shape = [3, 16, 16]
        model.description_p.input[0].type.multiArrayType.dataType = .float32
        try ModelFile.writeModel(model, to: url.path)
        for (path, output, part) in [
            (url, nil, "not one image"), (try ImageFixtures.custom(folder), "none", "no array 'none' as an output"),
            (folder.file("absent.mlmodel"), nil, "absent.mlmodel"),
        ] as [(URL, String?, String)] {
            let own = MLImageClassifier.ModelParameters(
                featureExtractor: .custom(.init(modelPath: path, outputName: output)),
                validation: .none
            )
            do {
                _ = try MLImageClassifier(trainingData: .labeledDirectories(at: training), parameters: own)
                Issue.record("\(path) was taken")
            } catch { #expect("\(error)".contains(part), "\(error)") }
        }
    }
}

/// Extractors of the store, whose folder the environment names.
@Suite(.serialized) struct InstalledExtractorTests {
    @Test func `The network of an installed extractor becomes part of the model`() throws {
        let folder = try TemporaryFolder()
        let training = folder.file("training")
        try ImageFixtures.write(["left", "right", "top"], 0..<12, to: training)
        setenv("COREML_EXTRACTORS", folder.file("store").path, 1)
        defer { unsetenv("COREML_EXTRACTORS") }
        let source = MLImageClassifier.DataSource.labeledDirectories(at: training)
        do {
            _ = try MLImageClassifier(trainingData: source, parameters: .init(featureExtractor: .efficientNetLite0))
            Issue.record("there is no extractor")
        } catch {
            #expect("\(error)".contains("is not installed; run: coreml extractor install efficientnet-lite0"))
        }
        // A small network under the name of the large one.
        try ExtractorStore.user.install(ImageFixtures.extractor(), as: .efficientNetLite0)
        for augmentation in [MLImageClassifier.ImageAugmentationOptions.flip, []] {
            let labels = augmentation.isEmpty ? ["left", "right", "top"] : ["left", "top"]
            let files = try source.labeledImages().filter { labels.contains($0.key) }
            let classifier = try MLImageClassifier(
                trainingData: .filesByLabel(files),
                parameters: .init(validation: .none, augmentationOptions: augmentation)
            )
            #expect(classifier.trainingMetrics.classificationError == 0)
            #expect(classifier.warnings.isEmpty)
            let url = folder.file("folded.mlmodel")
            try classifier.write(to: url)
            let file = try ModelFile.open(path: url.path)
            #expect(file.specification.neuralNetworkClassifier.layers.contains { $0.name == "pool" })
            let metadata = file.specification.description_p.metadata
            #expect(metadata.userDefined["featureExtractorNotice"] == Extractor.efficientNetLite0.notice)
            #expect(metadata.license == "Apache-2.0")
            #expect(classifier.evaluation(on: .filesByLabel(files)).classificationError == 0)
            // With mirror images the answer does not depend on the side.
            let model = try MLModel(contentsOf: url)
            func answer(_ picture: Bitmap) throws -> [Double] {
                let input = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
                let value = try MLFeatureValue(cgImage: CGImage(picture, isOpaque: true), constraint: input)
                let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
                let found = try #require(output.featureValue(for: "classLabelProbs")?.dictionaryValue)
                return labels.map { found[$0]?.doubleValue ?? 0 }
            }
            let picture = ImageFixtures.picture("left", 80, width: 16, height: 16)
            let difference = zip(try answer(picture), try answer(picture.mirrored)).map { abs($0 - $1) }.max() ?? 0
            #expect(augmentation.isEmpty ? difference > 0.5 : difference < 1e-5)
        }
    }
}
