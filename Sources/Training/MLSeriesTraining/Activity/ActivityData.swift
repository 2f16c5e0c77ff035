package import MLNumerics

/// An uninterrupted sensor recording, row by row at a constant sampling rate.
package struct ActivityRecording: Sendable {
    /// The samples of each sensor, by row.
    package let sensors: [[Float]]
    /// The class of each row; `nil` when it is unknown.
    package let labels: [Int]?

    package init(sensors: [[Float]], labels: [Int]?) {
        self.sensors = sensors
        self.labels = labels
    }

    package var rowCount: Int { sensors.first?.count ?? 0 }

    /// The rows from `start` on, followed by those before it.
    func rotated(by start: Int) -> ActivityRecording {
        ActivityRecording(
            sensors: sensors.map { Array($0[start...] + $0[..<start]) },
            labels: labels.map { Array($0[start...] + $0[..<start]) }
        )
    }
}

/// Recordings divided into the windows that an activity classifier reads.
///
/// The rest at the end of a recording, padded, is a window, too: always in predictions and for a classifier of single
/// windows; in training sequences when it is half a window or more, or the whole recording.
package struct ActivityData: Sendable {
    package let windows: RecordingWindows
    package let recordings: [ActivityRecording]
    /// For each sensor the number that is subtracted from each sample; the difference is multiplied by the scale.
    package let offsets: [Float]
    package let scales: [Float]

    /// The padding of windows in our own classifiers.
    private static let padding = RecordingWindows.Padding.lastRow

    /// The number of windows in a training sequence, as in Turi Create.
    package static let chunk = 20

    /// - Parameters:
    ///   - recordings: The recordings, all with the same sensors.
    ///   - names: The recordings' names, for errors.
    ///   - window: The number of rows in a window, at least 1.
    ///   - standardization: The data whose offsets and scales to use; `nil` to compute them from these recordings.
    /// - Throws: `.invalidInput` for a recording without rows, with another number of sensors or with sensors of
    ///   different lengths, and for numbers that are not finite.
    package init(
        _ recordings: [ActivityRecording],
        names: [String],
        window: Int,
        standardization: ActivityData? = nil
    ) throws(ModelError) {
        guard window > 0 else {
            throw ModelError(.invalidInput, "the prediction window is \(window) rows; it must be 1 or more")
        }
        guard let first = recordings.first, !first.sensors.isEmpty else {
            throw ModelError(.invalidInput, "there are no recordings or no feature columns; both are needed")
        }
        for (recording, name) in zip(recordings, names) {
            guard recording.sensors.count == first.sensors.count else {
                throw ModelError(
                    .invalidInput,
                    "recording '\(name)' has \(recording.sensors.count) sensors, the first one \(first.sensors.count)"
                )
            }
            let rows = recording.rowCount
            guard rows > 0 else {
                throw ModelError(.invalidInput, "recording '\(name)' is empty; remove it")
            }
            for (sensor, values) in recording.sensors.enumerated() {
                guard values.count == rows else {
                    throw ModelError(
                        .invalidInput,
                        "recording '\(name)': feature column \(sensor) has \(values.count) rows where column 0 has \(rows)"
                    )
                }
                if let row = values.firstIndex(where: { !$0.isFinite }) {
                    throw ModelError(
                        .invalidInput,
                        "recording '\(name)', row \(row): feature column \(sensor) is \(values[row]); "
                            + "fill or remove missing values"
                    )
                }
            }
            if let labels = recording.labels, labels.count != rows {
                throw ModelError(.invalidInput, "recording '\(name)' has \(labels.count) labels for \(rows) rows")
            }
        }
        windows = RecordingWindows(size: window, padding: Self.padding)
        self.recordings = recordings
        if let standardization {
            guard standardization.offsets.count == first.sensors.count else {
                throw ModelError(
                    .invalidInput,
                    "the data has \(first.sensors.count) feature columns; the model was trained with "
                        + "\(standardization.offsets.count)"
                )
            }
            (offsets, scales) = (standardization.offsets, standardization.scales)
            return
        }
        var offsets: [Float] = []
        var scales: [Float] = []
        for sensor in first.sensors.indices {
            var (count, sum, squares) = (0.0, 0.0, 0.0)
            for recording in recordings {
                for value in recording.sensors[sensor] {
                    count += 1
                    sum += Double(value)
                }
            }
            let mean = sum / count
            for recording in recordings {
                for value in recording.sensors[sensor] { squares += (Double(value) - mean) * (Double(value) - mean) }
            }
            let deviation = (squares / count).squareRoot()
            offsets.append(Float(mean))
            scales.append(deviation > 1e-12 ? Float(1 / deviation) : 1)
        }
        (self.offsets, self.scales) = (offsets, scales)
    }

    package var window: Int { windows.size }

    /// The number of recordings that are shorter than a window.
    package var shortCount: Int { recordings.count { $0.rowCount < window } }

    /// The number of windows in `examples()`.
    var windowCount: Int { recordings.reduce(0) { $0 + starts($1).count } }

    /// The first rows of the windows that a classifier of single windows is trained on.
    ///
    /// They start at every half window, and where the rest starts in a prediction, however short it is: otherwise
    /// padded windows would not occur in training.
    private func starts(_ recording: ActivityRecording) -> [Int] {
        let rows = recording.rowCount
        let rest = windows.rest(rows: rows)
        return Array(stride(from: 0, through: rows - window, by: Swift.max(1, window / 2)))
            + (rest > 0 ? [rows - rest] : [])
    }

    /// The index of the recording that each of `examples()` belongs to.
    var windowRecordings: [Int] {
        recordings.enumerated().flatMap { index, recording in
            [Int](repeating: index, count: recording.labels == nil ? 0 : starts(recording).count)
        }
    }

    /// Labelled windows, each [sensors, window].
    package func examples() -> LabeledExamples {
        var result = LabeledExamples()
        result.values.reserveCapacity(windowCount * offsets.count * window)
        for recording in recordings where recording.labels != nil {
            for start in starts(recording) { append(recording, start, to: &result) }
        }
        return result
    }

    /// The number of windows in a training sequence, at most `chunk`.
    package var sequenceLength: Int {
        recordings.reduce(1) { Swift.max($0, Swift.min(Self.chunk, ($1.rowCount + window / 2) / window)) }
    }

    /// The training sequences of a pass.
    ///
    /// From pass 1 on each recording starts at a random row, as new recordings will. A recording with a single class is
    /// rotated, so that nothing of it is lost; another one loses less than a window at its start, and keeps at least
    /// one window.
    package func chunks(pass: UInt64, seed: UInt64) -> SequenceExamples {
        var result = SequenceExamples(inputCount: offsets.count * window)
        var source = SplitMix64(seed: seed &+ pass &* 0x9FB2_1C65_1E98_DF25)
        for recording in recordings {
            let showsOne = recording.labels.map { labels in labels.allSatisfy { $0 == labels[0] } } ?? false
            let startCount = showsOne ? recording.rowCount : Swift.min(window, recording.rowCount - window + 1)
            let draw = Int(source.next() % UInt64(Swift.max(startCount, 1)))
            let start = pass == 0 ? 0 : draw
            let rows = showsOne ? recording.rowCount : recording.rowCount - start
            let count = Swift.max(1, (rows + window / 2) / window)
            let shifted = showsOne && start > 0 ? recording.rotated(by: start) : recording
            for first in stride(from: 0, to: count, by: Self.chunk) {
                append(
                    shifted,
                    start: (showsOne ? 0 : start) + first * window,
                    count: Swift.min(Self.chunk, count - first),
                    to: &result
                )
            }
        }
        return result
    }

    /// Each recording as one sequence.
    package func sequences() -> SequenceExamples {
        var result = SequenceExamples(inputCount: offsets.count * window)
        for recording in recordings {
            append(recording, start: 0, count: windows.count(rows: recording.rowCount), to: &result)
        }
        return result
    }

    private func append(
        _ recording: ActivityRecording,
        start: Int,
        count: Int,
        to result: inout SequenceExamples
    ) {
        var examples = LabeledExamples()
        examples.values.reserveCapacity(count * result.inputCount)
        for index in 0..<count { append(recording, start + index * window, to: &examples) }
        result.append(features: examples.values, labels: examples.labels)
    }

    /// Appends the window that starts at a row; a recording without labels has the class −1.
    private func append(_ recording: ActivityRecording, _ first: Int, to result: inout LabeledExamples) {
        for (sensor, values) in recording.sensors.enumerated() {
            for sample in windows.samples(of: values, from: first) {
                result.values.append((sample - offsets[sensor]) * scales[sensor])
            }
        }
        result.labels.append(
            recording.labels.map { Self.mostFrequent($0[first..<Swift.min(first + window, $0.count)]) } ?? -1
        )
    }

    /// The most frequent label; in a tie the one that comes first.
    private static func mostFrequent(_ labels: ArraySlice<Int>) -> Int {
        var counts: [Int: Int] = [:]
        for label in labels { counts[label, default: 0] += 1 }
        let maximum = counts.values.max() ?? 0
        return labels.first { counts[$0] == maximum } ?? -1
    }
}
