import Foundation
import Glibc
import MLFiles
import MLTrainingCore

/// The folder of a training session.
///
/// `session.json` describes the task, its parameters and data; `<phase>.data` holds the data that the run is made of,
/// and `checkpoints/<phase>-<iteration>.checkpoint` its states.  Every file is written under another name, flushed to
/// disk and renamed: whenever the process dies, each file exists completely or not at all.
struct SessionFolder: Sendable {
    let url: URL

    /// The contents of `session.json`.
    struct Description: Codable {
        var format = 1
        var task: String
        /// The phase that the session began with.
        var phase: MLPhase
        var date: Date
        var fingerprint: String
        /// Pairs of a parameter's name and value.
        var parameters: [[String]]
    }

    private var descriptionURL: URL { url.appendingPathComponent("session.json") }
    private var checkpointsURL: URL { url.appendingPathComponent("checkpoints", isDirectory: true) }

    var exists: Bool { FileManager.default.fileExists(atPath: descriptionURL.path) }

    /// The folder that a checkpoint belongs to.
    static func of(_ checkpoint: MLCheckpoint) -> SessionFolder {
        SessionFolder(url: checkpoint.url.deletingLastPathComponent().deletingLastPathComponent())
    }

    // MARK: Description

    /// Begins a session; the data are written first, so that a folder with a description is complete.
    func begin(_ description: Description, _ data: [UInt8]) throws {
        try makeFolder(checkpointsURL)
        for file in try files() { try remove(file) }
        try write(data, of: description.phase)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try Self.writeDurably([UInt8](try encoder.encode(description)), to: descriptionURL)
    }

    func readDescription() throws -> Description {
        let bytes = try Self.read(descriptionURL, "there is no training session in \(url.path); make one first")
        let description: Description
        do { description = try JSONDecoder().decode(Description.self, from: Data(bytes)) } catch {
            throw MLCreateError.io(
                reason: "\(descriptionURL.path) is not a session's description (\(error)); use another directory"
            )
        }
        guard description.format == 1, description.parameters.allSatisfy({ $0.count == 2 }) else {
            throw MLCreateError.io(
                reason: "\(descriptionURL.path) is of a format that is not known here (\(description.format)); "
                    + "use another directory"
            )
        }
        return description
    }

    // MARK: Data

    func write(_ data: [UInt8], of phase: MLPhase) throws {
        var writer = CheckpointWriter()
        writer.write(Fingerprint.of(data, .wideProduct))
        try Self.writeDurably(writer.bytes + data, to: url.appendingPathComponent(phase.rawValue + ".data"))
    }

    func readData(of phase: MLPhase) throws -> [UInt8] {
        let file = url.appendingPathComponent(phase.rawValue + ".data")
        let bytes = try Self.read(file, "the session's data \(file.path) are missing; begin it again")
        let data = Array(bytes.dropFirst(8))
        var writer = CheckpointWriter()
        writer.write(Fingerprint.of(data, .wideProduct))
        guard Array(bytes.prefix(8)) == writer.bytes else {
            throw MLCreateError.io(reason: "the session's data \(file.path) are damaged; begin it again")
        }
        return data
    }

    // MARK: Checkpoints

    private struct Header: Codable {
        var task: String
        var phase: MLPhase
        var iteration: Int
        var date: Date
        var metrics: CodedMetrics
        var fingerprint: String
        var count: Int
        var sum: String
    }

    private static let magic: [UInt8] = Array("MLCREATE".utf8)
    private static let largestHeader = 1 << 20

    /// Saves a state.
    /// - Returns: The checkpoint, which is on disk by then.
    func save(
        _ state: [UInt8],
        task: String,
        fingerprint: UInt64,
        phase: MLPhase,
        iteration: Int,
        metrics: [MLProgress.Metric: Any]
    ) throws -> MLCheckpoint {
        let file = checkpointsURL.appendingPathComponent(Self.name(phase, iteration) + ".checkpoint")
        let checkpoint = MLCheckpoint(url: file, phase: phase, iteration: iteration, date: Date(), metrics: metrics)
        let header = Header(
            task: task,
            phase: phase,
            iteration: iteration,
            date: checkpoint.date,
            metrics: CodedMetrics(metrics: metrics),
            fingerprint: String(fingerprint, radix: 16),
            count: state.count,
            sum: String(Fingerprint.of(state, .wideProduct), radix: 16)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = [UInt8](try encoder.encode(header))
        var writer = CheckpointWriter()
        writer.write(UInt32(text.count))
        try Self.writeDurably(Self.magic + writer.bytes + text + state, to: file)
        return checkpoint
    }

    private static func name(_ phase: MLPhase, _ iteration: Int) -> String {
        let number = String(iteration)
        return phase.rawValue + "-" + String(repeating: "0", count: max(0, 8 - number.count)) + number
    }

    /// Writes a picture of the progress, a PNG file, under the name of its checkpoint.
    /// - Returns: The picture's file.
    func write(_ picture: [UInt8], of phase: MLPhase, iteration: Int) throws -> URL {
        try makeFolder(checkpointsURL)
        let file = checkpointsURL.appendingPathComponent(Self.name(phase, iteration) + Self.pictureExtension)
        try Self.writeDurably(picture, to: file)
        return file
    }

    private static let pictureExtension = ".png"

    /// Removes a checkpoint, and the picture of its iteration if there is one.
    func remove(_ checkpoint: MLCheckpoint) throws {
        let picture = checkpoint.url.deletingPathExtension().path + Self.pictureExtension
        if FileManager.default.fileExists(atPath: picture) { try remove(URL(fileURLWithPath: picture)) }
        try remove(checkpoint.url)
    }

    /// The checkpoints in the order in which they were made.
    func checkpoints(of task: String) throws -> [MLCheckpoint] {
        var found: [(checkpoint: MLCheckpoint, place: Int)] = []
        for file in try files() {
            let name = file.lastPathComponent
            guard name.hasSuffix(".checkpoint"), !name.hasPrefix(".") else { continue }
            let header = try readHeader(file, task).header
            let checkpoint = MLCheckpoint(
                url: file,
                phase: header.phase,
                iteration: header.iteration,
                date: header.date,
                metrics: header.metrics.metrics
            )
            found.append((checkpoint, header.phase == .extractingFeatures ? 0 : 1))
        }
        return found.sorted { ($0.place, $0.checkpoint.iteration) < ($1.place, $1.checkpoint.iteration) }
            .map(\.checkpoint)
    }

    private func readHeader(_ file: URL, _ task: String) throws -> (header: Header, bytes: [UInt8], start: Int) {
        let bytes = try Self.read(file, "the checkpoint \(file.path) is missing")
        func damaged(_ detail: String) -> MLCreateError {
            .io(reason: "the checkpoint \(file.path) is damaged (\(detail)); remove it to use the one before it")
        }
        guard bytes.count >= 12, Array(bytes[..<8]) == Self.magic else { throw damaged("it does not begin as one") }
        let length = Int(bytes[8]) | Int(bytes[9]) << 8 | Int(bytes[10]) << 16 | Int(bytes[11]) << 24
        guard length <= Self.largestHeader, 12 + length <= bytes.count else { throw damaged("it ends early") }
        let header: Header
        do { header = try JSONDecoder().decode(Header.self, from: Data(bytes[12..<12 + length])) } catch {
            throw damaged("its description cannot be read: \(error)")
        }
        guard header.count == bytes.count - 12 - length else { throw damaged("its length is not the stated one") }
        guard header.iteration >= 0 else { throw damaged("its iteration is negative") }
        guard header.task == task else {
            throw MLCreateError.generic(reason: "\(file.path) is a checkpoint of \(header.task), not of \(task)")
        }
        return (header, bytes, 12 + length)
    }

    /// The state in a checkpoint's file, and the fingerprint of the data that it belongs to.
    func state(of checkpoint: MLCheckpoint, task: String) throws -> (state: [UInt8], fingerprint: String) {
        let (header, bytes, start) = try readHeader(checkpoint.url, task)
        let state = Array(bytes[start...])
        guard String(Fingerprint.of(state, .wideProduct), radix: 16) == header.sum else {
            throw MLCreateError.io(
                reason: "the checkpoint \(checkpoint.url.path) is damaged (its sum is wrong); remove it, and the one "
                    + "before it is used"
            )
        }
        return (state, header.fingerprint)
    }

    /// Removes files that an interrupted write left behind.
    func clean() throws {
        for folder in [url, checkpointsURL] {
            for file in try files(in: folder) where file.lastPathComponent.hasPrefix(Self.unfinished) {
                try remove(file)
            }
        }
    }

    func remove(_ file: URL) throws {
        do { try FileManager.default.removeItem(at: file) } catch {
            throw MLCreateError.io(reason: "cannot remove \(file.path): \(error.localizedDescription)")
        }
    }

    private func files(in folder: URL? = nil) throws -> [URL] {
        let folder = folder ?? checkpointsURL
        do {
            return try MLCreateError.translating {
                try FileAccess.names(in: folder.path).map { folder.appendingPathComponent($0) }
            }
        }
    }

    private func makeFolder(_ folder: URL) throws {
        try MLCreateError.translating { try FileAccess.makeFolder(folder.path) }
    }

    // MARK: Files

    private static let unfinished = ".unfinished-"

    private static func read(_ file: URL, _ missing: String) throws -> [UInt8] {
        guard FileAccess.kind(of: file.path) == .file else { throw MLCreateError.io(reason: missing) }
        return try MLCreateError.translating { try FileAccess.read(file.path) }
    }

    /// Writes a file atomically and flushes it to disk: it is new and complete, or as it was before.
    private static func writeDurably(_ bytes: [UInt8], to file: URL) throws {
        let folder = file.deletingLastPathComponent().path
        let temporary = "\(folder)/\(unfinished)\(getpid())-\(UInt32.random(in: .min ... .max))"
        func failure(_ action: String) -> MLCreateError {
            .io(reason: "cannot \(action) \(file.path): \(String(cString: strerror(errno)))")
        }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("write") }
        do {
            defer { close(descriptor) }
            try bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let written = Glibc.write(
                        descriptor,
                        UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                        rest.count
                    )
                    if written < 0 {
                        if errno == EINTR { continue }
                        throw failure("write")
                    }
                    rest = rest.dropFirst(written)
                }
            }
            guard fsync(descriptor) == 0 else { throw failure("write to the disk") }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, file.path) == 0 else {
            let error = failure("name")
            unlink(temporary)
            throw error
        }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("write to the disk the folder of") }
        defer { close(parent) }
        // Some file systems cannot flush a folder, and say EINVAL; the renaming is then as durable as they make it.
        guard fsync(parent) == 0 || errno == EINVAL else { throw failure("write to the disk the folder of") }
    }
}
