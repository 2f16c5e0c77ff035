import CoreML
import Foundation
import MLNumerics
import MLSeriesTraining
import MLTrainingCore

/// The training of a classifier of time series; a step is an iteration of its learner.
///
/// Examples are kept with the session, so that it can be resumed without the files that they were read from. Features
/// and the initial linear classifier are computed in the first iteration.
struct SeriesRun<Product: SeriesTask>: TrainingRun {
    static var taskName: String { Product.taskName }

    private var problem: SeriesProblem
    private var options: SeriesOptions
    let fingerprint: UInt64
    private var learner: SeriesLearner?

    init(_ problem: SeriesProblem, _ options: SeriesOptions) throws {
        self.problem = problem
        self.options = options
        fingerprint = try Self.fingerprint(problem)
        // Checked before a session begins, so that unusable data start none.
        try MLCreateError.translating { try problem.checkLabels() }
    }

    init(data: [UInt8]) throws {
        (problem, options) = try SeriesArchive.read(data)
        fingerprint = try Self.fingerprint(problem)
    }

    /// The fingerprint of the examples; a session may be resumed with another number of iterations.
    private static func fingerprint(_ problem: SeriesProblem) throws -> UInt64 {
        var problem = problem
        problem.settings = SequenceTrainingSettings()
        return Fingerprint.of(try SeriesArchive.write(problem, SeriesOptions()), .wideProduct)
    }

    var parameters: [SessionParameter] {
        [
            SessionParameter("batchSize", problem.settings.batchSize),
            SessionParameter("predictionWindowSize", options.window.map { "\($0)" } ?? "none"),
            SessionParameter("layerSizes", options.layerSizes.map { "\($0)" } ?? "none"),
        ]
    }

    var phase: MLPhase { .training }
    var iteration: Int { learner?.iteration ?? 0 }
    var plan: [PlannedPhase] {
        [PlannedPhase(.training, problem.settings.iterations ?? SequenceTrainingSettings.iterationLimit)]
    }
    var isFinished: Bool { learner?.isFinished ?? false }

    /// The learner, made on first use.
    private mutating func current() throws -> SeriesLearner {
        if let learner { return learner }
        let created = try MLCreateError.translating { try SeriesLearner(problem) }
        learner = created
        return created
    }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        var next = try current()
        try cancellation.check()
        return try MLCreateError.translating {
            let report = try next.step()
            learner = next
            var metrics: [MLProgress.Metric: Double] = [.loss: report.loss, .accuracy: report.accuracy]
            if let loss = report.validationLoss { metrics[.validationLoss] = loss }
            if let accuracy = report.validationAccuracy { metrics[.validationAccuracy] = accuracy }
            return metrics
        }
    }

    mutating func finish() throws -> Product {
        let learner = try current()
        return try MLCreateError.translating {
            let task = try TaskModel(Product.file(learner.specification(), options))
            let own = try learner.trainingPredictions()
            let other = try learner.validationPredictions() ?? ([], [])
            return Product(
                SeriesOutcome(
                    task: task,
                    training: MLClassifierMetrics(
                        ConfusionCounts(strings: problem.labels, truth: own.truth, predictions: own.predictions)
                    ),
                    validation: MLClassifierMetrics(
                        ConfusionCounts(strings: problem.labels, truth: other.truth, predictions: other.predictions)
                    ),
                    options: options,
                    labels: problem.labels,
                    shortRecordings: problem.kind.shortRecordings
                )
            )
        }
    }

    mutating func takeLimits(of other: SeriesRun) {
        problem.settings.iterations = other.problem.settings.iterations
        options.iterations = other.options.iterations
        learner?.limit(iterations: problem.settings.iterations)
    }

    func encodedData() throws -> [UInt8] { try SeriesArchive.write(problem, options) }

    func encodedState() throws -> [UInt8] { try learner?.state ?? [] }

    mutating func restore(state: [UInt8]) throws {
        guard !state.isEmpty else {
            learner = nil
            return
        }
        var learner = try current()
        try MLCreateError.translating { try learner.restore(state) }
        self.learner = learner
    }
}

/// The data of a session as bytes.
enum SeriesArchive {
    private static let version = 1

    static func write(_ problem: SeriesProblem, _ options: SeriesOptions) throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(version))
        writer.write(String(decoding: try JSONEncoder.sorted.encode(options), as: UTF8.self))
        writer.write(problem.labels)
        writer.write(problem.names.label)
        writer.write(problem.names.probabilities)
        writer.write(Int64(problem.settings.batchSize))
        writer.write(problem.settings.seed)
        writer.write(problem.settings.iterations) { $0.write(Int64($1)) }
        switch problem.kind {
        case .activity(let training, let validation, let sensors):
            writer.write(Int64(0))
            writer.write(sensors)
            writer.write(Int64(training.window))
            write(training, &writer)
            writer.write(validation) { write($1, &$0) }
        case .poses(let skeleton, let training, let validation):
            writer.write(Int64(1))
            writer.write(skeleton.rawValue)
            write(training, validation, &writer)
        case .actions(let skeleton, let frames, let training, let validation):
            writer.write(Int64(2))
            writer.write(skeleton.rawValue)
            writer.write(Int64(frames))
            write(training, validation, &writer)
        case .sounds(let layerSizes, let training, let validation):
            writer.write(Int64(3))
            writer.write(layerSizes.map { Int64($0) })
            write(training, validation, &writer)
        case .features(let layerSizes, let training, let validation):
            writer.write(Int64(4))
            writer.write(layerSizes.map { Int64($0) })
            write(training, validation, &writer)
        case .embeddings(let layerSizes, let groups, let training, let validation):
            writer.write(Int64(5))
            writer.write(layerSizes.map { Int64($0) })
            writer.write(groups.map { Int64($0) })
            write(training, validation, &writer)
        }
        return writer.bytes
    }

    private static func write(_ data: ActivityData, _ writer: inout CheckpointWriter) {
        writer.write(Int64(data.recordings.count))
        for recording in data.recordings {
            writer.write(Int64(recording.sensors.count))
            for sensor in recording.sensors { writer.write(sensor) }
            writer.write(recording.labels) { $0.write($1.map { Int64($0) }) }
        }
    }

    private static func write(
        _ training: LabeledExamples,
        _ validation: LabeledExamples?,
        _ writer: inout CheckpointWriter
    ) {
        func write(_ examples: LabeledExamples, _ writer: inout CheckpointWriter) {
            writer.write(examples.values)
            writer.write(examples.labels.map { Int64($0) })
        }
        write(training, &writer)
        writer.write(validation) { write($1, &$0) }
    }

    static func read(_ bytes: [UInt8]) throws -> (SeriesProblem, SeriesOptions) {
        var reader = CheckpointReader(bytes, "the session's training data")
        guard try reader.readInteger(Int64.self) == version else { throw reader.damaged("its version is unknown") }
        let text = try reader.readString()
        let options: SeriesOptions
        do { options = try JSONDecoder().decode(SeriesOptions.self, from: Data(text.utf8)) } catch {
            throw reader.damaged("its options cannot be read")
        }
        let labels = try reader.readStrings()
        let names = ClassifierNames(label: try reader.readString(), probabilities: try reader.readString())
        var settings = SequenceTrainingSettings()
        settings.batchSize = try reader.readInt(in: 1...Int.max, "the batch size")
        settings.seed = try reader.readInteger()
        settings.iterations = try reader.readOptional { try $0.readInt(in: 1...Int.max, "the number of iterations") }
        let kind = try kind(&reader, labels.count)
        try reader.finish()
        return (SeriesProblem(kind, labels: labels, names: names, settings: settings), options)
    }

    private static func kind(_ reader: inout CheckpointReader, _ classes: Int) throws -> SeriesProblem.Kind {
        func skeleton(_ reader: inout CheckpointReader) throws -> Skeleton {
            guard let skeleton = Skeleton(rawValue: try reader.readString()) else {
                throw reader.damaged("the skeleton is unknown")
            }
            return skeleton
        }
        func sizes(_ reader: inout CheckpointReader) throws -> [Int] {
            try reader.readArray(of: Int64.self).map { size in
                guard let size = Int(exactly: size), (1...1 << 20).contains(size) else {
                    throw reader.damaged("a layer size is out of range")
                }
                return size
            }
        }
        switch try reader.readInt(in: 0...5, "the kind of problem") {
        case 0:
            let sensors = try reader.readStrings()
            let window = try reader.readInt(in: 1...1 << 24, "the window")
            let training = try activity(&reader, classes)
            let validation = try reader.readOptional { try activity(&$0, classes) }
            return try MLCreateError.translating {
                let names = { (recordings: [ActivityRecording]) in recordings.indices.map { "\($0)" } }
                let own = try ActivityData(training, names: names(training), window: window)
                let other = try validation.map {
                    try ActivityData(
                        $0,
                        names: names($0),
                        window: window,
                        standardization: own
                    )
                }
                guard sensors.count == own.offsets.count else { throw reader.damaged("sensors are missing") }
                return .activity(training: own, validation: other, sensors: sensors)
            }
        case 1:
            let skeleton = try skeleton(&reader)
            let (training, validation) = try examples(&reader, classes)
            return .poses(skeleton, training: training, validation: validation)
        case 2:
            let skeleton = try skeleton(&reader)
            let frames = try reader.readInt(in: 1...1 << 24, "the window")
            let (training, validation) = try examples(&reader, classes)
            return .actions(skeleton, frames: frames, training: training, validation: validation)
        case 3:
            let sizes = try sizes(&reader)
            let (training, validation) = try examples(&reader, classes)
            return .sounds(layerSizes: sizes, training: training, validation: validation)
        case 4:
            let sizes = try sizes(&reader)
            let (training, validation) = try examples(&reader, classes)
            return .features(layerSizes: sizes, training: training, validation: validation)
        default:
            let sizes = try sizes(&reader)
            let groups = try reader.readArray(of: Int64.self)
            let (training, validation) = try examples(&reader, classes)
            guard groups.count == training.count else { throw reader.damaged("the groups of examples are missing") }
            return .embeddings(
                layerSizes: sizes,
                groups: groups.map { Int(clamping: $0) },
                training: training,
                validation: validation
            )
        }
    }

    private static func labels(_ reader: inout CheckpointReader, _ classes: Int) throws -> [Int] {
        try reader.readArray(of: Int64.self).map { label in
            guard label >= 0, label < classes else { throw reader.damaged("a label is out of range") }
            return Int(label)
        }
    }

    private static func activity(_ reader: inout CheckpointReader, _ classes: Int) throws -> [ActivityRecording] {
        let count = try reader.readInt(in: 0...1 << 30, "the number of recordings")
        var result: [ActivityRecording] = []
        for _ in 0..<count {
            let sensors = try reader.readInt(in: 1...1 << 20, "the number of sensors")
            var values: [[Float]] = []
            for _ in 0..<sensors { values.append(try reader.readArray()) }
            result.append(
                ActivityRecording(
                    sensors: values,
                    labels: try reader.readOptional { try labels(&$0, classes) }
                )
            )
        }
        return result
    }

    private static func examples(
        _ reader: inout CheckpointReader,
        _ classes: Int
    ) throws -> (LabeledExamples, LabeledExamples?) {
        func read(_ reader: inout CheckpointReader) throws -> LabeledExamples {
            LabeledExamples(values: try reader.readArray(), labels: try labels(&reader, classes))
        }
        let training = try read(&reader)
        return (training, try reader.readOptional { try read(&$0) })
    }
}

extension JSONEncoder {
    /// Keys in the order of the alphabet: the same value, the same bytes.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return encoder
    }
}
