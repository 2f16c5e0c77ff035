import Glibc
import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSeriesTraining
import MLSpecification
import Testing

/// The files must agree with the training.
@Suite struct ExportTests {
    private var state = SplitMix64(seed: 77)

    private static func engine(_ model: SpecModel) throws -> any ModelEngine {
        try EngineLoader.load(ModelFile(specification: model))
    }

    private static func softmax(_ logits: ArraySlice<Float>) -> [Double] {
        let greatest = Double(logits.max() ?? 0)
        let powers = logits.map { exp(Double($0) - greatest) }
        let sum = powers.reduce(0, +)
        return powers.map { $0 / sum }
    }

    /// The probabilities in the order of `labels`.
    private static func probabilities(
        _ outputs: [String: FeatureData],
        _ name: String,
        _ labels: [String]
    ) throws -> [Double] {
        guard case .dictionary(.strings(let values))? = outputs[name] else {
            Issue.record("no probabilities called \(name)")
            return []
        }
        return labels.map { values[$0] ?? .nan }
    }

    private mutating func unit() -> Float { Float(state.next() >> 40) * 0x1p-24 }

    private static func learned(_ problem: SeriesProblem, iterations: Int = 2) throws -> SeriesLearner {
        var problem = problem
        problem.settings.iterations = iterations
        problem.settings.minimumStepCount = 4
        var learner = try SeriesLearner(problem)
        while !learner.isFinished { _ = try learner.step() }
        return learner
    }

    /// Window by window with the state in between, the file gives what the network gives for the whole recording.
    ///
    /// Windows of 8 rows are too short for features: the network with memory learns them.
    @Test(arguments: [(window: 8, version: 1, state: 400), (12, 4, 3)])
    mutating func activities(window: Int, version: Int32, state width: Int) throws {
        var recordings: [ActivityRecording] = []
        for index in 0..<6 {
            var sensors: [[Float]] = [[], [], []]
            for row in 0..<73 {
                for sensor in 0..<3 {
                    sensors[sensor].append(unit() * Float(index % 2 + 1) + Float(row % 7 * sensor) + 5)
                }
            }
            recordings.append(ActivityRecording(sensors: sensors, labels: [Int](repeating: index % 3, count: 73)))
        }
        let data = try ActivityData(recordings, names: recordings.indices.map { "\($0)" }, window: window)
        let labels = ["rest", "run", "walk"]
        let learner = try Self.learned(
            SeriesProblem(
                .activity(training: data, validation: nil, sensors: ["x", "y", "z"]),
                labels: labels,
                names: ClassifierNames(label: "activity"),
                settings: SequenceTrainingSettings()
            )
        )
        let model = try learner.specification()
        #expect(model.specificationVersion == version)
        #expect(model.description_p.metadata.userDefined["windowFilling"] == "lastRow")
        #expect(model.description_p.input.map(\.name) == ["x", "y", "z", "stateIn"])
        #expect(model.description_p.output.map(\.name) == ["activityProbability", "activity", "stateOut"])
        #expect(model.description_p.input[3].type.multiArrayType.shape == [Int64(width)])
        let engine = try Self.engine(model)
        for (recording, logits) in zip(recordings, try learner.trainingLogits()) {
            var past = Tensor(uninitialized: .float64, shape: [width], zeroed: true)
            #expect(logits.count == 3 * ((73 + window - 1) / window))
            for step in 0..<logits.count / 3 {
                var inputs: [String: FeatureData] = ["stateIn": .tensor(past)]
                for (name, values) in zip(["x", "y", "z"], recording.sensors) {
                    let rows = (step * window..<(step + 1) * window).map { Double(values[min($0, 72)]) }
                    inputs[name] = .tensor(Tensor(values: rows, scalarType: .float64, shape: [window]))
                }
                let outputs = try engine.prediction(from: inputs)
                let given = try Self.probabilities(outputs, "activityProbability", labels)
                for (a, b) in zip(given, Self.softmax(logits[step * 3..<step * 3 + 3])) {
                    #expect(abs(a - b) < 2e-5)
                }
                guard case .tensor(let next)? = outputs["stateOut"] else {
                    Issue.record("no stateOut")
                    return
                }
                past = next
            }
        }
    }

    /// One sensor needs no joining; without a state a stream begins.
    @Test(arguments: [5, 10]) mutating func activityOfOneSensor(window: Int) throws {
        var recordings: [ActivityRecording] = []
        for index in 0..<4 {
            let values = (0..<20).map { _ in unit() + Float(index % 2) }
            recordings.append(ActivityRecording(sensors: [values], labels: [Int](repeating: index % 2, count: 20)))
        }
        let data = try ActivityData(recordings, names: ["a", "b", "c", "d"], window: window)
        let learner = try Self.learned(
            SeriesProblem(
                .activity(training: data, validation: nil, sensors: ["x"]),
                labels: ["a", "b"],
                names: ClassifierNames(label: "label"),
                settings: SequenceTrainingSettings()
            )
        )
        let engine = try Self.engine(learner.specification())
        let rows = recordings[1].sensors[0].prefix(window).map { Double($0) }
        let outputs = try engine.prediction(
            from: ["x": .tensor(Tensor(values: rows, scalarType: .float64, shape: [window]))]
        )
        let given = try Self.probabilities(outputs, "labelProbability", ["a", "b"])
        let expected = Self.softmax(try learner.trainingLogits()[1][0..<2])
        for (a, b) in zip(given, expected) { #expect(abs(a - b) < 2e-5) }
    }

    @Test mutating func poses() throws {
        var examples = LabeledExamples()
        for index in 0..<24 {
            var pose = (0..<63).map { _ in unit() }
            // Joints that were not seen, once the wrist, too.
            for joint in [0, 7, 20] where index % 5 == 0 { pose[42 + joint] = 0 }
            examples.append(pose, index % 2)
        }
        let learner = try Self.learned(
            SeriesProblem(
                .poses(.hand, training: examples, validation: nil),
                labels: ["fist", "palm"],
                names: ClassifierNames(label: "label", probabilities: "labelProbabilities"),
                settings: SequenceTrainingSettings()
            )
        )
        let model = try learner.specification()
        #expect(model.description_p.input.map(\.name) == ["poses"])
        #expect(model.description_p.input[0].type.multiArrayType.shape == [1, 3, 21])
        let engine = try Self.engine(model)
        for (index, logits) in try learner.trainingLogits().enumerated() {
            let pose = Tensor(Array(examples.values[index * 63..<index * 63 + 63]), shape: [1, 3, 21])
            let given = try Self.probabilities(
                engine.prediction(from: ["poses": .tensor(pose)]),
                "labelProbabilities",
                ["fist", "palm"]
            )
            for (a, b) in zip(given, Self.softmax(logits[...])) { #expect(abs(a - b) < 2e-5) }
        }
    }

    @Test(arguments: [Skeleton.hand, .body])
    mutating func actions(skeleton: Skeleton) throws {
        let (frames, joints) = (20, skeleton.jointCount)
        var examples = LabeledExamples()
        for index in 0..<10 {
            var window: [Float] = []
            for frame in 0..<frames {
                for channel in 0..<3 * joints {
                    let swing = Float((frame * (index % 2 + 1)) % 5) * 0.1
                    window.append(channel < 2 * joints ? swing + 0.2 * unit() : (unit() < 0.1 ? 0 : 1))
                }
            }
            examples.append(window, index % 2)
        }
        let learner = try Self.learned(
            SeriesProblem(
                .actions(skeleton, frames: frames, training: examples, validation: nil),
                labels: ["clap", "wave"],
                names: ClassifierNames(label: "label", probabilities: "labelProbabilities"),
                settings: SequenceTrainingSettings()
            )
        )
        let (truth, predictions) = try learner.trainingPredictions()
        #expect(truth == predictions)
        let engine = try Self.engine(learner.specification())
        let size = frames * 3 * joints
        for (index, logits) in try learner.trainingLogits().enumerated() {
            let window = Tensor(Array(examples.values[index * size..<(index + 1) * size]), shape: [frames, 3, joints])
            let given = try Self.probabilities(
                engine.prediction(from: ["poses": .tensor(window)]),
                "labelProbabilities",
                ["clap", "wave"]
            )
            // Sums that equal a bias but for rounding may count on one side only.
            for (a, b) in zip(given, Self.softmax(logits[...])) { #expect(abs(a - b) < 5e-3) }
        }
    }

    @Test(arguments: [[], [16]])
    mutating func sounds(layerSizes: [Int]) throws {
        let reader = try SoundWindows(overlap: 0.5)
        var sounds: [[Float]] = []
        var examples = LabeledExamples()
        for index in 0..<8 {
            let frequency = Float(index % 2 == 0 ? 0.05 : 0.09) * (1 + 0.1 * unit())
            // The last one is longer than a window: three windows.
            let count = index == 7 ? 31_200 : 15_600 - 400 * index
            let sound = (0..<count).map { sample -> Float in
                let part = (Float(sample) * frequency).truncatingRemainder(dividingBy: 2)
                return (part < 1 ? part : 2 - part) * 0.5 - 0.25 + 0.05 * unit()
            }
            let spectrograms = try reader.spectrograms(sound)
            for (place, window) in reader.windows(sound).enumerated() {
                sounds.append(window)
                examples.append(Array(spectrograms[place * 6144..<(place + 1) * 6144]), index % 2)
            }
        }
        #expect(sounds.count == 7 + 3)
        #expect(sounds.allSatisfy { $0.count == 15_600 })
        let learner = try Self.learned(
            SeriesProblem(
                .sounds(layerSizes: layerSizes, training: examples, validation: nil),
                labels: ["hum", "whistle"],
                names: ClassifierNames(label: "classLabel", probabilities: "classLabelProbs"),
                settings: SequenceTrainingSettings()
            )
        )
        let model = try learner.specification()
        #expect(model.pipelineClassifier.pipeline.models.count == 3)
        #expect(model.description_p.input[0].type.multiArrayType.shape == [15_600])
        #expect(model.description_p.metadata.userDefined["sampleRate"] == "16000")
        let engine = try Self.engine(model)
        for (sound, logits) in zip(sounds, try learner.trainingLogits()) {
            let given = try Self.probabilities(
                engine.prediction(from: ["audioSamples": .tensor(Tensor(sound, shape: [15_600]))]),
                "classLabelProbs",
                ["hum", "whistle"]
            )
            for (a, b) in zip(given, Self.softmax(logits[...])) { #expect(abs(a - b) < 5e-3) }
        }
        guard layerSizes.isEmpty else { return }
        let (truth, predictions) = try learner.trainingPredictions()
        #expect(truth == predictions)
    }

    @Test func windowsOfSounds() throws {
        let reader = try SoundWindows(overlap: 0.5)
        #expect(reader.starts(100) == [0])
        #expect(reader.starts(15_600) == [0])
        #expect(reader.starts(23_400) == [0, 7800])
        #expect(reader.starts(31_199) == [0, 7800])
        for overlap in [-0.1, 1, .nan] {
            #expect(throws: ModelError.self) { try SoundWindows(overlap: overlap) }
        }
    }
}
