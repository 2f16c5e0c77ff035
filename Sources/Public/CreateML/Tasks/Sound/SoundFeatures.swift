import CoreML
import Foundation
import MLNumerics
import MLSeriesTraining
import MLTrainingCore
import TabularData

/// The features on which a sound classifier is trained: spectrograms, or the output of a custom extractor.
struct SoundFeatures {
    /// A sound file.
    struct Clip {
        var label: String
        /// The features: [windows, size].
        var features: [Float]
    }

    /// A table of extracted features.
    struct Extracted {
        var frame: DataFrame
        var featureColumn: String
        var labelColumn: String
        var parameters: MLSoundClassifier.FeatureExtractionParameters
    }

    /// The number of values in a spectrogram.
    private static let spectrogramSize = SoundWindows.bands * SoundWindows.frames

    let custom: SoundExtractor?
    private let reader: SoundWindows
    private let parameters: MLSoundClassifier.FeatureExtractionParameters

    /// The number of values of a window.
    var size: Int { custom?.width ?? Self.spectrogramSize }

    /// - Throws: `MLCreateError` for parameters that are not supported, and for an extractor that cannot be loaded.
    init(_ parameters: MLSoundClassifier.FeatureExtractionParameters) throws {
        self.parameters = parameters
        custom = try MLCreateError.translating {
            try parameters.customFeatureExtractor.map { custom throws(ModelError) in try SoundExtractor(custom) }
        }
        if custom == nil { try Self.check(parameters.featureExtractor) }
        let samples = custom?.windowSamples ?? SoundWindows.samples
        reader = try MLCreateError.translating {
            try SoundWindows(overlap: parameters.overlapFactor, windowSamples: samples)
        }
        try Self.check(window: parameters.featureExtractionTimeWindowSize, samples: samples)
    }

    /// Checks a window's length in seconds against the number of samples that the model takes.
    ///
    /// The default is always accepted: a model of the caller's states the length itself.
    static func check(window: TimeInterval, samples: Int) throws {
        let seconds = Double(samples) / Double(SoundWindows.rate)
        let isDefault = window == MLSoundClassifier.__Defaults.defaultVGGishTimeWindow
        guard abs(window - seconds) < 1e-3 || isDefault else {
            throw MLCreateError.generic(
                reason: "the time window is \(window) seconds; the model takes \(seconds)"
            )
        }
    }

    private static func check(_ extractor: MLSoundClassifier.ModelParameters.FeatureExtractorType) throws {
        guard case .vggish(let revision) = extractor else {
            throw MLCreateError.generic(
                reason: "audioFeaturePrint is a part of Apple's systems and not of this one; use .vggish, or set "
                    + "customFeatureExtractor"
            )
        }
        guard revision == 1 else {
            throw MLCreateError.generic(reason: "vggish has no revision \(revision); use 1")
        }
    }

    /// The sounds of a data source; every window of extracted features is a clip.
    func clips(_ source: MLSoundClassifier.DataSource) throws -> [Clip] {
        if let extracted = try source.extracted() { return try clips(extracted) }
        let files = try source.labeledSounds()
        guard files.contains(where: { !$0.value.isEmpty }) else {
            throw MLCreateError.generic(reason: "there are no sound files to train on; add some")
        }
        return try files.keys.sorted().flatMap { label in
            try (files[label] ?? []).map { Clip(label: label, features: try features($0)) }
        }
    }

    /// The rows of a table of extracted features, each of which is a clip.
    func clips(_ extracted: Extracted) throws -> [Clip] {
        let own = parameters.customFeatureExtractor, other = extracted.parameters.customFeatureExtractor
        guard own == other else {
            func name(_ extractor: MLSoundClassifier.CustomFeatureExtractor?) -> String {
                extractor?.modelPath.path ?? "\(extracted.parameters.featureExtractor)"
            }
            throw MLCreateError.generic(
                reason: "the features are those of \(name(other)), and the classifier is one of \(name(own)); "
                    + "use the same extractor"
            )
        }
        if custom == nil { try Self.check(extracted.parameters.featureExtractor) }
        try Self.check(
            window: extracted.parameters.featureExtractionTimeWindowSize,
            samples: reader.windowSamples
        )
        let labels = try extracted.frame.seriesTexts(extracted.labelColumn, for: "the labels")
        return zip(try rows(extracted.frame, extracted.featureColumn), labels).map { Clip(label: $1, features: $0) }
    }

    /// The features of the windows of a file: [windows, size].
    func features(_ file: URL) throws -> [Float] {
        try MLCreateError.translating {
            let sound = try SoundWindows.samples(ofFile: file.path)
            return try custom?.features(of: sound, reader) ?? reader.spectrograms(sound)
        }
    }

    /// The rows of a column of features.
    private func rows(_ frame: DataFrame, _ column: String) throws -> [[Float]] {
        let rows = try frame.seriesArrays(column)
        if let row = rows.firstIndex(where: { $0.count != size }) {
            throw MLCreateError.generic(
                reason: "row \(row) of the column '\(column)' has \(rows[row].count) numbers; features of a sound have "
                    + "\(size)" + (custom == nil ? ": 64 bands of 96 frames" : "")
            )
        }
        return rows
    }

    /// Transposes a spectrogram from [64, 96] to [96, 64].
    static func framesFirst(_ spectrogram: [Float]) -> [Float] {
        (0..<spectrogramSize).map {
            spectrogram[$0 % SoundWindows.bands * SoundWindows.frames + $0 / SoundWindows.bands]
        }
    }

    /// The column of features in the form of `extractFeatures`.
    func frame(_ clips: [Clip]) -> DataFrame {
        let shape = custom == nil ? [SoundWindows.bands, SoundWindows.frames] : [size]
        var (features, labels): ([MLShapedArray<Float>], [String]) = ([], [])
        for clip in clips {
            for start in stride(from: 0, to: clip.features.count, by: size) {
                features.append(
                    MLShapedArray<Float>(scalars: clip.features[start..<start + size], shape: shape)
                )
                labels.append(clip.label)
            }
        }
        return DataFrame(columns: [
            Column<MLShapedArray<Float>>(
                name: MLSoundClassifier.__Defaults.featureColumnName,
                contents: features
            ).eraseToAnyColumn(),
            Column<String>(name: MLSoundClassifier.__Defaults.labelColumnName, contents: labels).eraseToAnyColumn(),
        ])
    }
}

/// Extracts features file by file.
struct SoundFeaturesRun: TrainingRun {
    typealias Product = MLSoundClassifier.DataSource

    static var taskName: String { "MLSoundClassifier features" }
    static var firstPhase: MLPhase { .extractingFeatures }

    private let files: [(label: String, path: String)]
    private let parametersOfFeatures: MLSoundClassifier.FeatureExtractionParameters
    /// Loaded on first use: a restored session has not needed it yet.
    private var extractor: SoundFeatures?
    private var clips: [SoundFeatures.Clip] = []

    init(_ source: Product, _ parameters: MLSoundClassifier.FeatureExtractionParameters) throws {
        let files = try source.labeledSounds()
        self.files = files.keys.sorted().flatMap { label in (files[label] ?? []).map { (label, $0.path) } }
        parametersOfFeatures = parameters
        guard !self.files.isEmpty else {
            throw MLCreateError.generic(reason: "there are no sound files to extract features of; add some")
        }
        extractor = try SoundFeatures(parameters)
    }

    private mutating func loaded() throws -> SoundFeatures {
        if let extractor { return extractor }
        let new = try SoundFeatures(parametersOfFeatures)
        extractor = new
        return new
    }

    var parameters: [SessionParameter] {
        var result = [SessionParameter("overlapFactor", parametersOfFeatures.overlapFactor)]
        if let custom = parametersOfFeatures.customFeatureExtractor {
            result.append(SessionParameter("customFeatureExtractor", custom.description))
        }
        return result
    }

    var fingerprint: UInt64 {
        var result = Fingerprint(.wideProduct)
        for file in files {
            result.add(file.label)
            result.add(file.path)
        }
        return result.value
    }

    var phase: MLPhase { .extractingFeatures }
    var iteration: Int { clips.count }
    var plan: [PlannedPhase] { [PlannedPhase(.extractingFeatures, files.count)] }
    var isFinished: Bool { clips.count == files.count }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        let file = files[clips.count]
        let features = try loaded().features(URL(fileURLWithPath: file.path))
        clips.append(SoundFeatures.Clip(label: file.label, features: features))
        return [:]
    }

    mutating func finish() throws -> Product {
        .featuresDataFrame(try loaded().frame(clips), parameters: parametersOfFeatures)
    }

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(parametersOfFeatures.overlapFactor)
        writer.write(files.map(\.label))
        writer.write(files.map(\.path))
        if let custom = parametersOfFeatures.customFeatureExtractor {
            writer.write(custom.modelPath.path)
            writer.write(custom.outputName) { $0.write($1) }
        }
        return writer.bytes
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the list of sounds")
        var parameters = MLSoundClassifier.FeatureExtractionParameters(overlapFactor: try reader.readDouble())
        let labels = try reader.readStrings()
        let paths = try reader.readStrings()
        if !reader.isAtEnd {
            parameters.customFeatureExtractor = MLSoundClassifier.CustomFeatureExtractor(
                modelPath: URL(fileURLWithPath: try reader.readString()),
                outputName: try reader.readOptional { try $0.readString() }
            )
        }
        parametersOfFeatures = parameters
        try reader.finish()
        guard !paths.isEmpty, labels.count == paths.count else { throw reader.damaged("labels are missing") }
        files = zip(labels, paths).map { ($0, $1) }
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(clips.count))
        for clip in clips { writer.write(clip.features) }
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the checkpoint")
        let count = try reader.readInt(in: 0...files.count, "the number of files")
        let size = try loaded().size
        var clips: [SoundFeatures.Clip] = []
        for index in 0..<count {
            let features = try reader.readArray(of: Float.self)
            guard !features.isEmpty, features.count % size == 0 else {
                throw reader.damaged("the features of a window are cut off")
            }
            clips.append(SoundFeatures.Clip(label: files[index].label, features: features))
        }
        try reader.finish()
        self.clips = clips
    }
}

/// A random number generator with a seed from the caller.
struct SeededGenerator: RandomNumberGenerator {
    private var source: SplitMix64

    init(seed: Int) { source = SplitMix64(seed: UInt64(bitPattern: Int64(seed))) }

    mutating func next() -> UInt64 { source.next() }
}
