import Foundation
import MLFiles
import MLTrainingCore

/// The header of a checkpoint's file: what the checkpoint is of, and the length and checksum of its state.
///
/// The file is `MLCREATE`, the length of the header (4 bytes, little-endian), the header (JSON), and the state.
struct CheckpointHeader: Codable {
    let task: String
    let phase: MLPhase
    let iteration: Int
    let date: Date
    let metrics: CodedMetrics
    /// The fingerprint of the training data, hexadecimal.
    let fingerprint: String
    /// The length of the state in bytes.
    let stateByteCount: Int
    /// The checksum of the state, hexadecimal.
    let checksum: String

    /// The names in files of the first version are kept.
    private enum CodingKeys: String, CodingKey {
        case task, phase, iteration, date, metrics, fingerprint
        case stateByteCount = "count"
        case checksum = "sum"
    }

    private static let magic: [UInt8] = Array("MLCREATE".utf8)
    /// The length of the magic and of the header's length.
    private static let prefixLength = 12
    private static let maximumHeaderByteCount = 1 << 20

    init(_ checkpoint: MLCheckpoint, task: String, fingerprint: UInt64, state: [UInt8]) {
        self.task = task
        phase = checkpoint.phase
        iteration = checkpoint.iteration
        date = checkpoint.date
        metrics = CodedMetrics(metrics: checkpoint.metrics)
        self.fingerprint = String(fingerprint, radix: 16)
        stateByteCount = state.count
        checksum = String(Fingerprint.of(state, .wideProduct), radix: 16)
    }

    /// The bytes of the file.
    func encoded(_ state: [UInt8]) throws -> [UInt8] {
        let text = try encodedHeader()
        var writer = CheckpointWriter()
        writer.write(UInt32(text.count))
        return Self.magic + writer.bytes + text + state
    }

    private func encodedHeader() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return [UInt8](try encoder.encode(self))
    }

    /// Reads the header, and not the state, whose length is compared with the file's.
    /// - Throws: `MLCreateError.io` when the file is missing or damaged, `.generic` when it is of another task.
    init(header file: URL, _ task: String) throws {
        guard FileAccess.kind(of: file.path) == .file, let size = FileAccess.byteCount(of: file.path) else {
            throw MLCreateError.io(reason: "the checkpoint \(file.path) is missing")
        }
        let (text, start) = try Self.headerText(file)
        do { self = try JSONDecoder().decode(CheckpointHeader.self, from: Data(text)) } catch {
            throw Self.damaged(file, "its description cannot be read: \(error)")
        }
        guard stateByteCount >= 0, stateByteCount == size - start else {
            throw Self.damaged(file, "its length does not match its header")
        }
        guard iteration >= 0 else { throw Self.damaged(file, "its iteration is negative") }
        guard self.task == task else {
            throw MLCreateError.generic(reason: "\(file.path) is a checkpoint of \(self.task), not of \(task)")
        }
    }

    /// The header's JSON and the offset of the state.
    private static func headerText(_ file: URL) throws -> (text: [UInt8], start: Int) {
        let prefix = try DurableFile.read(file, from: 0, count: prefixLength)
        guard prefix.count == prefixLength, Array(prefix[..<magic.count]) == magic else {
            throw damaged(file, "it does not begin with MLCREATE")
        }
        let length = prefix[magic.count...].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= maximumHeaderByteCount else { throw damaged(file, "its header is too long") }
        let text = try DurableFile.read(file, from: prefixLength, count: length)
        guard text.count == length else { throw damaged(file, "it ends early") }
        return (text, prefixLength + length)
    }

    /// The state in the file that has this header.
    /// - Throws: `MLCreateError.io` when the file is damaged.
    func state(_ file: URL) throws -> [UInt8] {
        let bytes = try DurableFile.read(file, "the checkpoint \(file.path) is missing")
        guard bytes.count >= stateByteCount else { throw Self.damaged(file, "its length does not match its header") }
        let state = Array(bytes.suffix(stateByteCount))
        guard String(Fingerprint.of(state, .wideProduct), radix: 16) == checksum else {
            throw MLCreateError.io(
                reason: "the checkpoint \(file.path) is damaged (checksum mismatch); remove it, and the one "
                    + "before it is used"
            )
        }
        return state
    }

    private static func damaged(_ file: URL, _ detail: String) -> MLCreateError {
        .io(reason: "the checkpoint \(file.path) is damaged (\(detail)); remove it to use the one before it")
    }
}
