import CoreML
import CreateML
import Foundation
import MLExtractors
import MLFiles
import MLSpecification
import TabularData
import Testing

/// Sound classifiers on the features of the caller's own models.
@Suite struct SoundExtractorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Hums and whistles of 1.2 s, in a folder for each label.
    private func sounds(_ name: String, count: Int, seed: UInt64) throws -> URL {
        let url = folder.file(name)
        for (label, frequency) in [("hum", 220.0), ("whistle", 1900)] {
            let labelled = url.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            for index in 0..<count {
                let pitch = frequency * (1 + 0.03 * Double(index % 5))
                try SeriesData.wav(pitch, seconds: 1.2, seed: seed + UInt64(index))
                    .write(to: labelled.appendingPathComponent("\(index).wav"))
            }
        }
        return url
    }

    /// The text of a program whose features are the mean magnitudes of samples and of their differences.
    private static func ofSamples(_ input: String, _ count: Int) -> String {
        """
        program(1.0) {
          func main<ios15>(tensor<fp32, [1, \(count)]> \(input)) {
            tensor<int32, [2]> start = const()[val = tensor<int32, [2]>([0, 0])];
            tensor<int32, [2]> second = const()[val = tensor<int32, [2]>([0, 1])];
            tensor<int32, [2]> last = const()[val = tensor<int32, [2]>([1, \(count - 1)])];
            tensor<int32, [2]> end = const()[val = tensor<int32, [2]>([1, \(count)])];
            tensor<int32, [1]> axes = const()[val = tensor<int32, [1]>([1])];
            int32 axis = const()[val = int32(1)];
            bool yes = const()[val = bool(true)];
            bool no = const()[val = bool(false)];
            tensor<fp32, [1, \(count - 1)]> early = slice_by_index(begin = start, end = last, x = \(input));
            tensor<fp32, [1, \(count - 1)]> late = slice_by_index(begin = second, end = end, x = \(input));
            tensor<fp32, [1, \(count - 1)]> change = sub(x = late, y = early);
            tensor<fp32, [1, \(count - 1)]> changes = abs(x = change);
            tensor<fp32, [1, \(count - 1)]> sizes = abs(x = early);
            tensor<fp32, [1, 1]> speed = reduce_mean(axes = axes, keep_dims = yes, x = changes);
            tensor<fp32, [1, 1]> size = reduce_mean(axes = axes, keep_dims = yes, x = sizes);
            tensor<fp32, [1, 2]> features = concat(axis = axis, interleave = no, values = (speed, size));
          } -> (features, speed);
        }
        """
    }

    /// The text of a program whose features are the mean bands of a spectrogram.
    private static let ofSpectrograms = """
        program(1.0) {
          func main<ios15>(tensor<fp32, [1, 1, 96, 64]> melSpectrogram) {
            tensor<int32, [1]> axes = const()[val = tensor<int32, [1]>([2])];
            bool no = const()[val = bool(false)];
            tensor<fp32, [1, 1, 64]> features = reduce_mean(axes = axes, keep_dims = no, x = melSpectrogram);
          } -> (features);
        }
        """

    private func write(_ text: String, _ input: SpecFeatureDescription, _ outputs: [(String, [Int])]) throws -> URL {
        var model = SpecModel()
        model.mlProgram = try MILParser.program(Array(text.utf8))
        model.description_p.input = [input]
        model.description_p.output = outputs.map { .floats($0.0, $0.1, "Features.") }
        model.specificationVersion = SpecificationVersion.minimum(model)
        let url = folder.file("extractor-\(input.name).mlmodel")
        try ModelFile.writeModel(model, to: url.path)
        return url
    }

    private func extractor(_ input: String, samples: Int) throws -> MLSoundClassifier.CustomFeatureExtractor {
        let url = try write(
            Self.ofSamples(input, samples),
            .floats(input, [1, samples], "Sound."),
            [("features", [1, 2]), ("speed", [1, 1])]
        )
        return .init(modelPath: url, outputName: "features")
    }

    private func spectrogramExtractor() throws -> MLSoundClassifier.CustomFeatureExtractor {
        .init(
            modelPath: try write(
                Self.ofSpectrograms,
                .floats("melSpectrogram", [1, 1, 96, 64], "A spectrogram."),
                [("features", [1, 1, 64])]
            )
        )
    }

    private func parameters(
        _ extractor: MLSoundClassifier.CustomFeatureExtractor,
        layers: [Int] = [],
        iterations: Int = 3
    ) -> MLSoundClassifier.ModelParameters {
        var parameters = MLSoundClassifier.ModelParameters(
            validation: .none,
            maxIterations: iterations,
            algorithm: .transferLearning(
                featureExtractor: .vggish(),
                classifier: layers.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: layers)
            )
        )
        parameters.customFeatureExtractor = extractor
        return parameters
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test(arguments: ["sound", "audioSamples", "melSpectrogram"])
    func `The model contains the extractor and answers alike`(input: String) async throws {
        let (extractor, samples) =
            switch input {
            case "sound": (try extractor(input, samples: 8_000), 8_000)
            case "audioSamples": (try extractor(input, samples: 15_600), 15_600)
            default: (try spectrogramExtractor(), 15_600)
            }
        let training = try sounds("training", count: 5, seed: 1)
        let testing = try sounds("testing", count: 3, seed: 50)
        let classifier = try MLSoundClassifier(
            trainingData: .labeledDirectories(at: training),
            parameters: parameters(extractor)
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.evaluation(on: .labeledDirectories(at: testing)).classificationError == 0)
        let files = try MLSoundClassifier.DataSource.labeledDirectories(at: testing).labeledSounds()
        #expect(try classifier.predictions(from: files["whistle"] ?? []) == ["whistle", "whistle", "whistle"])
        #expect(classifier.description.contains("Custom model \(extractor.modelPath.path)"))

        // The same from features that were extracted before.
        var extraction = MLSoundClassifier.FeatureExtractionParameters()
        extraction.customFeatureExtractor = extractor
        let features = try await MLSoundClassifier.extractFeatures(
            trainingData: .labeledDirectories(at: training),
            parameters: extraction,
            sessionParameters: MLTrainingSessionParameters(sessionDirectory: folder.file("features"))
        ).value
        // With half a window of overlap 1.2 s are 3 windows of 0.5 s, and one of 0.975 s.
        guard case .featuresDataFrame(let frame, _, _, _) = features else {
            Issue.record("extraction gave something else than features")
            return
        }
        #expect(frame.shape.rows == 10 * (samples == 8_000 ? 3 : 1))
        let other = try MLSoundClassifier(trainingData: features, parameters: parameters(extractor))
        #expect(classifier.evaluation(on: features).classificationError == 0)
        try classifier.write(to: folder.file("a.mlmodel"), metadata: MLModelMetadata(author: "x"))
        try other.write(to: folder.file("b.mlmodel"), metadata: MLModelMetadata(author: "x"))
        // The windows of a file choose the penalty together; those of a table stand alone.
        let areEqual = try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("b.mlmodel"))
        #expect(areEqual == (samples == 15_600))

        // The file needs the extractor's no more.
        try FileManager.default.removeItem(at: extractor.modelPath)
        let model = try MLModel(contentsOf: folder.file("a.mlmodel"))
        let constraint = try #require(
            model.modelDescription.inputDescriptionsByName["audioSamples"]?.multiArrayConstraint
        )
        #expect(constraint.shape.map(\.intValue).reduce(1, *) == samples)
        var loaded = classifier
        loaded.model = model
        #expect(loaded.evaluation(on: .labeledDirectories(at: testing)).classificationError == 0)
    }

    @Test func `A session resumes with the extractor`() async throws {
        let extractor = try extractor("sound", samples: 8_000)
        let source = MLSoundClassifier.DataSource.labeledDirectories(at: try sounds("training", count: 3, seed: 1))
        let session = MLTrainingSessionParameters(
            sessionDirectory: folder.file("session"),
            reportInterval: 1,
            checkpointInterval: 1,
            iterations: 2
        )
        let first = parameters(extractor, layers: [4], iterations: 2)
        _ = try await MLSoundClassifier.train(trainingData: source, parameters: first, sessionParameters: session).value
        let restored = try MLSoundClassifier.restoreTrainingSession(sessionParameters: session)
        let checkpoint = try #require(restored.checkpoints.last)
        let early = try MLSoundClassifier(checkpoint: checkpoint)
        #expect(early.modelParameters.customFeatureExtractor == extractor)
        let longer = parameters(extractor, layers: [4], iterations: 4)
        let resumed = try await MLSoundClassifier.train(
            trainingData: source,
            parameters: longer,
            sessionParameters: MLTrainingSessionParameters(
                sessionDirectory: folder.file("session"),
                reportInterval: 1,
                checkpointInterval: 1,
                iterations: 4
            )
        ).value
        let whole = try MLSoundClassifier(trainingData: source, parameters: longer)
        try resumed.write(to: folder.file("a.mlmodel"), metadata: MLModelMetadata(author: "x"))
        try whole.write(to: folder.file("b.mlmodel"), metadata: MLModelMetadata(author: "x"))
        #expect(try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("b.mlmodel")))
    }

    @Test func `Models that cannot extract features are named`() throws {
        let source = MLSoundClassifier.DataSource.labeledDirectories(at: try sounds("training", count: 2, seed: 1))
        func train(_ extractor: MLSoundClassifier.CustomFeatureExtractor) -> String {
            message { _ = try MLSoundClassifier(trainingData: source, parameters: parameters(extractor)) }
        }
        let missing = folder.file("none.mlmodel")
        #expect(train(.init(modelPath: missing)).contains(missing.path))
        var fit = try extractor("sound", samples: 8_000)
        fit.outputName = nil
        #expect(train(fit).contains("it has 2 arrays as outputs; name one: features, speed"))
        fit.outputName = "loudness"
        #expect(train(fit).contains("it has no array 'loudness' as an output; it has features, speed"))
        let square = try write(
            Self.ofSpectrograms.replacing("[1, 1, 96, 64]", with: "[1, 1, 64, 96]").replacing("64]> f", with: "96]> f"),
            .floats("melSpectrogram", [1, 1, 64, 96], "A spectrogram."),
            [("features", [1, 1, 96])]
        )
        #expect(train(.init(modelPath: square)).contains("its input has the shape [1, 1, 64, 96]"))
        let spectrograms = try spectrogramExtractor()
        var longer = parameters(spectrograms)
        longer.featureExtractionTimeWindowSize = 3
        #expect(
            message { _ = try MLSoundClassifier(trainingData: source, parameters: longer) }.contains("takes 0.975")
        )
        let frame = DataFrame(columns: [
            Column<[Float]>(name: "features", contents: [[1, 2], [3, 4]]).eraseToAnyColumn(),
            Column<String>(name: "label", contents: ["hum", "whistle"]).eraseToAnyColumn(),
        ])
        let others = message {
            _ = try MLSoundClassifier(
                trainingData: .featuresDataFrame(frame),
                parameters: parameters(spectrograms)
            )
        }
        #expect(others.contains("use the same extractor"), "\(others)")
    }
}
