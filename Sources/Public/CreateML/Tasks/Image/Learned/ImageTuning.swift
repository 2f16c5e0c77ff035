import MLExtractors
import MLImageTraining
import MLNumerics
import MLTrainingCore

/// The fine-tuning of an installed extractor, before features are extracted with it: first the values of the training
/// pictures' views before the blocks that learn, a batch of files a step; then passes over them.
///
/// The values are not saved: a resumed training computes them again in its first step.
struct ImageTuning: Sendable {
    /// The steps of passes over the pictures.
    static var passes: Int { TuningSettings(blockCount: 1).epochs }

    private let settings: TuningSettings
    private let extractor: ImageExtractor
    private let model: ExtractorModel
    private let prefix: TuningPrefix
    private var examples: [(label: String, views: [[Float16]])] = []
    /// The number of files that were looked at.
    private var position = 0
    private var training: NetworkTuning?
    /// What an earlier session had done, until it is done again: files that it had looked at, passes, and the state after
    /// them.
    private var saved: (position: Int, passes: Int, state: [UInt8])?

    /// - Throws: `.invalidInput` for an extractor without so many blocks, and the errors of loading it.
    init(_ images: ImageSettings, blockCount: Int) throws(ModelError) {
        settings = TuningSettings(blockCount: blockCount)
        extractor = try ImageExtractor(images, learned: nil)
        model = try ExtractorStore.user.load(.named(images.installed ?? "", in: Extractor.ofImages))
        prefix = try TuningPrefix(model, blockCount: blockCount)
    }

    /// The number of steps that `count` files need.
    static func stepCount(_ count: Int) -> Int { batches(count) + passes }

    private static func batches(_ count: Int) -> Int { (count + ImageRun.batch - 1) / ImageRun.batch }

    /// The number of steps that were made with `count` files.
    func iteration(_ count: Int) -> Int {
        if let training { return Self.batches(count) + training.iteration }
        guard let saved else { return Self.batches(position) }
        return saved.passes > 0 ? Self.batches(count) + saved.passes : Self.batches(saved.position)
    }

    /// Does one step.
    ///
    /// - Returns: The tuned extractor after the last one, the extractor as it was where fewer than two labels have pictures,
    ///   else `nil`.
    /// - Throws: `MLCreateError.cancelled`; `.generic` for pictures that nothing can be learned from.
    mutating func step(_ files: [ImageFiles.File], _ cancellation: JobCancellation) throws -> ExtractorModel? {
        if training == nil {
            // A resumed training goes to where it was, and does a step.
            let isReady = saved.map { $0.passes > 0 || $0.position >= files.count } ?? false
            let goal = isReady ? files.count : max(position, saved?.position ?? 0) + ImageRun.batch
            repeat {
                try cancellation.check()
                gather(files)
            } while position < min(goal, files.count)
            if position >= files.count {
                try prepare()
                // Extraction says what is wrong with the pictures.
                if training == nil { return model }
            }
            if !isReady {
                saved = nil
                return nil
            }
        }
        guard var training else { return nil }
        try cancellation.check()
        try MLCreateError.translating { _ = try training.step() }
        self.training = training
        saved = nil
        return training.isFinished ? training.tuned() : nil
    }

    private mutating func gather(_ files: [ImageFiles.File]) {
        let range = position..<min(position + ImageRun.batch, files.count)
        let (extractor, prefix) = (extractor, prefix)
        // Files that cannot be read are named when features are extracted.
        let found = ImageReader.map(range.count) { index -> [[Float16]]? in
            let file = files[range.lowerBound + index]
            guard !file.isValidation, let picture = try? ImageReader.read(file.path) else { return nil }
            return try? extractor.changed(picture.bitmap, seed: UInt64(range.lowerBound + index)).map(prefix.values)
        }
        for (file, views) in zip(files[range], found) { if let views { examples.append((file.label, views)) } }
        position = range.upperBound
    }

    private mutating func prepare() throws {
        let numbers = LabelNumbers(examples.map(\.label))
        guard numbers.labels.count > 1 else { return }
        var learned = TuningExamples()
        for (label, views) in examples { learned.append(views, label: try numbers.number(of: label)) }
        let state = saved.flatMap { $0.passes > 0 ? $0.state : nil }
        try MLCreateError.translating {
            var created = try NetworkTuning(
                model,
                prefix: prefix,
                examples: learned,
                classCount: numbers.labels.count,
                settings: settings
            )
            if let state { try created.restore(state) }
            training = created
        }
        examples = []
    }

    // MARK: Bytes

    func write(_ writer: inout CheckpointWriter) {
        writer.write(Int64(max(position, saved?.position ?? 0)))
        writer.write(Int64(training?.iteration ?? saved?.passes ?? 0))
        writer.write(training?.state ?? saved?.state ?? [])
    }

    mutating func restore(_ reader: inout CheckpointReader) throws(ModelError) {
        let position = try reader.readInt(in: 0...Int(Int32.max), "the number of images")
        let passes = try reader.readInt(in: 0...Self.passes, "the number of passes")
        let state: [UInt8] = try reader.readArray()
        training = nil
        examples = []
        self.position = 0
        saved = (position, passes, state)
    }
}
