import CoreML
import Foundation
import MLNumerics
import MLSeriesTraining
import MLTrainingCore
import TabularData

/// The spectrograms on which a sound classifier is trained.
enum SoundFeatures {
    /// A sound file.
    struct Clip {
        var label: String
        /// The spectrograms: [windows, 64, 96].
        var spectrograms: [Float]
    }

    /// A table of spectrograms.
    struct Extracted {
        var frame: DataFrame
        var featureColumn: String
        var labelColumn: String
        var parameters: MLSoundClassifier.FeatureExtractionParameters

        /// The rows of the table, each of which is a clip.
        func clips() throws -> [Clip] {
            let labels = try frame.seriesTexts(labelColumn, for: "the labels")
            return zip(try SoundFeatures.spectrograms(frame, featureColumn), labels)
                .map { Clip(label: $1, spectrograms: $0) }
        }
    }

    /// The number of values in a window.
    static let size = SoundWindows.bands * SoundWindows.frames

    static func check(window: TimeInterval) throws {
        let seconds = Double(SoundWindows.samples) / Double(SoundWindows.rate)
        guard abs(window - seconds) < 1e-3 else {
            throw MLCreateError.generic(
                reason: "the time window is \(window) seconds; the spectrogram of VGGish takes \(seconds)"
            )
        }
    }

    static func check(_ extractor: MLSoundClassifier.ModelParameters.FeatureExtractorType) throws {
        guard case .vggish(let revision) = extractor else {
            throw MLCreateError.generic(
                reason: "audioFeaturePrint is a part of Apple's systems and not of this one; use .vggish"
            )
        }
        guard revision == 1 else {
            throw MLCreateError.generic(reason: "vggish has no revision \(revision); use 1")
        }
    }

    /// The sounds of a data source; every window of extracted features is a clip.
    static func clips(_ source: MLSoundClassifier.DataSource, _ reader: SoundWindows) throws -> [Clip] {
        if let extracted = try source.extracted() {
            try check(extracted.parameters.featureExtractor)
            try check(window: extracted.parameters.featureExtractionTimeWindowSize)
            return try extracted.clips()
        }
        let files = try source.labeledSounds()
        guard files.contains(where: { !$0.value.isEmpty }) else {
            throw MLCreateError.generic(reason: "there are no sound files to train on; add some")
        }
        return try files.keys.sorted().flatMap { label in
            try (files[label] ?? []).map { Clip(label: label, spectrograms: try spectrograms($0, reader)) }
        }
    }

    static func spectrograms(_ file: URL, _ reader: SoundWindows) throws -> [Float] {
        try MLCreateError.translating { try reader.spectrograms(SoundWindows.samples(ofFile: file.path)) }
    }

    /// The rows of a column of features.
    static func spectrograms(_ frame: DataFrame, _ column: String) throws -> [[Float]] {
        let rows = try frame.seriesArrays(column)
        if let row = rows.firstIndex(where: { $0.count != size }) {
            throw MLCreateError.generic(
                reason: "row \(row) of the column '\(column)' has \(rows[row].count) numbers; features of a sound have "
                    + "\(size): 64 bands of 96 frames"
            )
        }
        return rows
    }

    /// Transposes a spectrogram from [64, 96] to [96, 64].
    static func framesFirst(_ spectrogram: [Float]) -> [Float] {
        (0..<size).map { spectrogram[$0 % SoundWindows.bands * SoundWindows.frames + $0 / SoundWindows.bands] }
    }

    /// The column of features in the form of `extractFeatures`.
    static func frame(_ clips: [Clip]) -> DataFrame {
        var (features, labels): ([MLShapedArray<Float>], [String]) = ([], [])
        for clip in clips {
            for start in stride(from: 0, to: clip.spectrograms.count, by: size) {
                features.append(
                    MLShapedArray<Float>(
                        scalars: clip.spectrograms[start..<start + size],
                        shape: [SoundWindows.bands, SoundWindows.frames]
                    )
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
    private let overlap: Double
    private var clips: [SoundFeatures.Clip] = []

    init(_ source: Product, _ overlap: Double) throws {
        let files = try source.labeledSounds()
        self.files = files.keys.sorted().flatMap { label in (files[label] ?? []).map { (label, $0.path) } }
        self.overlap = overlap
        guard !self.files.isEmpty else {
            throw MLCreateError.generic(reason: "there are no sound files to extract features of; add some")
        }
        _ = try MLCreateError.translating { try SoundWindows(overlap: overlap) }
    }

    var parameters: [SessionParameter] { [SessionParameter("overlapFactor", overlap)] }

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
        let reader = try MLCreateError.translating { try SoundWindows(overlap: overlap) }
        let spectrograms = try SoundFeatures.spectrograms(URL(fileURLWithPath: file.path), reader)
        clips.append(SoundFeatures.Clip(label: file.label, spectrograms: spectrograms))
        return [:]
    }

    mutating func finish() throws -> Product {
        .featuresDataFrame(
            SoundFeatures.frame(clips),
            parameters: MLSoundClassifier.FeatureExtractionParameters(overlapFactor: overlap)
        )
    }

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(overlap)
        writer.write(files.map(\.label))
        writer.write(files.map(\.path))
        return writer.bytes
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the list of sounds")
        overlap = try reader.readDouble()
        let labels = try reader.readStrings()
        let paths = try reader.readStrings()
        try reader.finish()
        guard !paths.isEmpty, labels.count == paths.count else { throw reader.damaged("labels are missing") }
        files = zip(labels, paths).map { ($0, $1) }
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(Int64(clips.count))
        for clip in clips { writer.write(clip.spectrograms) }
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the checkpoint")
        let count = try reader.readInt(in: 0...files.count, "the number of files")
        var clips: [SoundFeatures.Clip] = []
        for index in 0..<count {
            let spectrograms = try reader.readArray(of: Float.self)
            guard !spectrograms.isEmpty, spectrograms.count % SoundFeatures.size == 0 else {
                throw reader.damaged("a spectrogram is cut off")
            }
            clips.append(SoundFeatures.Clip(label: files[index].label, spectrograms: spectrograms))
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
