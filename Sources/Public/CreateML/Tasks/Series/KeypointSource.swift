import Foundation
import MLNumerics
import MLSeriesTraining
import TabularData

/// A data source of labelled key points, independent of the task.
enum KeypointSource {
    /// The columns of files, their labels, and where a video's part begins and ends in seconds.
    struct Columns {
        var file: String
        var label: String
        var start: String?
        var end: String?

        var names: [String] { [file, label] + [start, end].compactMap { $0 } }
    }

    /// Poses in a table.
    case keypoints(DataFrame, session: String, label: String, feature: String)
    /// Files in a folder for each label.
    case directories(URL)
    /// Files whose names begin with their labels.
    case files(URL)
    /// Files of a folder that a table in a file lists.
    case annotated(folder: URL, file: URL, Columns)
    /// Files that a table lists.
    case media(DataFrame, Columns)

    /// The paths of the files and their labels; `nil` for key points in memory.
    func annotatedFileNames(includingFolders: Bool) throws -> DataFrame? {
        switch self {
        case .directories, .files: KeypointTable.table(try labeledMedia(includingFolders: includingFolders))
        case .annotated(_, let file, let columns): try DataFrame.seriesTable(at: file).seriesColumns(columns.names)
        case .media(let frame, let columns): try frame.seriesColumns(columns.names)
        case .keypoints: nil
        }
    }

    /// The files of each label.
    func labeledMedia(includingFolders: Bool) throws -> [String: [URL]] {
        switch self {
        case .directories(let url): try LabeledFolders.directories(at: url, includingFolders: includingFolders)
        case .files(let url): try LabeledFolders.files(at: url, includingFolders: includingFolders)
        default:
            throw MLCreateError.generic(reason: "only labelled directories and labelled files are files by label")
        }
    }

    /// Reads the sessions of key points.
    /// - Parameter reader: Reads files.
    /// - Returns: The sessions with their labels, and the pictures and videos that are left out.
    /// - Throws: `MLCreateError` for data that cannot be used, and if nothing was found in any file.
    func sessions(_ reader: KeypointReader) throws -> KeypointTable.Extracted {
        switch self {
        case .keypoints(let frame, let session, let label, let feature):
            let sessions = try KeypointTable.sessions(
                frame,
                reader.skeleton,
                session: session,
                label: label,
                feature: feature
            )
            return KeypointTable.Extracted(sessions: sessions)
        case .directories, .files:
            let files = try labeledMedia(includingFolders: reader.readsVideos)
            return try KeypointTable.sessions(
                files.keys.sorted().flatMap { label in
                    (files[label] ?? []).map {
                        KeypointTable.Recording(name: label + "/" + $0.lastPathComponent, label: label, url: $0)
                    }
                },
                reader
            )
        case .annotated(let folder, let file, let columns):
            let frame = try DataFrame.seriesTable(at: file)
            return try KeypointTable.sessions(KeypointTable.recordings(frame, columns, in: folder), reader)
        case .media(let frame, let columns):
            return try KeypointTable.sessions(KeypointTable.recordings(frame, columns, in: nil), reader)
        }
    }
}

extension KeypointTable {
    /// A file with its label, or a part of a video.
    struct Recording: Sendable {
        var name: String
        var label: String
        var url: URL
        var seconds: ClosedRange<Double>?
    }

    /// The files that a table lists.
    /// - Parameters:
    ///   - frame: The table.
    ///   - columns: Its columns.
    ///   - folder: The folder that relative paths start from; the working directory if `nil`.
    /// - Returns: A recording for each row.
    /// - Throws: `MLCreateError` for a table without rows or with other columns.
    static func recordings(
        _ frame: DataFrame,
        _ columns: KeypointSource.Columns,
        in folder: URL?
    ) throws -> [Recording] {
        guard frame.shape.rows > 0 else {
            throw MLCreateError.generic(reason: "the table of files has no rows to train on")
        }
        let files = try frame.seriesTexts(columns.file, for: "the files")
        let labels = try frame.seriesTexts(columns.label, for: "the labels")
        let starts = try columns.start.map { try frame.seriesNumbers($0) }
        let ends = try columns.end.map { try frame.seriesNumbers($0) }
        return try files.indices.map { row in
            var seconds: ClosedRange<Double>?
            if starts != nil || ends != nil {
                let start = Double(starts?[row] ?? 0)
                let end = ends.map { Double($0[row]) } ?? .infinity
                guard start >= 0, start < end else {
                    throw MLCreateError.generic(
                        reason:
                            "row \(row) is the part of '\(files[row])' from \(start) to \(end) seconds; a part ends "
                            + "after it begins"
                    )
                }
                seconds = start...end
            }
            let url = URL(fileURLWithPath: LabeledFolders.path(files[row], in: folder))
            let name = seconds.map { "\(files[row]) (\($0.lowerBound)-\($0.upperBound))" } ?? files[row]
            return Recording(name: name, label: labels[row], url: url, seconds: seconds)
        }
    }

    /// Sessions, and the files in which nothing was found.
    struct Extracted {
        var sessions: [Session]
        var skipped: [SkippedFile] = []
    }

    /// The sessions of files; those in which nothing was found are left out.
    static func sessions(_ recordings: [Recording], _ reader: KeypointReader) throws -> Extracted {
        let results = ImageReader.map(recordings.count) { index -> Result<PoseSequence?, any Error> in
            Result { try reader.poses(at: recordings[index].url, seconds: recordings[index].seconds) }
        }
        var found = Extracted(sessions: [])
        for (recording, result) in zip(recordings, results) {
            if let poses = try result.get() {
                found.sessions.append(Session(name: recording.name, label: recording.label, poses: poses))
            } else {
                found.skipped.append(
                    SkippedFile(
                        path: recording.url.path,
                        label: recording.label,
                        reason: "no \(reader.skeleton.name) was found"
                    )
                )
            }
        }
        guard !found.sessions.isEmpty else {
            throw MLCreateError.generic(
                reason: "no \(reader.skeleton.name) was found in any of \(recordings.count) files, the first of which "
                    + "is \(recordings.first?.url.path ?? "none"); use images that show it whole and large"
            )
        }
        return found
    }
}

/// The data source of a classifier of key points.
protocol KeypointDataSource: MLKeypointDataSource {
    /// The number of joints of a pose.
    static var jointCount: Int { get }
    /// Whether key points are extracted from videos; from pictures otherwise.
    static var readsVideos: Bool { get }

    /// The source independent of the task.
    /// - Throws: The error of a data table if it is invalid.
    func source() throws -> KeypointSource
}

extension KeypointDataSource {
    /// Reads files for the task.
    static func reader(frameRate: Double? = nil) throws -> KeypointReader {
        var reader = KeypointReader(skeleton: try Skeleton(jointCount: jointCount), readsVideos: readsVideos)
        if let frameRate {
            guard frameRate > 0, frameRate <= 1000 else {
                throw MLCreateError.generic(
                    reason: "the frame rate is \(frameRate); videos are sampled at most 1000 times per second"
                )
            }
            reader.frameRate = frameRate
        }
        return reader
    }

    func sessions(frameRate: Double? = nil) throws -> KeypointTable.Extracted {
        try source().sessions(Self.reader(frameRate: frameRate))
    }

    func annotatedFileNamesTable() throws -> DataFrame? {
        try source().annotatedFileNames(includingFolders: Self.readsVideos)
    }

    func filesByLabel() throws -> [String: [URL]] {
        try source().labeledMedia(includingFolders: Self.readsVideos)
    }
}

extension Skeleton {
    /// The skeleton with a number of joints.
    /// - Throws: `MLCreateError.generic` if neither hands nor bodies have as many.
    init(jointCount: Int) throws {
        guard let found = Self.allCases.first(where: { $0.jointCount == jointCount }) else {
            throw MLCreateError.generic(reason: "poses of \(jointCount) joints; hands have 21 and bodies 18")
        }
        self = found
    }

    /// Its name in messages.
    var name: String {
        switch self {
        case .hand: "hand"
        case .body: "body"
        }
    }
}
