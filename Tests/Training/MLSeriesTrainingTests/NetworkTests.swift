import Glibc
import MLKernels
import MLNumerics
import MLSeriesTraining
import MLSpecification
import Testing

private func message(_ body: () throws(ModelError) -> Void) -> String {
    do throws(ModelError) {
        try body()
        return ""
    } catch { return error.description }
}

/// Recordings of two sensors: what is done shows in how fast the first one swings; one recording may show several
/// things.
private func recordings(_ count: Int, rows: Int, seed: UInt64) -> [ActivityRecording] {
    var state = SplitMix64(seed: seed)
    func unit() -> Float { Float(state.next() >> 40) * 0x1p-24 }
    return (0..<count).map { index in
        var sensors: [[Float]] = [[], []]
        var labels: [Int] = []
        var angle = unit()
        for row in 0..<rows {
            let label = (index + row * 2 / rows) % 2
            labels.append(label)
            angle += label == 0 ? 0.12 : 0.31
            let part = angle.truncatingRemainder(dividingBy: 2)
            sensors[0].append(50 + 3 * (part < 1 ? part : 2 - part) + 0.2 * unit())
            sensors[1].append(unit())
        }
        return ActivityRecording(sensors: sensors, labels: labels)
    }
}

private func names(_ count: Int) -> [String] { (0..<count).map { "recording \($0)" } }

@Suite struct NetworkTests {
    private static func trainer(
        iterations: Int? = 3,
        batch: Int = 8,
        validation: Bool = false
    ) throws -> SequenceNetworkTrainer<ActivityNetwork> {
        let data = try ActivityData(recordings(12, rows: 95, seed: 3), names: names(12), window: 10)
        let other = try ActivityData(
            recordings(5, rows: 60, seed: 4),
            names: names(5),
            window: 10,
            standardization: data
        )
        var settings = SequenceTrainingSettings()
        settings.iterations = iterations
        settings.batchSize = batch
        settings.minimumStepCount = 6
        return try SequenceNetworkTrainer(
            ActivityNetwork(sensorCount: 2, window: 10, classCount: 2),
            settings: settings,
            steps: data.sequenceLength,
            validation: validation ? other.sequences() : nil
        ) { data.chunks(pass: $0, seed: 1) }
    }

    @Test func activitiesAreLearned() throws {
        var trainer = try Self.trainer(iterations: 20, validation: true)
        var losses: [Double] = []
        while !trainer.isFinished { losses.append(try trainer.step().loss) }
        #expect(losses.count == 20)
        #expect(losses.last ?? 1 < 0.5 * (losses.first ?? 0))
        #expect(trainer.report?.validationAccuracy ?? 0 > 0.8)
    }

    /// The same network on any number of threads, and after a pause.
    @Test func resultsDoNotDependOnThreadsOrPauses() throws {
        defer { Workers.limit(to: 0) }
        Workers.limit(to: 1)
        var first = try Self.trainer(validation: true)
        for _ in 0..<3 { try first.step() }
        Workers.limit(to: 2)
        var second = try Self.trainer(validation: true)
        try second.step()
        let saved = second.state
        var third = try Self.trainer(validation: true)
        try third.restore(saved)
        #expect(third.state == saved)
        for _ in 0..<2 { try third.step() }
        #expect(third.state == first.state)
        #expect(third.report == first.report)
        #expect(third.iteration == 3)
    }

    @Test func damagedCheckpointsAreRefused() throws {
        var trainer = try Self.trainer()
        try trainer.step()
        let saved = trainer.state
        var state = SplitMix64(seed: 1)
        for length in [0, 1, 7, 8, 9, 40, saved.count / 2, saved.count - 1] {
            var copy = trainer
            #expect(!message { () throws(ModelError) in try copy.restore(Array(saved.prefix(length))) }.isEmpty)
        }
        for _ in 0..<200 {
            var bytes = saved
            // Among the sizes and shapes at the front.
            bytes[Int(state.next() % 64)] = UInt8(truncatingIfNeeded: state.next())
            var copy = trainer
            _ = message { () throws(ModelError) in try copy.restore(bytes) }
        }
    }

    /// A sequence that is computed in one go has the logits of one that is computed in parts, with the state between.
    @Test func stateCarriesOver() throws {
        var trainer = try Self.trainer(iterations: 1)
        try trainer.step()
        let long = try ActivityData(recordings(1, rows: 420, seed: 9), names: names(1), window: 10).sequences()
        #expect(long.labels[0].count == 42)
        let whole = try trainer.logits(of: long)[0]
        // The first windows alone see the same past.
        var short = SequenceExamples(inputCount: long.inputCount)
        short.append(
            features: Array(long.features[0].prefix(25 * long.inputCount)),
            labels: Array(long.labels[0].prefix(25))
        )
        let part = try trainer.logits(of: short)[0]
        for (a, b) in zip(whole.prefix(50), part) { #expect(abs(a - b) < 1e-5) }
        // And the last ones do not, when they are alone.
        var end = SequenceExamples(inputCount: long.inputCount)
        end.append(features: Array(long.features[0].suffix(long.inputCount)), labels: [0])
        let alone = try trainer.logits(of: end)[0]
        #expect(zip(whole.suffix(2), alone).contains { abs($0 - $1) > 1e-5 })
    }

    /// Sequences of other lengths and a short mini-batch do not change what a step learns from the others.
    @Test func paddingDoesNotCount() throws {
        var examples = SequenceExamples(inputCount: 4)
        var state = SplitMix64(seed: 12)
        for index in 0..<5 {
            let steps = index == 4 ? 1 : 3
            examples.append(
                features: (0..<steps * 4).map { _ in Float(state.next() >> 40) * 0x1p-24 },
                labels: (0..<steps).map { _ in index % 2 }
            )
        }
        var padded = SequenceExamples(inputCount: 4)
        for index in 0..<5 {
            let missing = 3 - examples.labels[index].count
            padded.append(
                features: examples.features[index] + [Float](repeating: 1e3, count: missing * 4),
                labels: examples.labels[index] + [Int](repeating: -1, count: missing)
            )
        }
        func fit(_ examples: SequenceExamples) throws -> [Float] {
            var settings = SequenceTrainingSettings()
            settings.minimumStepCount = 3
            settings.batchSize = 8
            var trainer = try SequenceNetworkTrainer(
                DenseNetwork(inputCount: 4, layerSizes: [], classCount: 2),
                settings: settings,
                steps: 3
            ) { _ in examples }
            try trainer.step()
            return trainer.parameters[0].values.map { Float($0) }
        }
        #expect(try fit(examples) == fit(padded))
    }

    @Test func validationChoosesTheIteration() throws {
        // Random labels: the validation loss rises sooner or later.
        var state = SplitMix64(seed: 2)
        func examples(_ count: Int) -> SequenceExamples {
            SequenceExamples(
                features: (0..<count * 20).map { _ in Float(state.next() >> 40) * 0x1p-24 },
                labels: (0..<count).map { _ in Int(state.next() % 2) }
            )
        }
        let (own, other) = (examples(30), examples(30))
        var settings = SequenceTrainingSettings()
        settings.iterations = nil
        settings.patience = 4
        settings.learningRate = 0.02
        var trainer = try SequenceNetworkTrainer(
            DenseNetwork(inputCount: 20, layerSizes: [16], classCount: 2),
            settings: settings,
            steps: 1,
            validation: other
        ) { _ in own }
        var losses: [Double] = []
        while !trainer.isFinished { losses.append(try trainer.step().validationLoss ?? .nan) }
        let best = losses.min() ?? .nan
        #expect(losses.count == (losses.firstIndex(of: best) ?? 0) + 1 + 4)
        var loss = 0.0
        for (logits, label) in zip(try trainer.logits(of: other), other.labels) {
            let difference = Double(logits[1 - label[0]] - logits[label[0]])
            loss += log(1 + exp(difference))
        }
        #expect(abs(loss / 30 - best) < 1e-4)
    }

    @Test func unusableRecordingsAreNamed() {
        func message(
            _ recordings: [ActivityRecording],
            window: Int = 2,
            like other: ActivityData? = nil
        ) -> String {
            do throws(ModelError) {
                _ = try ActivityData(
                    recordings,
                    names: recordings.indices.map { "walk \($0)" },
                    window: window,
                    standardization: other
                )
                return ""
            } catch { return error.description }
        }
        func recording(_ sensors: [[Float]], labels: [Int]? = nil) -> ActivityRecording {
            ActivityRecording(sensors: sensors, labels: labels)
        }
        #expect(message([recording([[1, 2, 3], [4, 5, 6]])]).isEmpty)
        #expect(message([]).contains("no recordings"))
        #expect(message([recording([[1, 2], [3, 4]])], window: 0).contains("prediction window is 0"))
        #expect(message([recording([[1, 2], [3, 4]]), recording([[], []])]).contains("'walk 1' is empty"))
        #expect(message([recording([[1, 2], [3, 4]]), recording([[1, 2]])]).contains("has 1 sensors"))
        #expect(message([recording([[1, 2, 3], [3, 4]])]).contains("column 1 has 2 rows where column 0 has 3"))
        #expect(message([recording([[1, 2], [3, .nan]])]).contains("'walk 0', row 1: feature column 1 is nan"))
        #expect(message([recording([[1, 2], [3, 4]])], window: 3).isEmpty, "short recordings are filled up")
        #expect(message([recording([[1, 2], [3, 4]], labels: [0])]).contains("1 labels for 2 rows"))
    }

    /// Windows follow one another; what is left over is filled up with the last row, and counts in training from half
    /// on.
    @Test func windowsAreCut() throws {
        let rows = (0..<25).map { Float($0) }
        let recording = ActivityRecording(sensors: [rows, rows.map { -$0 }], labels: (0..<25).map { $0 < 13 ? 0 : 1 })
        let data = try ActivityData([recording], names: ["r"], window: 10)
        let whole = data.sequences()
        #expect(whole.labels == [[0, 1, 1]])
        let scale = data.scales[0]
        #expect(abs(whole.features[0][0] - (0 - 12) * scale) < 1e-6)
        #expect(abs(whole.features[0][10] - (0 + 12) * data.scales[1]) < 1e-6)
        #expect(whole.features[0][40..<45].elementsEqual((20..<25).map { (Float($0) - 12) * scale }))
        #expect(whole.features[0][45..<50].allSatisfy { $0 == (24 - 12) * scale })
        #expect(data.chunks(pass: 0, seed: 1).labels == [[0, 1, 1]])
        let starts = Set((1..<300).map { data.chunks(pass: $0, seed: 1).features[0][0] })
        #expect(starts.count == 10)
        let even = try ActivityData(
            [ActivityRecording(sensors: [Array(rows.prefix(24))], labels: [Int](repeating: 0, count: 24))],
            names: ["e"],
            window: 10
        )
        #expect(even.chunks(pass: 0, seed: 1).labels == [[0, 0]])
        #expect(even.sequences().labels == [[0, 0, 0]])
    }

    /// A recording that is shorter than a window is one, however short; it is learned from by features and by the
    /// network.
    @Test func shortRecordingsAreWindows() throws {
        let all = recordings(6, rows: 95, seed: 3) + recordings(2, rows: 3, seed: 4)
        let data = try ActivityData(all, names: names(8), window: 20)
        #expect(data.shortCount == 2)
        #expect(data.examples().count == 6 * 9 + 2)
        for pass in 0..<3 { #expect(data.chunks(pass: UInt64(pass), seed: 1).labels.suffix(2).map(\.count) == [1, 1]) }
        #expect(data.sequences().labels.suffix(2).map(\.count) == [1, 1])
        let short = try ActivityData(Array(all.suffix(2)), names: names(2), window: 20, standardization: data)
        #expect(short.shortCount == 2 && short.sequenceLength == 1)
        for window in [8, 20] {
            var problem = SeriesProblem(
                .activity(
                    training: try ActivityData(all, names: names(8), window: window),
                    validation: nil,
                    sensors: ["x", "y"]
                ),
                labels: ["a", "b"],
                names: ClassifierNames(label: "label"),
                settings: SequenceTrainingSettings()
            )
            problem.settings.iterations = 1
            problem.settings.minimumStepCount = 1
            #expect(problem.kind.shortRecordings == 2)
            var learner = try SeriesLearner(problem)
            _ = try learner.step()
            // Rows are counted, each with the class of its window.
            let found = try learner.trainingPredictions()
            #expect(found.truth == all.flatMap { $0.labels ?? [] })
            let expected = zip(try learner.trainingLogits(), all).flatMap { logits, recording in
                (0..<recording.rowCount).map { row in
                    logits[row / window * 2] > logits[row / window * 2 + 1] ? 0 : 1
                }
            }
            #expect(found.predictions == expected)
        }
    }

    @Test func whatFillsWindowsUpStandsInTheFile() throws {
        let values: [Float] = [1, 2, 3, 4, 5]
        let windows = RecordingWindows(size: 3, padding: .zeros)
        #expect(windows.samples(of: values, from: 0) == [1, 2, 3])
        #expect(windows.samples(of: values, from: 3) == [4, 5, 0])
        #expect(RecordingWindows(size: 3, padding: .lastRow).samples(of: values, from: 3) == [4, 5, 5])
        #expect(windows.count(rows: 5) == 2 && windows.count(rows: 6) == 2 && windows.count(rows: 0) == 0)
        #expect(windows.byRow(["a", "b"], rows: 5) == ["a", "a", "a", "b", "b"])
        // A file by another program says nothing, one of ours said nothing before there was the key.
        var interface = SpecModelDescription()
        #expect(try RecordingWindows.Padding(of: interface) == .zeros)
        var state = SpecFeatureDescription()
        state.name = "stateIn"
        state.shortDescription = "What the prediction before left"
        interface.input = [state]
        #expect(try RecordingWindows.Padding(of: interface) == .lastRow)
        interface.metadata.userDefined["windowFilling"] = "zeros"
        #expect(try RecordingWindows.Padding(of: interface) == .zeros)
        interface.metadata.userDefined["windowFilling"] = "lastRow"
        #expect(try RecordingWindows.Padding(of: interface) == .lastRow)
        interface.metadata.userDefined["windowFilling"] = "mean"
        #expect(throws: ModelError.self) { try RecordingWindows.Padding(of: interface) }
    }

    @Test func posesAreBroughtToOnePlaceAndSize() throws {
        // Poses that are moved and grown are the same to a learner.
        var state = SplitMix64(seed: 31)
        func unit() -> Float { Float(state.next() >> 40) * 0x1p-24 }
        var (plain, moved) = (LabeledExamples(), LabeledExamples())
        for index in 0..<30 {
            var pose = [Float](repeating: 0, count: 63)
            for joint in 0..<21 {
                pose[joint] = unit() * (index % 2 == 0 ? 1 : 0.2)
                pose[21 + joint] = unit()
                pose[42 + joint] = joint == 5 && index % 3 == 0 ? 0 : 0.5 + 0.5 * unit()
            }
            plain.append(pose, index % 2)
            for joint in 0..<21 {
                pose[joint] = pose[joint] * 3 + 10
                pose[21 + joint] = pose[21 + joint] * 3 - 4
            }
            moved.append(pose, index % 2)
        }
        var settings = SequenceTrainingSettings()
        settings.iterations = 6
        var learner = try SeriesLearner(
            SeriesProblem(
                .poses(.hand, training: plain, validation: nil),
                labels: ["fist", "palm"],
                names: ClassifierNames(label: "label"),
                settings: settings
            )
        )
        while !learner.isFinished { _ = try learner.step() }
        let (truth, predictions) = try learner.trainingPredictions()
        #expect(zip(truth, predictions).count { $0 == $1 } >= 26)
        #expect(try learner.predictions(of: moved).predictions == predictions)
        #expect(try learner.predictions(of: plain).predictions == predictions)
    }

    /// Hands with stretched and bent fingers, turned by up to half a radian either way.
    private static func hands(_ count: Int, seed: UInt64) -> LabeledExamples {
        var state = SplitMix64(seed: seed)
        func unit() -> Float { Float(state.next() >> 40) * 0x1p-24 }
        var examples = LabeledExamples()
        for index in 0..<count {
            let label = index % 8
            var pose = [Float](repeating: 0.9, count: 63)
            (pose[0], pose[21]) = (0.5, 0.3)
            let turn = unit() - 0.5
            for finger in 0..<5 {
                let isStretched = label >> (finger % 3) & 1 == 1
                let angle = turn + 0.4 * Float(finger - 2) + 0.1 * unit()
                var length = 0.15 + 0.02 * unit()
                for joint in 1 + 4 * finger..<5 + 4 * finger {
                    pose[joint] = 0.5 + length * sin(angle)
                    pose[21 + joint] = 0.3 + length * cos(angle)
                    length += (isStretched ? 0.05 : -0.02) + 0.01 * unit()
                }
            }
            examples.append(pose, label)
        }
        return examples
    }

    /// Few examples are enough, because distances of joints do not change when hands turn.
    @Test func fewPosesAreEnough() throws {
        var settings = SequenceTrainingSettings()
        settings.iterations = 20
        var learner = try SeriesLearner(
            SeriesProblem(
                .poses(.hand, training: Self.hands(32, seed: 51), validation: nil),
                labels: (0..<8).map { "\($0)" },
                names: ClassifierNames(label: "label"),
                settings: settings
            )
        )
        while !learner.isFinished { _ = try learner.step() }
        let (truth, predictions) = try learner.predictions(of: Self.hands(200, seed: 52))
        #expect(zip(truth, predictions).count { $0 == $1 } >= 196)
    }

    @Test func posesDoNotDependOnThreads() throws {
        defer { Workers.limit(to: 0) }
        func logits(threads: Int) throws -> [[Float]] {
            Workers.limit(to: threads)
            var settings = SequenceTrainingSettings()
            settings.iterations = 2
            var learner = try SeriesLearner(
                SeriesProblem(
                    .poses(.hand, training: Self.hands(80, seed: 54), validation: nil),
                    labels: (0..<8).map { "\($0)" },
                    names: ClassifierNames(label: "label"),
                    settings: settings
                )
            )
            while !learner.isFinished { _ = try learner.step() }
            return try learner.trainingLogits()
        }
        #expect(try logits(threads: 1) == logits(threads: 2))
    }

    /// The fewer examples a network is trained on, the smaller its weights.
    @Test func weightsArePenalised() throws {
        func size(of examples: Int) throws -> [Float] {
            var examplesOfPoses = SequenceExamples(inputCount: 3 * 21 + 210)
            var state = SplitMix64(seed: 53)
            for index in 0..<16 {
                let values = (0..<273).map { _ in Float(state.next() >> 40) * 0x1p-24 + Float(index % 2) * 0.1 }
                examplesOfPoses.append(features: values, labels: [index % 2])
            }
            var settings = SequenceTrainingSettings()
            settings.iterations = 6
            let data = examplesOfPoses
            var trainer = try SequenceNetworkTrainer(
                PoseNetwork(jointCount: 21, bones: Skeleton.hand.bones, classCount: 2, exampleCount: examples),
                settings: settings,
                steps: 1
            ) { _ in data }
            while !trainer.isFinished { try trainer.step() }
            return trainer.parameters.map { tensor in
                tensor.withElements(of: Float.self) { $0.reduce(0) { $0 + $1 * $1 } }
            }
        }
        let (few, many) = (try size(of: 2), try size(of: 10_000))
        for parameter in [0, 2, 4, 6] { #expect(few[parameter] < many[parameter]) }
    }

    @Test func parentsLeadToTheRoot() {
        for skeleton in Skeleton.allCases {
            let parents = skeleton.parents
            #expect(parents.count == skeleton.jointCount && parents[skeleton.root] == skeleton.root)
            for joint in 0..<skeleton.jointCount where joint != skeleton.root {
                #expect(
                    skeleton.bones.contains { $0 == (joint, parents[joint]) || $0 == (parents[joint], joint) }
                )
                var (place, steps) = (joint, 0)
                while place != skeleton.root && steps < skeleton.jointCount {
                    (place, steps) = (parents[place], steps + 1)
                }
                #expect(place == skeleton.root)
            }
        }
    }

    @Test func unusablePosesAreNamed() {
        #expect(
            message { () throws(ModelError) in _ = try PoseSequence([1, 2, 3], .hand, name: "clip") }
                .contains("clip: 3 key-point numbers")
        )
        var pose = [Float](repeating: 0, count: 54)
        pose[10] = .nan
        #expect(
            message { () throws(ModelError) in _ = try PoseSequence(pose, .body, name: "clip") }.contains(
                "clip, frame 0"
            )
        )
        #expect(
            message { () throws(ModelError) in _ = try PoseSequence([], .body, name: "clip") }.contains("0 key-point")
        )
        #expect(
            message { () throws(ModelError) in
                _ = try SeriesLearner(
                    SeriesProblem(
                        .poses(.hand, training: LabeledExamples(), validation: nil),
                        labels: ["a", "b"],
                        names: ClassifierNames(label: "label"),
                        settings: SequenceTrainingSettings()
                    )
                )
            }.contains("no examples")
        )
        #expect(
            message { () throws(ModelError) in
                _ = try SeriesLearner(
                    SeriesProblem(
                        .features(layerSizes: [], training: LabeledExamples(values: [1], labels: [0]), validation: nil),
                        labels: ["only"],
                        names: ClassifierNames(label: "label"),
                        settings: SequenceTrainingSettings()
                    )
                )
            }.contains("one class, 'only'")
        )
    }
}
