import Foundation
import MLFiles
import MLTrainingCore

/// The folder of a training session.
///
/// `session.json` describes the task, its parameters and data; `<phase>.data` holds the data that the run is made of,
/// and `checkpoints/<phase>-<iteration>.checkpoint` its states (`CheckpointHeader`). Files are written atomically
/// (`DurableFile`).
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
    var checkpointsURL: URL { url.appendingPathComponent("checkpoints", isDirectory: true) }

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
        try DurableFile.write([UInt8](try encoder.encode(description)), to: descriptionURL)
    }

    func readDescription() throws -> Description {
        let bytes = try DurableFile.read(descriptionURL, "there is no training session in \(url.path); make one first")
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
        try DurableFile.write(writer.bytes + data, to: url.appendingPathComponent(phase.rawValue + ".data"))
    }

    func readData(of phase: MLPhase) throws -> [UInt8] {
        let file = url.appendingPathComponent(phase.rawValue + ".data")
        let bytes = try DurableFile.read(file, "the session's data \(file.path) are missing; begin it again")
        let data = Array(bytes.dropFirst(8))
        var writer = CheckpointWriter()
        writer.write(Fingerprint.of(data, .wideProduct))
        guard Array(bytes.prefix(8)) == writer.bytes else {
            throw MLCreateError.io(reason: "the session's data \(file.path) are damaged; begin it again")
        }
        return data
    }

    // MARK: Checkpoints

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
        let contents = CheckpointHeader(checkpoint, task: task, fingerprint: fingerprint, state: state)
        try DurableFile.write(try contents.encoded(state), to: file)
        return checkpoint
    }

    static func name(_ phase: MLPhase, _ iteration: Int) -> String {
        let number = String(iteration)
        return phase.rawValue + "-" + String(repeating: "0", count: max(0, 8 - number.count)) + number
    }

    /// The checkpoints in the order in which they were made.
    func checkpoints(of task: String) throws -> [MLCheckpoint] {
        var found: [(checkpoint: MLCheckpoint, order: Int)] = []
        for file in try files() {
            let name = file.lastPathComponent
            guard name.hasSuffix(".checkpoint"), !name.hasPrefix(".") else { continue }
            let header = try CheckpointHeader(header: file, task)
            let checkpoint = MLCheckpoint(
                url: file,
                phase: header.phase,
                iteration: header.iteration,
                date: header.date,
                metrics: header.metrics.metrics
            )
            found.append((checkpoint, header.phase == .extractingFeatures ? 0 : 1))
        }
        return found.sorted { ($0.order, $0.checkpoint.iteration) < ($1.order, $1.checkpoint.iteration) }
            .map(\.checkpoint)
    }

    /// The state in a checkpoint's file, and the fingerprint of the data that it belongs to.
    func state(of checkpoint: MLCheckpoint, task: String) throws -> (state: [UInt8], fingerprint: String) {
        let header = try CheckpointHeader(header: checkpoint.url, task)
        return (try header.state(checkpoint.url), header.fingerprint)
    }

    /// Removes files that an interrupted write left behind.
    func clean() throws {
        for folder in [url, checkpointsURL] {
            for file in try files(in: folder) where file.lastPathComponent.hasPrefix(DurableFile.unfinishedPrefix) {
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
        return try MLCreateError.translating {
            try FileAccess.names(in: folder.path).map { folder.appendingPathComponent($0) }
        }
    }

    func makeFolder(_ folder: URL) throws {
        try MLCreateError.translating { try FileAccess.makeFolder(folder.path) }
    }
}
