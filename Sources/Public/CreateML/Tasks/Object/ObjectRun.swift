import Foundation
import MLDetectionTraining
import MLExtractors
import MLNumerics
import MLSpecification
import MLTrainingCore

/// The choices of a detector's training, as they are kept with a session.
struct ObjectSettings: Codable, Hashable, Sendable {
    var batchSize: Int
    /// `nil` for the number that suits the number of pictures.
    var iterations: Int?
    /// The requested revision of the object print; `nil` for the full network.
    var revision: Int?
    var form: BoxForm
    /// Why features are learned from the pictures; `nil` for those of the installed extractor.
    var learned: FeatureLearningCause?
    var mirrorsImages: Bool
    var turnsImages: Bool
    /// The folder of installed extractors; `nil` for the user's.
    var extractors: String?

    func source() throws(ModelError) -> DetectionSource {
        guard learned == nil else { return .pixels }
        return .network(try DetectionExtractor(Self.store(extractors).load(.efficientNetLite0)))
    }

    /// The store in a folder; the user's for `nil`.
    static func store(_ folder: String?) -> ExtractorStore { folder.map { ExtractorStore(folder: $0) } ?? .user }
}

/// The training of a detector: the pictures are read, then the detector is trained on views of them.
///
/// Pictures are kept with the session, so that it can be resumed without their files. A step of the first phase is a batch
/// of pictures.
struct ObjectRun: TrainingRun {
    typealias Product = MLObjectDetector

    static var taskName: String { "MLObjectDetector" }
    /// The number of pictures in a step of the first phase.
    static let batch = 32

    private var settings: ObjectSettings
    private var data: ObjectPictures
    let fingerprint: UInt64
    private var trainer: DetectionTrainer?

    /// - Throws: An error for annotations that cannot be encoded, such as infinite numbers.
    init(_ settings: ObjectSettings, _ data: ObjectPictures) throws {
        self.settings = settings
        self.data = data
        fingerprint = try Self.fingerprint(data)
    }

    private static func fingerprint(_ data: ObjectPictures) throws -> UInt64 {
        var result = Fingerprint(.wideProduct)
        for file in data.files {
            result.add([UInt8](try JSONEncoder.sorted.encode(file.picture)))
            result.add(file.isValidation ? 1 : 0)
        }
        return result.value
    }

    var parameters: [SessionParameter] {
        [
            SessionParameter("batchSize", settings.batchSize),
            SessionParameter("algorithm", settings.revision.map { "objectPrint \($0)" } ?? "darknetYolo"),
            SessionParameter("learnsFeatures", settings.learned != nil),
            SessionParameter("mirrorsImages", settings.mirrorsImages),
            SessionParameter("turnsImages", settings.turnsImages),
        ]
    }

    private var iterationCount: Int {
        settings.iterations
            ?? DetectionSettings.automaticIterations(
                imageCount: data.files.count { !$0.isValidation },
                turnsImages: settings.turnsImages,
                learnsFeatures: settings.learned != nil
            )
    }

    static var firstPhase: MLPhase { .extractingFeatures }
    var phase: MLPhase { data.isComplete ? .training : .extractingFeatures }
    var iteration: Int { data.isComplete ? trainer?.iteration ?? 0 : data.readCount / Self.batch }
    var plan: [PlannedPhase] {
        [
            PlannedPhase(.extractingFeatures, (data.files.count + Self.batch - 1) / Self.batch),
            PlannedPhase(.training, iterationCount),
        ]
    }
    var isFinished: Bool { trainer?.isFinished ?? false }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        try cancellation.check()
        guard data.isComplete else {
            let files = data.files
            let range = data.readCount..<min(data.readCount + Self.batch, files.count)
            data.append(ImageReader.map(range.count) { ObjectPictures.read(files[range.lowerBound + $0]) })
            if data.isComplete { try data.finish() }
            return [:]
        }
        var trainer = try current()
        // So that the trainer is not copied when it changes.
        self.trainer = nil
        defer { self.trainer = trainer }
        return try MLCreateError.translating { [.loss: try trainer.step().loss] }
    }

    /// The trainer, made on first use.
    private func current() throws -> DetectionTrainer {
        if let trainer { return trainer }
        return try MLCreateError.translating {
            try DetectionTrainer(
                examples: data.examples(isValidation: false).map(\.example),
                decode: ObjectPictures.bitmap,
                source: settings.source(),
                settings: DetectionSettings(
                    iterations: iterationCount,
                    batchSize: settings.batchSize,
                    labelCount: data.labels.count,
                    mirrorsImages: settings.mirrorsImages,
                    turnsImages: settings.turnsImages
                )
            )
        }
    }

    mutating func takeLimits(of other: ObjectRun) {
        settings.iterations = other.settings.iterations
        let count = iterationCount
        trainer?.limit(iterations: count)
    }

    mutating func finish() throws -> MLObjectDetector {
        let trainer = try current()
        return try MLCreateError.translating {
            var specification = trainer.specification(labels: data.labels).markedKeepingMetadata
            if let cause = settings.learned {
                specification.description_p.metadata.userDefined.merge(LearnedFeatures.metadata(cause)) { $1 }
            }
            let task = try TaskModel(specification)
            let training = try ObjectEvaluation(of: task.model, data.examples(isValidation: false))
            let held = data.examples(isValidation: true)
            let validation = held.isEmpty ? nil : try ObjectEvaluation(of: task.model, held)
            return MLObjectDetector(
                ObjectOutcome(
                    task: task,
                    training: training,
                    validation: validation,
                    skipped: data.skipped,
                    labels: data.labels,
                    settings: settings
                )
            )
        }
    }

    // MARK: Bytes

    private static let version = 2

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(Self.version))
        writer.write(String(decoding: try JSONEncoder.sorted.encode(settings), as: UTF8.self))
        try data.write(&writer, withPictures: data.isComplete)
        return writer.bytes
    }

    init(data bytes: [UInt8]) throws {
        var reader = CheckpointReader(bytes, "the session's images")
        guard try reader.readInteger(Int64.self) == Self.version else { throw reader.damaged("its version is unknown") }
        let text = try reader.readString()
        do { settings = try JSONDecoder().decode(ObjectSettings.self, from: Data(text.utf8)) } catch {
            throw reader.damaged("its settings cannot be read")
        }
        data = try ObjectPictures(&reader)
        try reader.finish()
        fingerprint = try Self.fingerprint(data)
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        guard data.isComplete else {
            data.writePictures(&writer)
            return writer.bytes
        }
        writer.write(trainer?.state ?? [])
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the checkpoint")
        guard data.isComplete else {
            try data.readPictures(&reader)
            return try reader.finish()
        }
        let bytes: [UInt8] = try reader.readArray()
        try reader.finish()
        guard !bytes.isEmpty else {
            trainer = nil
            return
        }
        var trainer = try current()
        try MLCreateError.translating { try trainer.restore(bytes) }
        self.trainer = trainer
    }
}

extension SpecModel {
    /// The model with default metadata and the mark of this package, and its own further metadata.
    fileprivate var markedKeepingMetadata: SpecModel {
        let own = description_p.metadata.userDefined
        var model = marked
        for (key, value) in own { model.description_p.metadata.userDefined[key] = value }
        return model
    }
}
