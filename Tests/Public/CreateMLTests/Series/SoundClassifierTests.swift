import CoreML
import CreateML
import Foundation
import TabularData
import Testing

@Suite struct SoundClassifierTests {
    /// A folder of hums and whistles.
    private static func sounds(_ folder: TemporaryFolder, _ name: String, count: Int, seed: UInt64) throws -> URL {
        let url = folder.file(name)
        for (label, frequency) in [("hum", 220.0), ("whistle", 1900)] {
            let labelled = url.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            for index in 0..<count {
                let data = SeriesData.wav(
                    frequency * (1 + 0.03 * Double(index % 5)),
                    seconds: index == 0 ? 2 : 0.6,
                    seed: seed + UInt64(index)
                )
                try data.write(to: labelled.appendingPathComponent("\(index).wav"))
            }
        }
        return url
    }

    @Test func `Folders of sounds give a model of samples`() throws {
        let folder = try TemporaryFolder()
        let training = try Self.sounds(folder, "training", count: 5, seed: 1)
        let testing = try Self.sounds(folder, "testing", count: 3, seed: 50)
        let classifier = try MLSoundClassifier(
            trainingData: .labeledDirectories(at: training),
            parameters: .init(validation: .dataSource(.labeledDirectories(at: testing)), maxIterations: 1)
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.validationMetrics.classificationError == 0)
        #expect(classifier.evaluation(on: .labeledDirectories(at: testing)).classificationError == 0)
        let files = try MLSoundClassifier.DataSource.labeledDirectories(at: testing).labeledSounds()
        #expect(try classifier.predictions(from: files["hum"] ?? []) == ["hum", "hum", "hum"])
        let url = folder.file("sound.mlmodel")
        try classifier.write(to: url)
        let model = try MLModel(contentsOf: url)
        #expect(model.modelDescription.inputDescriptionsByName["audioSamples"]?.multiArrayConstraint?.shape == [15_600])
        let silence = try MLMultiArray([Float](repeating: 0, count: 15_600))
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["audioSamples": silence]))
        #expect(output.featureValue(for: "classLabelProbs")?.dictionaryValue.count == 2)
    }

    @Test func `Features are extracted once`() async throws {
        let folder = try TemporaryFolder()
        let url = try Self.sounds(folder, "sounds", count: 4, seed: 7)
        let parameters = MLSoundClassifier.ModelParameters(
            validation: .none,
            maxIterations: 1,
            algorithm: .transferLearning(featureExtractor: .vggish(), classifier: .logisticRegressor)
        )
        let features = try await MLSoundClassifier.extractFeatures(
            trainingData: .labeledDirectories(at: url),
            sessionParameters: MLTrainingSessionParameters(sessionDirectory: folder.file("session"))
        ).value
        let classifier = try MLSoundClassifier(trainingData: features, parameters: parameters)
        let other = try MLSoundClassifier(trainingData: .labeledDirectories(at: url), parameters: parameters)
        guard case .featuresDataFrame(let frame, _, _, _) = features else {
            Issue.record("extraction gave something else than features")
            return
        }
        // Two seconds are three windows.
        #expect(frame.shape.rows == 2 * (3 + 3))
        try classifier.write(to: folder.file("a.mlmodel"), metadata: MLModelMetadata(author: "x"))
        try other.write(to: folder.file("b.mlmodel"), metadata: MLModelMetadata(author: "x"))
        #expect(try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("b.mlmodel")))
        #expect(classifier.evaluation(on: features).classificationError == 0)
        // Another model takes sounds alone.
        var changed = classifier
        changed.model = other.model
        let unknown = changed.evaluation(on: features)
        #expect(unknown.error.map { "\($0)".contains("the model was replaced") } ?? false)
        #expect(changed.evaluation(on: .labeledDirectories(at: url)).classificationError == 0)
        // The same in a data table.
        var spectrograms: [MLDataValue.MultiArrayType] = []
        var sounds: [String] = []
        for row in 0..<frame.shape.rows {
            let spectrogram = try #require(frame["features", MLShapedArray<Float>.self][row])
            spectrograms.append(MLDataValue.MultiArrayType(MLMultiArray(spectrogram)))
            sounds.append(try #require(frame["label", String.self][row]))
        }
        let table = try MLDataTable(dictionary: ["features": spectrograms, "sound": sounds])
        let source = MLSoundClassifier.DataSource.features(table: table, labelColumn: "sound")
        let third = try MLSoundClassifier(trainingData: source, parameters: parameters)
        try third.write(to: folder.file("c.mlmodel"), metadata: MLModelMetadata(author: "x"))
        #expect(try Data(contentsOf: folder.file("a.mlmodel")) == Data(contentsOf: folder.file("c.mlmodel")))
        #expect(classifier.evaluation(on: source).classificationError == 0)
        #expect(message { _ = try source.labeledSounds() }.contains("pass the files"))
        let metrics = classifier.evaluation(on: .features(table: table))
        #expect(metrics.error.map { "\($0)".contains("no column 'label'") } ?? false)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `Unusable sounds and parameters are named`() throws {
        let folder = try TemporaryFolder()
        let url = try Self.sounds(folder, "sounds", count: 2, seed: 9)
        func train(_ parameters: MLSoundClassifier.ModelParameters) -> String {
            message { _ = try MLSoundClassifier(trainingData: .labeledDirectories(at: url), parameters: parameters) }
        }
        #expect(train(.init(validation: .none, maxIterations: 0)).contains("maxIterations is 0"))
        #expect(train(.init(validation: .none, overlapFactor: 1)).contains("overlap factor is 1"))
        #expect(
            train(.init(validation: .none, featureExtractionTimeWindowSize: 3)).contains("takes 0.975")
        )
        let print = MLSoundClassifier.ModelParameters.ModelAlgorithmType.transferLearning(
            featureExtractor: .audioFeaturePrint(),
            classifier: .logisticRegressor
        )
        #expect(train(.init(validation: .none, algorithm: print)).contains("use .vggish"))
        let broken = url.appendingPathComponent("hum/broken.wav")
        try Data("no sound".utf8).write(to: broken)
        #expect(train(.init(validation: .none)).contains("broken.wav: the file cannot be read as sound"))
        #expect(
            message { _ = try MLSoundClassifier(trainingData: .labeledDirectories(at: folder.file("nowhere"))) }
                .contains("cannot be read as a folder")
        )
        #expect(
            message { _ = try MLSoundClassifier(trainingData: [:] as [String: [URL]]) }.contains("no sound files")
        )
    }

    @Test func `Files are shared out label by label`() throws {
        let files = Dictionary(
            uniqueKeysWithValues: ["a", "b"].map { label in
                (label, (0..<10).map { URL(fileURLWithPath: "/\(label)/\($0)") })
            }
        )
        let source = MLSoundClassifier.DataSource.filesByLabel(files)
        let parts = try source.stratifiedSplit(proportions: [0.7, 0.3], seed: 4)
        #expect(parts.map { $0.mapValues(\.count) } == [["a": 7, "b": 7], ["a": 3, "b": 3]])
        #expect(Set(parts.flatMap { $0.values.flatMap { $0 } }).count == 20)
        #expect(try source.stratifiedSplit(proportions: [0.7, 0.3], seed: 4) == parts)
        // A share may be 0, and the sum need not be 1.
        let uneven = try source.stratifiedSplit(proportions: [1, 0, 0.25], seed: 4)
        #expect(uneven.map { $0.mapValues(\.count) } == [["a": 8, "b": 8], [:], ["a": 2, "b": 2]])
        for proportions in [[], [0, 0], [0.7, 1.7], [-0.5, 0.5], [.nan, 1]] {
            #expect(throws: MLCreateError.self) { try source.stratifiedSplit(proportions: proportions, seed: 4) }
        }
    }
}
