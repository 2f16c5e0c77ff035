import CoreML
import Foundation
import MLNumerics
import MLSeriesTraining
import TabularData

/// Tables of key points of hands and bodies.
struct KeypointTable {
    /// The columns of files and of tables that are made here.
    static let (sessionColumn, labelColumn, featureColumn) = ("session_id", "label", "keypoints")

    /// A session: its name, its label, and its poses in the order of the rows.
    struct Session {
        var name: String
        var label: String
        var poses: PoseSequence
    }

    /// The sessions of a table, in the order of their first rows.
    ///
    /// A row holds one or more poses, 3 × joints numbers each: all x, all y, all confidences.
    static func sessions(
        _ frame: DataFrame,
        _ skeleton: Skeleton,
        session: String,
        label: String,
        feature: String
    ) throws -> [Session] {
        guard frame.shape.rows > 0 else {
            throw MLCreateError.generic(reason: "the table of key points has no rows to train on")
        }
        let groups = RowGroups(try frame.seriesTexts(session, for: "the session"))
        let labels = try frame.seriesTexts(label, for: "the labels")
        let values = try frame.seriesArrays(feature)
        return try zip(groups.names, groups.rows).map { name, rows in
            if let row = rows.first(where: { labels[$0] != labels[rows[0]] }) {
                throw MLCreateError.generic(
                    reason:
                        "the session '\(name)' has two labels, '\(labels[rows[0]])' and '\(labels[row])' in row \(row); "
                        + "a session shows one"
                )
            }
            let size = 3 * skeleton.jointCount
            for row in rows where values[row].isEmpty || values[row].count % size != 0 {
                throw MLCreateError.generic(
                    reason: "row \(row) of the column '\(feature)' has \(values[row].count) numbers; poses of "
                        + "\(skeleton.jointCount) joints have \(size) each: x, y and confidence"
                )
            }
            let poses = try MLCreateError.translating {
                try PoseSequence(rows.flatMap { values[$0] }, skeleton, name: "session '\(name)'")
            }
            return Session(name: name, label: labels[rows[0]], poses: poses)
        }
    }
}

/// Windows of poses for a classifier of actions, or of single poses.
struct ActionWindows {
    let skeleton: Skeleton
    let frames: Int

    /// The windows of a session, each of which overlaps the next by half.
    ///
    /// A session shorter than a window is one window, in which its last pose is repeated.
    func windows(_ poses: PoseSequence) -> [[Float]] {
        let hop = max(1, frames / 2)
        return stride(from: 0, through: max(0, poses.frameCount - frames), by: hop).map {
            poses.frames($0..<$0 + frames)
        }
    }

    /// The model's prediction for each window: its frames, and the classes, the most probable first.
    func results(
        of model: MLModel,
        _ poses: PoseSequence
    ) throws -> [(frames: Range<Int>, results: [(label: String, confidence: Double)])] {
        try windows(poses).enumerated().map { index, window in
            let start = index * max(1, frames / 2)
            return (
                start..<min(start + frames, poses.frameCount),
                try SeriesOutcome.results(of: model, "poses", window, [frames, 3, skeleton.jointCount])
            )
        }
    }

    /// The metrics of a model on sessions, window by window.
    func metrics(
        _ sessions: [KeypointTable.Session],
        _ model: MLModel,
        _ outcome: SeriesOutcome
    ) throws -> MLClassifierMetrics {
        var (truth, predictions): ([String], [String]) = ([], [])
        for session in sessions {
            for window in try results(of: model, session.poses) {
                truth.append(session.label)
                predictions.append(window.results.first?.label ?? "")
            }
        }
        return outcome.metrics(truth, predictions)
    }

    /// All windows of the sessions, and for each augmentation a randomly changed copy.
    func examples(
        _ sessions: [KeypointTable.Session],
        _ numbers: LabelNumbers,
        _ augmentations: [PoseAugmentation],
        seed: UInt64
    ) throws -> LabeledExamples {
        var result = LabeledExamples()
        var source = SplitMix64(seed: seed)
        for session in sessions {
            let label = try numbers.number(of: session.label)
            for window in windows(session.poses) {
                result.append(window, label)
                for augmentation in augmentations {
                    result.append(augmentation.changed(window, skeleton, &source), label)
                }
            }
        }
        return result
    }
}

/// A change of poses that preserves their class.
enum PoseAugmentation: Sendable {
    case flip, rotate, scale, translate, dropFrames, interpolateFrames

    /// A changed copy of a window.
    /// - Parameters:
    ///   - window: The poses: [frames, 3, joints].
    ///   - skeleton: The joints of a pose.
    ///   - source: The source of random numbers.
    /// - Returns: The changed poses: [frames, 3, joints].
    func changed(_ window: [Float], _ skeleton: Skeleton, _ source: inout SplitMix64) -> [Float] {
        func unit() -> Float { Float(source.next() >> 40) * 0x1p-24 }
        let joints = skeleton.jointCount
        let size = 3 * joints
        let count = window.count / size
        var result = window
        func isSeen(_ frame: Int, _ joint: Int) -> Bool { window[frame * size + 2 * joints + joint] > 0 }
        /// The centre of the joints that were detected.
        func centre() -> (Float, Float) {
            var (x, y, number): (Float, Float, Float) = (0, 0, 0)
            for frame in 0..<count {
                for joint in 0..<joints where isSeen(frame, joint) {
                    x += window[frame * size + joint]
                    y += window[frame * size + joints + joint]
                    number += 1
                }
            }
            return number > 0 ? (x / number, y / number) : (0, 0)
        }
        func mapped(_ change: (Float, Float) -> (Float, Float)) {
            for frame in 0..<count {
                for joint in 0..<joints where isSeen(frame, joint) {
                    let position = frame * size + joint
                    (result[position], result[position + joints]) = change(window[position], window[position + joints])
                }
            }
        }
        switch self {
        case .flip:
            // Mirrors at the middle of the picture, whose width is 1, and exchanges left and right joints.
            for frame in 0..<count {
                for (joint, other) in skeleton.mirrored.enumerated() {
                    let position = frame * size + joint
                    result[position] = isSeen(frame, other) ? 1 - window[frame * size + other] : 0
                    result[position + joints] = window[frame * size + joints + other]
                    result[position + 2 * joints] = window[frame * size + 2 * joints + other]
                }
            }
        case .rotate:
            let angle = (2 * unit() - 1) * .pi / 9
            let (cx, cy) = centre()
            let (c, s) = (Float(cos(Double(angle))), Float(sin(Double(angle))))
            mapped { x, y in (cx + c * (x - cx) - s * (y - cy), cy + s * (x - cx) + c * (y - cy)) }
        case .scale:
            let factor = 0.8 + 0.4 * unit()
            let (cx, cy) = centre()
            mapped { x, y in (cx + factor * (x - cx), cy + factor * (y - cy)) }
        case .translate:
            let (dx, dy) = (0.2 * unit() - 0.1, 0.2 * unit() - 0.1)
            mapped { x, y in (x + dx, y + dy) }
        case .dropFrames:
            // Replaces one pose in ten, on average, by the one before.
            for frame in 1..<max(count, 1) where unit() < 0.1 {
                result.replaceSubrange(
                    frame * size..<(frame + 1) * size,
                    with: Array(result[(frame - 1) * size..<frame * size])
                )
            }
        case .interpolateFrames:
            // Slows down by up to a quarter, with linear interpolation between poses.
            let speed = 0.75 + 0.25 * unit()
            for frame in 0..<count {
                let position = Float(frame) * speed
                let (first, part) = (Int(position), position - Float(Int(position)))
                let second = min(first + 1, count - 1)
                for joint in 0..<joints {
                    let isWhole = isSeen(first, joint) && isSeen(second, joint)
                    for axis in 0..<3 {
                        let (a, b) = (
                            window[first * size + axis * joints + joint], window[second * size + axis * joints + joint]
                        )
                        result[frame * size + axis * joints + joint] = isWhole ? a + (b - a) * part : a
                    }
                }
            }
        }
        return result
    }
}

extension KeypointTable {
    /// Sessions as a table with a row for each frame.
    static func table(_ sessions: [Session]) -> DataFrame {
        var (names, labels, poses): ([String], [String], [[Double]]) = ([], [], [])
        for session in sessions {
            for frame in 0..<session.poses.frameCount {
                names.append(session.name)
                labels.append(session.label)
                poses.append(session.poses.frames(frame..<frame + 1).map { Double($0) })
            }
        }
        return DataFrame(columns: [
            Column<String>(name: sessionColumn, contents: names).eraseToAnyColumn(),
            Column<String>(name: labelColumn, contents: labels).eraseToAnyColumn(),
            Column<[Double]>(name: featureColumn, contents: poses).eraseToAnyColumn(),
        ])
    }

    /// Files as a table of their paths and labels.
    static func table(_ files: [String: [URL]]) -> DataFrame {
        let rows = files.keys.sorted().flatMap { label in (files[label] ?? []).map { ($0.path, label) } }
        return DataFrame(columns: [
            Column<String>(name: "filePath", contents: rows.map(\.0)).eraseToAnyColumn(),
            Column<String>(name: labelColumn, contents: rows.map(\.1)).eraseToAnyColumn(),
        ])
    }
}
