import Foundation
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLPoses
import MLSeriesTraining
import TabularData

/// Reads the poses in files: tables of key points, pictures, videos, and folders of a video's pictures.
struct KeypointReader: Sendable {
    /// The skeleton that is detected in pictures.
    let skeleton: Skeleton
    /// Whether files are videos; pictures otherwise.
    let readsVideos: Bool
    /// The frame rate: pictures of a video that are used for each second.
    var frameRate = 30.0
    /// The folder of the installed joint finders.
    let store = ExtractorStore.user

    private static let tables: Set<String> = ["json", "csv", "tsv"]

    /// The poses in a file.
    ///
    /// - Parameters:
    ///   - url: The file or folder.
    ///   - seconds: The part of a video; the whole by default.
    /// - Returns: The poses, one for each row, picture or sampled picture; `nil` if nothing that has poses was found in a
    ///   picture or in any picture of a video.
    /// - Throws: `MLCreateError` for files that cannot be read, and the command that installs what finds joints.
    func poses(at url: URL, seconds: ClosedRange<Double>? = nil) throws -> PoseSequence? {
        if Self.tables.contains(url.pathExtension.lowercased()) {
            guard seconds == nil else {
                throw MLCreateError.generic(
                    reason: "\(url.path) is a table of key points; start and end times are for videos"
                )
            }
            return try table(url)
        }
        return try MLCreateError.translating {
            let values = try readsVideos ? video(url, seconds) : picture(url)
            let size = 3 * skeleton.jointCount
            guard
                stride(from: 0, to: values.count, by: size).contains(where: { start in
                    values[start + 2 * skeleton.jointCount..<start + size].contains { $0 > 0 }
                })
            else { return nil }
            return try PoseSequence(values, skeleton, name: url.path)
        }
    }

    /// The poses in a file.
    /// - Throws: The errors of `poses(at:seconds:)`, and `MLCreateError.generic` if nothing that has poses was found.
    func foundPoses(at url: URL) throws -> PoseSequence {
        guard let poses = try poses(at: url) else {
            throw MLCreateError.generic(reason: "no \(skeleton.name) was found in \(url.path)")
        }
        return poses
    }

    private func table(_ url: URL) throws -> PoseSequence {
        let values = try DataFrame.seriesTable(at: url).seriesArrays(KeypointTable.featureColumn)
        return try MLCreateError.translating {
            try PoseSequence(values.flatMap { $0 }, skeleton, name: url.path)
        }
    }

    /// The pose in a picture: [3, joints]; zeros if there is none.
    private func picture(_ url: URL) throws(ModelError) -> [Float] {
        let bitmap = try Self.bitmap(url)
        switch skeleton {
        case .hand:
            let hand = try PoseFinders.hands(store).hands(in: bitmap, atMost: 2).max { $0.confidence < $1.confidence }
            return hand?.values ?? nothing
        case .body: return try PoseFinders.bodies(store).bodies(in: bitmap, atMost: 1).first?.values ?? nothing
        }
    }

    private static func bitmap(_ url: URL) throws(ModelError) -> Bitmap {
        do throws(ModelError) {
            return try ImageReader.read(url.path).bitmap
        } catch {
            throw ModelError(error.code, error.message, at: url.path)
        }
    }

    /// The poses of one person or hand in a video, or in a folder of its pictures: [frames, 3, joints].
    private func video(_ url: URL, _ seconds: ClosedRange<Double>?) throws(ModelError) -> [Float] {
        var follow: (Bitmap) throws(ModelError) -> [Float]?
        switch skeleton {
        case .hand:
            var tracker = HandTracker(try PoseFinders.hands(store))
            follow = { (picture) throws(ModelError) in try tracker.next(picture)?.values }
        case .body:
            var tracker = BodyTracker(try PoseFinders.bodies(store))
            follow = { (picture) throws(ModelError) in try tracker.next(picture)?.values }
        }
        var values: [Float] = []
        if LabeledFolders.isFolder(url) {
            for file in try frames(in: url, seconds) { values += try follow(try Self.bitmap(file)) ?? nothing }
        } else {
            let frames = try VideoFrames(url, frameRate: frameRate, seconds: seconds)
            while let picture = try frames.next() { values += try follow(picture) ?? nothing }
        }
        guard !values.isEmpty else { throw ModelError(.invalidInput, "the video has no frames", at: url.path) }
        return values
    }

    /// The pictures in a folder, by name; those of a part, where a second has `frameRate` of them.
    private func frames(in url: URL, _ seconds: ClosedRange<Double>?) throws(ModelError) -> [URL] {
        let files: [URL]
        do {
            files = try LabeledFolders.contents(of: url).filter { !LabeledFolders.isFolder($0) }
        } catch {
            throw ModelError(.io, "the folder cannot be read", at: url.path)
        }
        guard let seconds else { return files }
        func number(_ time: Double) -> Int { Int(min(max((time * frameRate).rounded(), 0), Double(files.count))) }
        return Array(files[number(seconds.lowerBound)..<max(number(seconds.upperBound), number(seconds.lowerBound))])
    }

    private var nothing: [Float] { [Float](repeating: 0, count: 3 * skeleton.jointCount) }
}
