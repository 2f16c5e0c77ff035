import Foundation
import MLExtractors
import MLNumerics
import MLTrainingCore

/// The training of a picture classifier: features of all pictures, then the classifier of the features.
///
/// Where features are learned from the pictures, the filters are learned in the first step of the first phase; where an
/// extractor is fine-tuned, its first steps do that. Features are kept with the session, so that training continues
/// without the pictures; another session can take them over. A step of the first phase is a batch of pictures.
struct ImageRun: TrainingRun {
    typealias Product = MLImageClassifier

    static var taskName: String { "MLImageClassifier" }
    /// The number of pictures in a step.
    static let batch = 32

    private var settings: ImageSettings
    /// The files, in their order.
    private var data: ImageFiles
    let fingerprint: UInt64
    /// What was learned for the extractor; `nil` before, and for an extractor that is used as it is.
    private var learned: LearnedExtractor?
    /// The fine-tuning in progress.
    private var tuning: ImageTuning?
    private var extractor: ImageExtractor?
    private var head: ImageHead?

    /// - Throws: `MLCreateError` for fewer than two labels, labels that only validation data have, and an extractor
    ///   that is missing or does not fit.
    init(_ settings: ImageSettings, _ data: ImageFiles) throws {
        self.settings = settings
        self.data = data
        fingerprint = try Self.fingerprint(settings, data)
        if settings.tunedBlocks != nil { _ = try startedTuning() }
        if !settings.learnsExtractor {
            extractor = try MLCreateError.translating { try ImageExtractor(settings, learned: nil) }
        }
    }

    /// The fingerprint of what the features depend on.
    private static func fingerprint(_ settings: ImageSettings, _ data: ImageFiles) throws -> UInt64 {
        var result = Fingerprint(.wideProduct)
        result.add(settings.extractorName)
        result.add(settings.outputName ?? "")
        result.add(settings.augmentation)
        for file in data.files {
            result.add(file.path)
            result.add(file.label)
        }
        return result.value
    }

    var parameters: [SessionParameter] {
        [
            SessionParameter("featureExtractor", settings.extractorName),
            SessionParameter("augmentationOptions", settings.augmentation),
            SessionParameter("layerSizes", settings.layerSizes),
        ]
    }

    static var firstPhase: MLPhase { .extractingFeatures }
    var phase: MLPhase { data.isComplete ? .training : .extractingFeatures }
    var iteration: Int {
        if data.isComplete { return head?.iteration ?? 0 }
        if settings.learnsExtractor, learned == nil { return tuning?.iteration(data.files.count) ?? 0 }
        return learningSteps + data.extracted / Self.batch
    }
    /// The steps before the first batch of pictures whose features are extracted.
    private var learningSteps: Int {
        if settings.tunedBlocks != nil { return ImageTuning.stepCount(data.files.count) }
        return settings.learned == nil ? 0 : 1
    }
    var plan: [PlannedPhase] {
        [
            PlannedPhase(.extractingFeatures, learningSteps + (data.files.count + Self.batch - 1) / Self.batch),
            PlannedPhase(.training, settings.iterations),
        ]
    }
    var isFinished: Bool { data.isComplete && head?.isFinished ?? false }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        guard data.isComplete else {
            if settings.learnsExtractor, learned == nil {
                try learn(cancellation)
            } else {
                try extract()
            }
            return [:]
        }
        var head = try current()
        try cancellation.check()
        return try MLCreateError.translating {
            let report = try head.step()
            self.head = head
            let layers = try head.layers()
            var metrics: [MLProgress.Metric: Double] = [.loss: report.loss]
            metrics[.accuracy] = report.accuracy ?? accuracy(layers, isValidation: false)
            if data.hasValidation { metrics[.validationAccuracy] = accuracy(layers, isValidation: true) }
            return metrics
        }
    }

    /// Does a step of learning the extractor.
    private mutating func learn(_ cancellation: JobCancellation) throws {
        guard settings.tunedBlocks != nil else {
            learned = try MLCreateError.translating { .patches(try data.dictionary(cancellation)) }
            return
        }
        var tuning = try startedTuning()
        if let tuned = try tuning.step(data.files, cancellation) {
            learned = .tuned(tuned)
            self.tuning = nil
        } else {
            self.tuning = tuning
        }
    }

    private mutating func startedTuning() throws -> ImageTuning {
        if let tuning { return tuning }
        let (settings, blockCount) = (settings, settings.tunedBlocks ?? 0)
        let created = try MLCreateError.translating { try ImageTuning(settings, blockCount: blockCount) }
        tuning = created
        return created
    }

    private mutating func extract() throws {
        let extractor = try loaded()
        let files = data.files
        let range = data.extracted..<min(data.extracted + Self.batch, files.count)
        let results = ImageReader.map(range.count) { index -> ImageFiles.Result in
            let file = files[range.lowerBound + index]
            do throws(ModelError) {
                let picture = try ImageReader.read(file.path)
                let features = try extractor.views(
                    picture.bitmap,
                    isValidation: file.isValidation,
                    seed: UInt64(range.lowerBound + index)
                )
                return ImageFiles.Result(features: features, content: picture.content)
            } catch { return ImageFiles.Result(reason: ImageReader.reason(error)) }
        }
        data.append(results, width: extractor.encoder.featureCount)
        if data.isComplete { try data.finish() }
    }

    private mutating func loaded() throws -> ImageExtractor {
        if let extractor { return extractor }
        let created = try MLCreateError.translating { try ImageExtractor(settings, learned: learned) }
        extractor = created
        return created
    }

    /// The classifier, made on first use.
    private mutating func current() throws -> ImageHead {
        if let head { return head }
        let examples = data.trainingRows()
        let created = try MLCreateError.translating {
            try ImageHead(
                rows: examples.rows,
                labels: examples.labels,
                classes: data.labels,
                layerSizes: settings.layerSizes,
                iterations: settings.iterations
            )
        }
        head = created
        return created
    }

    private func accuracy(_ layers: [(weights: [Float], bias: [Float])], isValidation: Bool) -> Double {
        let examples = data.predictionRows(isValidation: isValidation, isMirrored: extractor?.isMirrored ?? false)
        let classes = ImageFiles.classes(ImageHead.probabilities(examples.rows, layers), data.labels.count)
        let right = zip(classes, examples.labels).filter { $0.index == $1 }.count
        return Double(right) / Double(max(examples.labels.count, 1))
    }

    mutating func finish() throws -> MLImageClassifier {
        let extractor = try loaded()
        let head = try current()
        return try MLCreateError.translating {
            let layers = try head.layers()
            let writer = ImageNetworkWriter(
                extractor: extractor,
                layers: layers,
                labels: data.labels,
                metadata: metadata(extractor)
            )
            let task = try TaskModel(writer.file())
            func outcome(isValidation: Bool) -> (MLClassifierMetrics, [MLImageClassifier.MisclassifiedImage]) {
                let examples = data.predictionRows(isValidation: isValidation, isMirrored: extractor.isMirrored)
                let classes = ImageFiles.classes(ImageHead.probabilities(examples.rows, layers), data.labels.count)
                let metrics = MLClassifierMetrics(
                    ConfusionCounts(
                        strings: data.labels,
                        truth: examples.labels,
                        predictions: classes.map(\.index)
                    )
                )
                var wrong: [MLImageClassifier.MisclassifiedImage] = []
                for (position, predicted) in classes.enumerated() where predicted.index != examples.labels[position] {
                    wrong.append(
                        .init(
                            url: URL(fileURLWithPath: examples.paths[position]),
                            label: data.labels[examples.labels[position]],
                            prediction: data.labels[predicted.index],
                            confidence: Double(predicted.probability)
                        )
                    )
                }
                return (metrics, wrong.sorted { $0.confidence > $1.confidence })
            }
            let (training, trainingWrong) = outcome(isValidation: false)
            let (validation, validationWrong) = outcome(isValidation: true)
            return MLImageClassifier(
                ImageOutcome(
                    task: task,
                    training: training,
                    validation: validation,
                    misclassified: (trainingWrong, validationWrong),
                    skipped: data.skipped,
                    labels: data.labels,
                    license: extractor.installed?.license,
                    warnings: settings.learned.map { [LearnedFeatures.warning($0)] } ?? []
                ),
                settings.parameters
            )
        }
    }

    private func metadata(_ extractor: ImageExtractor) -> [String: String] {
        if let cause = settings.learned { return LearnedFeatures.metadata(cause) }
        var result = extractor.installed?.noticeMetadata ?? [:]
        if let blocks = settings.tunedBlocks { result["featureExtractorFineTunedBlocks"] = "\(blocks)" }
        return result
    }

    mutating func takeLimits(of other: ImageRun) {
        settings.iterations = other.settings.iterations
        // Before training has begun, another classifier can be trained on the same features.
        if head == nil { settings.layerSizes = other.settings.layerSizes }
        head?.limit(iterations: settings.iterations)
    }

    // MARK: Bytes

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(1))
        writer.write(String(decoding: try JSONEncoder.sorted.encode(settings), as: UTF8.self))
        data.write(&writer, withFeatures: data.isComplete)
        if settings.learnsExtractor { try writeLearned(&writer) }
        return writer.bytes
    }

    init(data bytes: [UInt8]) throws {
        var reader = CheckpointReader(bytes, "the session's images")
        guard try reader.readInteger(Int64.self) == 1 else { throw reader.damaged("its version is unknown") }
        let text = try reader.readString()
        do { settings = try JSONDecoder().decode(ImageSettings.self, from: Data(text.utf8)) } catch {
            throw reader.damaged("its settings cannot be read")
        }
        data = try ImageFiles(&reader)
        if settings.learnsExtractor {
            learned = try Self.readLearned(&reader, settings)
            if learned == nil, data.isComplete { throw reader.damaged("the learned extractor is missing") }
        }
        try reader.finish()
        fingerprint = try Self.fingerprint(settings, data)
    }

    private func writeLearned(_ writer: inout CheckpointWriter) throws {
        writer.write(learned != nil)
        try learned?.write(&writer)
    }

    private static func readLearned(_ reader: inout CheckpointReader, _ settings: ImageSettings) throws
        -> LearnedExtractor?
    {
        try reader.readOptional { reader in try LearnedExtractor(&reader, settings) }
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        guard data.isComplete else {
            data.writeFeatures(&writer)
            if settings.learnsExtractor { try writeLearned(&writer) }
            if settings.tunedBlocks != nil, learned == nil {
                writer.write(tuning != nil)
                tuning?.write(&writer)
            }
            return writer.bytes
        }
        writer.write(Int64(head?.iteration ?? 0))
        writer.write(try head?.state ?? [])
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the checkpoint")
        guard data.isComplete else {
            try data.readFeatures(&reader)
            if settings.learnsExtractor {
                learned = try Self.readLearned(&reader, settings)
                extractor = nil
                if learned == nil, data.extracted > 0 { throw reader.damaged("the learned extractor is missing") }
                tuning = nil
                if settings.tunedBlocks != nil, learned == nil, try reader.readBool() {
                    var started = try startedTuning()
                    try started.restore(&reader)
                    tuning = started
                }
            }
            return try reader.finish()
        }
        let iteration = try reader.readInt(in: 0...Int(Int32.max), "the iteration")
        let bytes: [UInt8] = try reader.readArray()
        try reader.finish()
        _ = try loaded()
        guard iteration > 0 else {
            head = nil
            return
        }
        var head = try current()
        try MLCreateError.translating { try head.restore(bytes, iteration: iteration) }
        self.head = head
    }
}
