package import CoreML
import Foundation
import MLFeatures
import MLSeriesTraining
package import MLSpecification
package import TabularData

/// The prediction of a classifier for a window of a sound or a recording.
package struct WindowPrediction: Sendable {
    /// The samples, frames or rows of the window, without its padding.
    package var range: Range<Int>
    /// The classes and their probabilities, the most probable first.
    package var results: [(label: String, confidence: Double)]

    /// The mean probabilities of all windows of a file, the most probable class first.
    package static func mean(of windows: [WindowPrediction]) -> [(label: String, confidence: Double)] {
        var sums: [String: Double] = [:]
        for window in windows {
            for result in window.results { sums[result.label, default: 0] += result.confidence }
        }
        return sums.map { (label: $0.key, confidence: $0.value / Double(windows.count)) }
            .sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
    }
}

extension MLSoundClassifier {
    /// The sample rate, in samples per second, of the ranges of `predictions(of:from:overlapFactor:)`.
    package static var sampleRate: Int { SoundWindows.rate }

    /// The predictions of a model of any origin for a sound file, window by window.
    /// - Parameters:
    ///   - model: A model whose input `audioSamples` takes the samples of a window at 16 kHz.
    ///   - file: The sound file.
    ///   - overlapFactor: The fraction of a window that the next one overlaps, at least 0 and below 1.
    /// - Returns: The windows, whose ranges count samples at 16 kHz.
    /// - Throws: `MLCreateError` for a file that cannot be read, and the errors of prediction.
    package static func predictions(
        of model: MLModel,
        from file: URL,
        overlapFactor: Double
    ) throws -> [WindowPrediction] {
        let size = windowSamples(of: model)
        let (starts, samples) = try MLCreateError.translating {
            let samples = try SoundWindows.samples(ofFile: file.path)
            return (try SoundWindows(overlap: overlapFactor, windowSamples: size).starts(samples.count), samples)
        }
        return try starts.map { start in
            let range = start..<min(start + size, samples.count)
            let window = samples[range] + [Float](repeating: 0, count: size - range.count)
            return WindowPrediction(range: range, results: try results(of: model, samples: Array(window)))
        }
    }
}

/// Predictions of classifiers of key points.
package enum KeypointPredictions {
    /// Whether a model takes poses: an input `poses` of [frames, 3, joints] with the joints of a hand or a body.
    package static func areTaken(by interface: SpecModelDescription) -> Bool { windows(of: interface) != nil }

    /// Whether a model takes the poses of more than one frame.
    package static func areActions(_ interface: SpecModelDescription) -> Bool {
        windows(of: interface).map { $0.frames > 1 } ?? false
    }

    /// The predictions of a model of any origin for a file: for overlapping windows, or pose by pose.
    /// - Parameters:
    ///   - model: A model that takes poses.
    ///   - file: A JSON or CSV table with the column `keypoints`; a picture for a model of single poses, a video or a folder of
    ///     its pictures for others.
    ///   - frameRate: The pictures of a video that are looked at for each second, above 0; 30 if `nil`.
    /// - Returns: The windows, whose ranges count frames.
    /// - Throws: `MLCreateError` for a file that cannot be read, and the errors of prediction.
    package static func predictions(
        of model: MLModel,
        from file: URL,
        frameRate: Double? = nil
    ) throws -> [WindowPrediction] {
        guard let windows = windows(of: model.engine.interface) else {
            throw MLCreateError.type(reason: "the model has no input 'poses', [frames, 3, joints]")
        }
        let reader = KeypointReader(
            skeleton: windows.skeleton,
            readsVideos: windows.frames > 1,
            frameRate: frameRate ?? 30
        )
        let poses = try reader.foundPoses(at: file)
        return try windows.results(of: model, poses).map { WindowPrediction(range: $0.frames, results: $0.results) }
    }

    /// The predictions of a model of any origin for the sessions of a table: for overlapping windows, or pose by pose.
    /// - Parameters:
    ///   - model: A model that takes poses.
    ///   - frame: A table with a row for each pose, in their order.
    ///   - sessionColumn: The column of the sessions; a table without it is one.
    ///   - featureColumn: The column of the key points.
    /// - Returns: The sessions in the order of their first rows, with windows whose ranges count frames.
    /// - Throws: `MLCreateError` for columns that are missing or hold no poses, and the errors of prediction.
    package static func predictions(
        of model: MLModel,
        from frame: DataFrame,
        sessionColumn: String,
        featureColumn: String
    ) throws -> [(session: String, windows: [WindowPrediction])] {
        guard let windows = windows(of: model.engine.interface) else {
            throw MLCreateError.type(reason: "the model has no input 'poses', [frames, 3, joints]")
        }
        let names =
            frame.containsColumn(sessionColumn)
            ? try frame.seriesTexts(sessionColumn, for: "the session")
            : [String](repeating: "", count: frame.shape.rows)
        let groups = RowGroups(names)
        let values = try frame.seriesArrays(featureColumn)
        return try zip(groups.names, groups.rows).map { name, rows in
            let poses = try MLCreateError.translating {
                try PoseSequence(rows.flatMap { values[$0] }, windows.skeleton, name: "session '\(name)'")
            }
            return (
                name,
                try windows.results(of: model, poses).map { WindowPrediction(range: $0.frames, results: $0.results) }
            )
        }
    }

    private static func windows(of interface: SpecModelDescription) -> ActionWindows? {
        guard interface.input.count == 1, interface.input[0].name == "poses", !interface.predictedFeatureName.isEmpty
        else { return nil }
        let shape = interface.input[0].type.multiArrayType.shape.map { Int(clamping: $0) }
        guard shape.count == 3, shape[0] > 0, shape[1] == 3,
            let skeleton = try? Skeleton(jointCount: shape[2])
        else { return nil }
        return ActionWindows(skeleton: skeleton, frames: shape[0])
    }
}
