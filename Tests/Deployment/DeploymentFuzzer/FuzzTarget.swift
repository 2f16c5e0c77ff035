import Crypto
import DeploymentKeys
import DeploymentPolicy
import Foundation
import MLArchive
import MLDelta
import MLEncryption
import MLFiles
import MLNumerics
import UpdateFramework

/// A reader, and what must hold of whatever it accepts. Errors are answers; traps, hangs and broken promises are
/// findings.
enum FuzzTarget: String, CaseIterable {
    case policy, release, report, attributes, rollout, metadata, header, archive, signatures, statement, delta, key
    case record, messages

    func run(_ bytes: [UInt8]) {
        switch self {
        case .policy: Self.policy(bytes)
        case .release: Self.stable(bytes, { try ReleaseDocument($0) }, { try $0.bytes() })
        case .report: Self.stable(bytes, { try DeviceReport($0) }, { $0.bytes() })
        case .attributes: Self.use { try DeviceAttributes(json: bytes) }
        case .rollout: Self.stable(bytes, { try RolloutPlan($0) }, { $0.bytes() })
        case .metadata: Self.metadata(bytes)
        case .header: Self.use { try ArchiveStart(Array(bytes.prefix(ArchiveStart.byteCount))) }
        case .archive: Self.archive(bytes)
        case .signatures: Self.signatures(bytes)
        case .statement: Self.stable(bytes, { try ModelManifest(statement: $0) }, { $0.statement })
        case .delta: Self.delta(bytes)
        case .key: Self.use { try bytes.withUnsafeBytes { try ModelKey(text: $0) } }
        case .record: Self.canonical(bytes, { try EncryptionRecord(text: $0) }, \.text)
        case .messages: Self.messages(bytes)
        }
    }

    /// Data that was read is written, and must be read again as the same.
    private static func stable<Document: Equatable>(
        _ bytes: [UInt8],
        _ read: ([UInt8]) throws -> Document,
        _ write: (Document) throws -> [UInt8]
    ) {
        guard let document = try? read(bytes) else { return }
        do {
            let written = try write(document)
            let again = try read(written)
            precondition(again == document, "it is read again as something else")
        } catch { preconditionFailure("what was read cannot be written and read again: \(error)") }
    }

    /// Data with a single canonical form is written as it was read.
    private static func canonical<Document>(
        _ bytes: [UInt8],
        _ read: ([UInt8]) throws -> Document,
        _ text: (Document) -> [UInt8]
    ) {
        guard let document = try? read(bytes) else { return }
        precondition(text(document) == bytes, "it is written as something else than was read")
    }

    /// Keeps the compiler from leaving a call out whose result nobody uses.
    @inline(never)
    private static func use<Result>(_ body: () throws -> Result) {
        do { withExtendedLifetime(try body()) { used &+= 1 } } catch { used &+= 2 }
    }
    nonisolated(unsafe) private static var used = 0

    /// A policy that is accepted serves devices of every kind without a trap.
    private static func policy(_ bytes: [UInt8]) {
        guard let policy = try? Policy(bytes) else { return }
        // One for a later evaluator is read as far as possible, and not written.
        if policy.evaluator <= Policy.evaluatorVersion { stable(bytes, { try Policy($0) }, { try $0.bytes() }) }
        guard let evaluator = try? PolicyEvaluator(policy) else { return }
        var tablet = DeviceAttributes()
        (tablet.deviceClass, tablet.installID, tablet.languageCode) = (.tablet, "6c7d9e0a", "de")
        tablet.custom["tier"] = .text("gold")
        for device in [DeviceAttributes(), tablet] { _ = evaluator.evaluate(device) }
    }

    private static func metadata(_ bytes: [UInt8]) {
        guard let document = try? SignedDocument(parsing: bytes, role: "fuzz") else { return }
        use { try document.message(of: "fuzz") }
        if let again = try? SignedDocument(parsing: document.bytes, role: "fuzz") {
            precondition(again.bytes == document.bytes, "it is read again as something else")
        }
        use { try Root(document.signed, role: "root") }
        use { try Targets(document.signed, role: "targets") }
        use { try Snapshot(document.signed, role: "snapshot") }
        use { try Timestamp(document.signed, role: "timestamp") }
    }

    // MARK: Archives

    private static let largestPayload = 1 << 20
    private static let folder = FileManager.default.temporaryDirectory.path + "/fuzz-\(getpid())"

    /// An archive with this text as its header, which nobody forged but its maker, and zeros as its payload.
    private static func archive(_ text: [UInt8]) {
        guard let header = try? ArchiveHeader(readingText: text), header.payloadByteCount <= largestPayload else {
            return
        }
        func length(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }
        var bytes = Array("MLARCH1\n".utf8) + length(text.count) + length(0) + Array(SHA256.hash(data: text)) + text
        guard let start = try? ArchiveStart(Array(bytes.prefix(ArchiveStart.byteCount))) else { return }
        bytes += [UInt8](repeating: 0, count: start.payloadStart - bytes.count + header.payloadByteCount)
        do {
            try FileAccess.makeFolder(folder)
            try FileAccess.write(bytes, to: folder + "/a.mlarchive")
        } catch { preconditionFailure("\(error)") }
        guard let archive = try? ModelArchive(folder + "/a.mlarchive") else { return }
        use { try archive.record }
        use { try archive.verify() }
        if header.files.count <= 8 {
            use { try archive.extract(to: folder + "/model") }
            try? FileAccess.remove(folder + "/model")
        }
    }

    private static func signatures(_ bytes: [UInt8]) { use { try ArchiveSignature.list(bytes) } }

    /// The archive that deltas begin with, which FUZZ_ARCHIVE names.
    private static let old: ModelArchive = {
        let path = ProcessInfo.processInfo.environment["FUZZ_ARCHIVE"] ?? "FUZZ_ARCHIVE"
        do { return try ModelArchive(path) } catch { fatalError("the archive that FUZZ_ARCHIVE names: \(error)") }
    }()

    /// A delta whose header has the hash that is said of it, which nobody forged but its maker.
    private static func delta(_ given: [UInt8]) {
        var bytes = given
        guard bytes.count >= DeltaHeader.startByteCount else { return }
        let count = (0..<3).reduce(0) { $0 | Int(bytes[8 + $1]) << (8 * $1) }
        let text = bytes[DeltaHeader.startByteCount...].prefix(count)
        bytes.replaceSubrange(16..<DeltaHeader.startByteCount, with: Array(SHA256.hash(data: text)))
        do {
            try FileAccess.makeFolder(folder)
            try FileAccess.write(bytes, to: folder + "/a.mldelta")
        } catch { preconditionFailure("\(error)") }
        // A release bounds the size of its files; here this constant does.
        guard let delta = try? DeltaFile(folder + "/a.mldelta"), delta.header.new.byteCount <= largestPayload else {
            return
        }
        let made = folder + "/made"
        if (try? delta.apply(to: (old.header, old.contents), contentKey: nil, path: made)) != nil {
            try? FileAccess.remove(made)
        } else {
            precondition(FileAccess.kind(of: made) == nil, "a delta that is refused leaves a file")
        }
    }

    // MARK: Keys

    private static func messages(_ bytes: [UInt8]) {
        use { try DeviceCertificate(text: bytes) }
        use { try EnrolmentRequest(text: bytes) }
        use { try EnrolmentResponse(text: bytes) }
        use { try RenewalRequest(text: bytes) }
        use { try ReleaseRequest(text: bytes) }
        use { try ReleaseResponse(text: bytes) }
        use { try RevocationState(text: bytes) }
        use { try ChallengeRequest(text: bytes) }
        use { try ChallengeResponse(text: bytes) }
    }
}
