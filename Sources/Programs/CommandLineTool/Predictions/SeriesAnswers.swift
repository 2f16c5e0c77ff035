import CoreML
import CreateML
import Foundation
import MLEngine
import MLSpecification
import TabularData

/// Predictions of a sound classifier, file by file or window by window.
struct SoundAnswers: AnswerSource {
    let model: MLModel
    let files: FileList
    /// The fraction of a window that overlaps the next one.
    let overlap: Double
    let areWindows: Bool
    var isList: Bool { files.isList || areWindows }
    var outputs: [SpecFeatureDescription] { model.engine.interface.classOutputs }

    func answers(_ receive: (Answer) throws -> Void) throws {
        let rate = Double(MLSoundClassifier.sampleRate)
        for file in files.paths {
            let url = URL(fileURLWithPath: file)
            let windows = try MLSoundClassifier.predictions(of: model, from: url, overlapFactor: overlap)
            try deliver(file, windows, areWindows, model, receive) { range in
                [
                    ("start_seconds", .double(Double(range.lowerBound) / rate)),
                    ("end_seconds", .double(Double(range.upperBound) / rate)),
                ]
            }
        }
    }
}

/// Predictions of an action or pose classifier for videos, pictures and tables of key points, file by file or window by
/// window.
struct KeypointAnswers: AnswerSource {
    let model: MLModel
    let files: FileList
    /// The frame rate: pictures of a video that are used for each second.
    let frameRate: Double
    let areWindows: Bool
    var isList: Bool { files.isList || areWindows }
    var outputs: [SpecFeatureDescription] { model.engine.interface.classOutputs }

    func answers(_ receive: (Answer) throws -> Void) throws {
        for file in files.paths {
            let windows = try KeypointPredictions.predictions(
                of: model,
                from: URL(fileURLWithPath: file),
                frameRate: frameRate
            )
            try deliver(file, windows, areWindows, model, receive) { range in
                [
                    ("first_frame", .int64(Int64(range.lowerBound))),
                    ("last_frame", .int64(Int64(range.upperBound - 1))),
                ]
            }
        }
    }
}

extension AnswerSource {
    /// Passes on the prediction for a file, or for each of its windows.
    fileprivate func deliver(
        _ file: String,
        _ windows: [WindowPrediction],
        _ areWindows: Bool,
        _ model: MLModel,
        _ receive: (Answer) throws -> Void,
        location: (Range<Int>) -> [(name: String, value: FeatureData)]
    ) throws {
        let interface = model.engine.interface
        let key = (name: "file", value: FeatureData.string(file))
        guard areWindows else {
            return try receive(Answer(keys: [key], outputs: interface.outputs(of: WindowPrediction.mean(of: windows))))
        }
        for window in windows {
            let outputs = interface.outputs(of: window.results)
            try receive(Answer(keys: [key] + location(window.range), outputs: outputs))
        }
    }
}

/// Predictions of an activity classifier for recordings, sample by sample or window by window.
struct ActivityAnswers: AnswerSource {
    let model: MLModel
    let files: FileList
    /// The columns of the sensors; `nil` when the model names them.
    let features: [String]?
    let recordingColumn: String
    let delimiter: String?
    let areWindows: Bool
    let isList = true
    var outputs: [SpecFeatureDescription] { model.engine.interface.classOutputs }

    func answers(_ receive: (Answer) throws -> Void) throws {
        for file in files.paths {
            let table = try TableFile.read(file, delimiter: delimiter, types: [recordingColumn: .string])
            // Among several recordings some may be empty.
            guard table.shape.rows > 0 || files.isList else { throw Failure("\(file) has no rows") }
            guard table.shape.rows > 0 else { continue }
            let recordings: [MLActivityClassifier.RecordingPrediction]
            do {
                recordings = try MLActivityClassifier.predictions(
                    of: model,
                    from: table,
                    features: features,
                    recordingColumn: recordingColumn
                )
            } catch { throw Failure("\(file): \(error)") }
            try areWindows ? windows(recordings, file, receive) : rows(recordings, file, table.shape.rows, receive)
        }
    }

    private func windows(
        _ recordings: [MLActivityClassifier.RecordingPrediction],
        _ file: String,
        _ receive: (Answer) throws -> Void
    ) throws {
        for recording in recordings {
            let size = recording.prediction.windowSize
            for (index, window) in recording.prediction.windows.enumerated() {
                let rows = recording.rows.dropFirst(index * size).prefix(size)
                var keys = keys(recording, file)
                keys.append(("first_row", .int64(Int64(rows.first ?? 0))))
                keys.append(("last_row", .int64(Int64(rows.last ?? 0))))
                try receive(Answer(keys: keys, outputs: outputs(of: window)))
            }
        }
    }

    /// The predictions in the order of the table.
    private func rows(
        _ recordings: [MLActivityClassifier.RecordingPrediction],
        _ file: String,
        _ count: Int,
        _ receive: (Answer) throws -> Void
    ) throws {
        var locations = [(recording: Int, row: Int)](repeating: (0, 0), count: count)
        for (number, recording) in recordings.enumerated() {
            for (location, row) in recording.rows.enumerated() { locations[row] = (number, location) }
        }
        let said = recordings.map(\.prediction.rows)
        for (row, location) in locations.enumerated() {
            var keys = keys(recordings[location.recording], file)
            keys.append(("row", .int64(Int64(row))))
            try receive(Answer(keys: keys, outputs: outputs(of: said[location.recording][location.row])))
        }
    }

    private func keys(
        _ recording: MLActivityClassifier.RecordingPrediction,
        _ file: String
    ) -> [(name: String, value: FeatureData)] {
        [("file", .string(file))] + (recording.name.map { [(recordingColumn, .string($0))] } ?? [])
    }

    private func outputs(of window: ActivityPrediction.Window) -> [String: FeatureData] {
        let fractions = window.probabilities ?? [:]
        var results = [(label: window.label, confidence: fractions[window.label] ?? 1)]
        for (label, share) in fractions where label != window.label { results.append((label, share)) }
        var outputs = model.engine.interface.outputs(of: results)
        if fractions.isEmpty { outputs[model.engine.interface.predictedProbabilitiesName] = nil }
        return outputs
    }
}
