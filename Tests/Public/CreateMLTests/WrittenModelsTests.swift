import CoreML
import CreateML
import Foundation
import NaturalLanguage
import TabularData
import Testing

/// The folder that `Oracles/written-models/check` reads.
private let writtenFolder = ProcessInfo.processInfo.environment["COREML_WRITTEN"]

/// Models of series and text as files, with what Create ML's types answer: coremltools reads the files and must say the
/// same.
@Suite(.serialized, .enabled(if: writtenFolder != nil)) struct WrittenModelsTests {
    /// The input of a prediction: text, or numbers and their shape.
    struct Input: Encodable {
        var text: String?
        var values: [Double]?
        var shape: [Int]?
    }

    /// A prediction and the answer.
    struct Call: Encodable {
        var inputs: [String: Input]
        /// The predicted class, or the label of a term.
        var label: String?
        var probabilities: [String: Double]?
        var labels: [String]?
        var vector: [Double]?
    }

    struct Written: Encodable {
        /// In the folder, without `.mlmodel`.
        var name: String
        /// The field of the specification's message.
        var type: String
        /// Whether a prediction takes the `stateOut` of the one before as its `stateIn`.
        var streams = false
        var calls: [Call]
    }

    @Test func `Files and answers of every type`() throws {
        let folder = URL(fileURLWithPath: try #require(writtenFolder))
        let all = try [
            Self.activity(folder, "Activity", window: 20), Self.activity(folder, "ActivityNetwork", window: 8),
            Self.sound(folder, layers: false), Self.sound(folder, layers: true),
            Self.handPose(folder), Self.handAction(folder), Self.action(folder), Self.textClassifier(folder),
            Self.wordTagger(folder), Self.wordEmbedding(folder), Self.gazetteer(folder),
        ]
        #expect(all.allSatisfy { !$0.calls.isEmpty })
        try JSONEncoder().encode(all).write(to: folder.appendingPathComponent("written.json"))
    }

    private static func file(_ folder: URL, _ name: String) -> URL {
        folder.appendingPathComponent(name + ".mlmodel")
    }

    private static func probabilities(_ output: any MLFeatureProvider, _ name: String) throws -> [String: Double] {
        let value = try #require(output.featureValue(for: name))
        return Dictionary(
            uniqueKeysWithValues: value.dictionaryValue.map { ("\($0.key.base)", $0.value.doubleValue) }
        )
    }

    /// Windows of less than 9 rows are learned by the network with memory, longer ones through features.
    private static func activity(_ folder: URL, _ name: String, window size: Int) throws -> Written {
        let classifier = try MLActivityClassifier(
            trainingData: .dataFrame(SeriesData.activities(16, seed: 1)),
            featureColumns: ["x", "y"],
            labelColumn: "activity",
            recordingFileColumn: "file",
            parameters: .init(validation: .none, maximumIterations: 2, predictionWindowSize: size)
        )
        try classifier.write(to: file(folder, name))
        let test = SeriesData.activities(1, seed: 9, rows: 5 * size)
        let labels = try classifier.predictions(from: test, perWindowPrediction: true)
        var state: MLFeatureValue?
        var calls: [Call] = []
        for (window, label) in labels.enumerated() {
            var inputs: [String: Input] = [:]
            var features: [String: Any] = [:]
            for name in ["x", "y"] {
                let samples = (window * size..<(window + 1) * size).map { test[name, Double.self][$0] ?? .nan }
                inputs[name] = Input(values: samples, shape: [size])
                features[name] = try MLMultiArray(samples)
            }
            if let state { features["stateIn"] = state }
            let output = try classifier.model.prediction(from: MLDictionaryFeatureProvider(dictionary: features))
            state = output.featureValue(for: "stateOut")
            calls.append(
                Call(inputs: inputs, label: label, probabilities: try probabilities(output, "activityProbability"))
            )
        }
        return Written(name: name, type: "neuralNetworkClassifier", streams: true, calls: calls)
    }

    private static func sound(_ folder: URL, layers: Bool) throws -> Written {
        let name = layers ? "SoundLayers" : "Sound"
        let sounds = folder.appendingPathComponent(name)
        for (label, frequency) in [("hum", 220.0), ("whistle", 1900)] {
            let labelled = sounds.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: labelled, withIntermediateDirectories: true)
            for index in 0..<4 {
                let data = SeriesData.wav(
                    frequency * (1 + 0.03 * Double(index)),
                    seconds: 0.975,
                    seed: UInt64(index) + 1
                )
                try data.write(to: labelled.appendingPathComponent("\(index).wav"))
            }
        }
        let classifier = try MLSoundClassifier(
            trainingData: .labeledDirectories(at: sounds),
            parameters: .init(
                validation: .none,
                maxIterations: 1,
                algorithm: .transferLearning(
                    featureExtractor: .vggish(),
                    classifier: layers ? .multilayerPerceptron(layerSizes: [20]) : .logisticRegressor
                )
            )
        )
        try classifier.write(to: file(folder, name))
        var calls: [Call] = []
        for (index, frequency) in [240.0, 1800, 700].enumerated() {
            let url = folder.appendingPathComponent("\(name)-\(index).wav")
            let data = SeriesData.wav(frequency, seconds: 0.975, seed: 77)
            try data.write(to: url)
            let samples = stride(from: 44, to: data.count, by: 2).map {
                Double(Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)) / 32_768
            }
            let output = try classifier.model.prediction(
                from: MLDictionaryFeatureProvider(dictionary: ["audioSamples": MLMultiArray(samples.map { Float($0) })])
            )
            calls.append(
                Call(
                    inputs: ["audioSamples": Input(values: samples, shape: [samples.count])],
                    label: try classifier.predictions(from: [url])[0],
                    probabilities: try probabilities(output, "classLabelProbs")
                )
            )
        }
        return Written(name: name, type: "pipelineClassifier", calls: calls)
    }

    private static func poses(
        _ joints: Int,
        frames: Int,
        seed: UInt64,
        _ folder: URL,
        _ name: String
    ) throws -> (url: URL, values: [Double]) {
        let frame = SeriesData.poses(1, joints: joints, frames: frames, seed: seed)
        let url = folder.appendingPathComponent("\(name)-\(seed).json")
        try frame.writeJSON(to: url)
        return (url, frame["keypoints", [Double].self].flatMap { $0 ?? [] })
    }

    private static func call(_ values: [Double], _ shape: [Int], _ results: [(label: String, confidence: Double)])
        -> Call
    {
        Call(
            inputs: ["poses": Input(values: values, shape: shape)],
            label: results[0].label,
            probabilities: Dictionary(uniqueKeysWithValues: results.map { ($0.label, $0.confidence) })
        )
    }

    private static func handPose(_ folder: URL) throws -> Written {
        let classifier = try MLHandPoseClassifier(
            trainingData: .labeledKeypointsDataFrame(SeriesData.poses(40, joints: 21, frames: 1, seed: 1)),
            parameters: .init(validation: .none, maximumIterations: 2)
        )
        try classifier.write(to: file(folder, "HandPose"))
        let calls = try (UInt64(2)..<6).map { seed in
            let (url, values) = try poses(21, frames: 1, seed: seed, folder, "HandPose")
            return call(values, [1, 3, 21], try classifier.prediction(from: url))
        }
        return Written(name: "HandPose", type: "neuralNetworkClassifier", calls: calls)
    }

    private static func handAction(_ folder: URL) throws -> Written {
        let classifier = try MLHandActionClassifier(
            trainingData: .labeledKeypointsDataFrame(SeriesData.poses(10, joints: 21, frames: 20, seed: 3)),
            parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
        )
        try classifier.write(to: file(folder, "HandAction"))
        let (url, values) = try poses(21, frames: 30, seed: 5, folder, "HandAction")
        let calls = try classifier.prediction(from: url).map { result in
            let window = Array(values[result.frameRange.lowerBound * 63..<result.frameRange.upperBound * 63])
            return call(window, [20, 3, 21], result.results.map { ($0.label, $0.confidence) })
        }
        return Written(name: "HandAction", type: "neuralNetworkClassifier", calls: calls)
    }

    private static func action(_ folder: URL) throws -> Written {
        let classifier = try MLActionClassifier(
            trainingData: .labeledKeypointsDataFrame(SeriesData.poses(10, joints: 18, frames: 20, seed: 6)),
            parameters: .init(validation: .none, maximumIterations: 1, predictionWindowSize: 20)
        )
        try classifier.write(to: file(folder, "Action"))
        let (url, values) = try poses(18, frames: 30, seed: 7, folder, "Action")
        let calls = try classifier.prediction(from: url).map { result in
            let window = Array(values[result.frameRange.lowerBound * 54..<result.frameRange.upperBound * 54])
            return call(window, [20, 3, 18], result.results.map { ($0.label, $0.confidence) })
        }
        return Written(name: "Action", type: "neuralNetworkClassifier", calls: calls)
    }

    private static let texts = ["A superb film!", "What a dreadful, poor hotel", "", "lovely 👍🏽, but the End was bad"]

    private static func textClassifier(_ folder: URL) throws -> Written {
        let classifier = try MLTextClassifier(
            trainingData: MLTextClassifierTests.moods,
            parameters: .init(validation: .none, language: .english)
        )
        try classifier.write(to: file(folder, "Text"))
        let calls = try texts.map { text in
            Call(
                inputs: ["text": Input(text: text)],
                label: try classifier.prediction(from: text),
                probabilities: try classifier.predictionWithConfidence(from: text)
            )
        }
        return Written(name: "Text", type: "textClassifier", calls: calls)
    }

    private static func wordTagger(_ folder: URL) throws -> Written {
        let tagger = try MLWordTagger(
            trainingData: MLWordTaggerTests.sentences,
            parameters: .init(validation: .none, language: .english)
        )
        try tagger.write(to: file(folder, "Tagger"))
        let calls = try ["Eve visits Lima!", "Bob's niece Zoë leaves Rome.", ""].map { text in
            Call(inputs: ["text": Input(text: text)], labels: try tagger.prediction(from: text))
        }
        return Written(name: "Tagger", type: "wordTagger", calls: calls)
    }

    private static func wordEmbedding(_ folder: URL) throws -> Written {
        let embedding = try MLWordEmbedding(
            dictionary: ["cat": [1, 0.1, 3], "dog": [0.9, 0.2, -1], "Rhône": [-1, 0.5, 0.25]],
            parameters: .init(language: .english)
        )
        try embedding.write(to: file(folder, "Embedding"))
        let calls = ["cat", "Rhône", "cow"].map { word in
            Call(
                inputs: ["text": Input(text: word)],
                vector: embedding.vector(for: word) ?? [Double](repeating: 0, count: embedding.dimension)
            )
        }
        return Written(name: "Embedding", type: "wordEmbedding", calls: calls)
    }

    private static func gazetteer(_ folder: URL) throws -> Written {
        let gazetteer = try MLGazetteer(dictionary: ["city": ["Bonn", "New York"], "river": ["Rhône"]])
        try gazetteer.write(to: file(folder, "Gazetteer"))
        let calls = try ["New York", "Rhône", "Rho\u{302}ne", "bonn", ""].map { term in
            Call(inputs: ["text": Input(text: term)], label: try gazetteer.prediction(from: term))
        }
        return Written(name: "Gazetteer", type: "gazetteer", calls: calls)
    }
}
