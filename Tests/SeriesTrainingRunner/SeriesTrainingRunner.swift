import Foundation
import MLAudio
import MLKernels
import MLNumerics
import MLSeriesTraining

/// Fits models of series that `scripts/series-oracles` writes, so that aeon's can be held against them.
///
/// Standard input has one JSON request a line, see `Request`; a file holds the series as 32-bit floats [series, channels,
/// length], then the class of each.  The answer is a line with the accuracy on the test series and the processor seconds of
/// fitting, those of all threads together.
@main
struct SeriesTrainingRunner {
    struct Request: Decodable {
        /// `rocket`: MiniRocket and a linear classifier by least squares.  `activity`: the network with memory, for
        /// recordings.  `sound`: files, by `sounds`.  `action`: windows of hands, [length, 3, 21] each.
        var kind: String
        var train: String
        var test: String
        var rows: Int
        var testRows: Int
        var channels: Int
        var length: Int
        var classes: Int
        var seed: UInt64
        var window: Int
        var iterations: Int?
        var layerSizes: [Int]?
        var trainSounds: [Sound]?
        var testSounds: [Sound]?
    }

    struct Sound: Decodable {
        var path: String
        var label: Int
    }

    struct Answer: Encodable {
        var accuracy: Double
        var trainingAccuracy: Double
        var seconds: Double
    }

    static func main() throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let answer =
                switch request.kind {
                case "rocket": try rocket(request)
                case "activity": try activity(request)
                case "sound": try sound(request)
                case "action": try action(request)
                default: throw ModelError(.invalidInput, "no request is of the kind '\(request.kind)'")
                }
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
        }
    }

    static func rocket(_ request: Request) throws -> Answer {
        let (values, labels) = try read(request.train, request.rows)
        let (tests, truth) = try read(request.test, request.testRows)
        let start = processorSeconds()
        let set = try SeriesSet(values: values, channelCount: request.channels, length: request.length)
        let rocket = try MiniRocket(fitting: set, seed: request.seed)
        let features = try rocket.features(of: set)
        let ridge = try RidgeClassifier(features: features, labels: labels, classCount: request.classes)
        let seconds = processorSeconds() - start
        let testSet = try SeriesSet(values: tests, channelCount: request.channels, length: request.length)
        return Answer(
            accuracy: accuracy(ridge.decisions(try rocket.features(of: testSet)), truth),
            trainingAccuracy: accuracy(ridge.decisions(features), labels),
            seconds: seconds
        )
    }

    static func activity(_ request: Request) throws -> Answer {
        func data(_ path: String, _ rows: Int, like other: ActivityData?) throws -> (ActivityData, [Int]) {
            let (values, labels) = try read(path, rows)
            let recordings = (0..<rows).map { row in
                let sensors = (0..<request.channels).map { channel -> [Float] in
                    let start = (row * request.channels + channel) * request.length
                    return Array(values[start..<start + request.length])
                }
                return ActivityRecording(
                    sensors: sensors,
                    labels: [Int](repeating: labels[row], count: request.length)
                )
            }
            let data = try ActivityData(
                recordings,
                names: (0..<rows).map { "\($0)" },
                window: request.window,
                standardization: other
            )
            return (data, labels)
        }
        let start = processorSeconds()
        let (training, _) = try data(request.train, request.rows, like: nil)
        let (testing, truth) = try data(request.test, request.testRows, like: training)
        var settings = SequenceTrainingSettings()
        settings.seed = request.seed
        settings.iterations = request.iterations
        let network = ActivityNetwork(
            sensorCount: request.channels,
            window: request.window,
            classCount: request.classes
        )
        let seed = request.seed
        var trainer = try SequenceTrainer(network, settings: settings, steps: training.sequenceLength) {
            training.chunks(pass: $0, seed: seed)
        }
        while !trainer.isDone { try trainer.iterate() }
        let seconds = processorSeconds() - start
        // What the network says at the end of a recording.
        let last = try trainer.logits(of: testing.sequences()).flatMap { $0.suffix(request.classes) }
        return Answer(
            accuracy: accuracy(last, truth),
            trainingAccuracy: trainer.report?.accuracy ?? .nan,
            seconds: seconds
        )
    }

    static func sound(_ request: Request) throws -> Answer {
        let reader = try SoundWindows(overlap: 0.5)
        func examples(_ sounds: [Sound]) throws -> LabeledExamples {
            var result = LabeledExamples()
            for sound in sounds {
                let samples = try SoundWindows.samples(ofFile: sound.path)
                let size = SoundWindows.bands * SoundWindows.frames
                let spectrograms = try reader.spectrograms(samples)
                for window in 0..<spectrograms.count / size {
                    result.append(Array(spectrograms[window * size..<(window + 1) * size]), sound.label)
                }
            }
            return result
        }
        let start = processorSeconds()
        let training = try examples(request.trainSounds ?? [])
        let testing = try examples(request.testSounds ?? [])
        return try learned(
            .sounds(layerSizes: request.layerSizes ?? [], training: training, validation: nil),
            request,
            testing,
            since: start
        )
    }

    static func action(_ request: Request) throws -> Answer {
        let (values, labels) = try read(request.train, request.rows)
        let (tests, truth) = try read(request.test, request.testRows)
        return try learned(
            .actions(
                .hand,
                frames: request.length,
                training: LabeledExamples(values: values, labels: labels),
                validation: nil
            ),
            request,
            LabeledExamples(values: tests, labels: truth),
            since: processorSeconds()
        )
    }

    /// What a learner makes of a problem, as Create ML's types use it.
    static func learned(
        _ kind: SeriesProblem.Kind,
        _ request: Request,
        _ testing: LabeledExamples,
        since start: Double
    ) throws -> Answer {
        var settings = SequenceTrainingSettings()
        settings.seed = request.seed
        settings.iterations = request.iterations
        let problem = SeriesProblem(
            kind,
            labels: (0..<request.classes).map { "\($0)" },
            names: ClassifierNames(label: "classLabel"),
            settings: settings
        )
        var learner = try SeriesLearner(problem)
        while !learner.isDone { _ = try learner.iterate() }
        let seconds = processorSeconds() - start
        let (truth, predictions) = try learner.predictions(of: testing)
        let own = try learner.trainingPredictions()
        return Answer(
            accuracy: share(truth, predictions),
            trainingAccuracy: share(own.truth, own.predictions),
            seconds: seconds
        )
    }

    static func share(_ truth: [Int], _ predictions: [Int]) -> Double {
        Double(zip(truth, predictions).count { $0 == $1 }) / Double(truth.count)
    }

    /// The part of the rows of `decisions` whose greatest is that of the class.
    static func accuracy(_ decisions: [Float], _ truth: [Int]) -> Double {
        let classes = decisions.count / truth.count
        let right = truth.indices.count { row in
            let values = Array(decisions[row * classes..<(row + 1) * classes])
            return values.indices.max { values[$0] < values[$1] } == truth[row]
        }
        return Double(right) / Double(truth.count)
    }

    /// The series, then their classes.
    static func read(_ path: String, _ rows: Int) throws -> ([Float], [Int]) {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (Array(values.dropLast(rows)), values.suffix(rows).map { Int($0) })
    }

    /// Of the process, all threads together.
    static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
