import MLEncryption
import MLFiles
import MLNumerics

/// The extent of a device's proof about itself, from the least to the most.
public enum AttestationLevel: Int, Sendable, Comparable, CaseIterable {
    /// The device has proved nothing.
    case none
    /// The device has an enrolment token.
    case token
    /// The app is genuine (App Attest, Play Integrity).
    case app
    /// The machine booted the software that it should (a TPM quote).
    case platform
    /// The app runs in an environment that the machine's owner cannot inspect (SEV-SNP, TDX).
    case confidential

    /// Whether the first level proves less than the second.
    public static func < (left: AttestationLevel, right: AttestationLevel) -> Bool { left.rawValue < right.rawValue }

    /// The level's name in messages.
    public var name: String {
        switch self {
        case .none: "none"
        case .token: "token"
        case .app: "app"
        case .platform: "platform"
        case .confidential: "confidential"
        }
    }

    /// Creates the level with a name as in messages; `nil` for any other text.
    public init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    static func read(_ reader: inout CanonicalReader) throws(ModelError) -> AttestationLevel {
        guard let level = AttestationLevel(name: try reader.string(limit: 64)) else {
            throw ModelError(.unsupported, "The message names a level of attestation that this version does not know.")
        }
        return level
    }
}

/// Evidence for a claim about the device when it enrols.
public enum AttestationEvidence: Hashable, Sendable {
    /// No evidence.
    case none
    /// The identifier of an enrolment token, and a signature that only its holder can make.
    case token(id: String, proof: [UInt8])
    /// Evidence of another kind (`app-attest`, `tpm2-quote`, …), for which the service needs an
    /// ``AttestationVerifier``.
    case other(kind: String, evidence: [UInt8])

    static let maximumEvidenceByteCount = 32 << 10

    /// The name of the kind in messages.
    public var kind: String {
        switch self {
        case .none: "none"
        case .token: "token"
        case .other(let kind, _): kind
        }
    }

    var json: JSONValue {
        var members = [JSONValue.Member.text("kind", kind)]
        switch self {
        case .none: break
        case .token(let id, let proof): members += [.text("id", id), .base64("proof", proof)]
        case .other(_, let evidence): members.append(.base64("evidence", evidence))
        }
        return .object(members)
    }

    init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (object) throws(ModelError) in
            let evidence = try object.optional("evidence") { (value) throws(ModelError) in
                try value.base64(limit: Self.maximumEvidenceByteCount)
            }
            let id = try object.optional("id") { (value) throws(ModelError) in try value.string(limit: 64) }
            let kind = try object.text("kind", limit: 64)
            switch (kind, id, evidence) {
            case ("none", nil, nil): return .none
            case ("token", let id?, nil): return .token(id: id, proof: try object.base64("proof", count: 64))
            case (let kind, nil, let evidence?) where kind != "none" && kind != "token" && isKind(kind):
                return .other(kind: kind, evidence: evidence)
            default: throw object.error("the attestation does not have the members of its kind")
            }
        }
    }
}

private func isKind(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
}

/// A verifier of evidence of one kind, such as App Attest, TPM quotes or trusted execution environments.
public protocol AttestationVerifier: Sendable {
    /// The kind in messages, such as `tpm2-quote`: lower-case letters, digits and hyphens.
    var kind: String { get }

    /// Checks that evidence is genuine and was made for this enrolment.
    ///
    /// - Parameters:
    ///   - evidence: the evidence that the device sent, at most 32 KiB.
    ///   - binding: 32 bytes that stand for the device's keys, its team and app, and the service's challenge.
    ///   - team: the team that the device enrols with.
    ///   - app: the app that the device enrols for.
    /// - Returns: the level that the evidence proves.
    /// - Throws: when the evidence proves nothing; the description of the error is sent to the device.
    func verify(
        _ evidence: [UInt8],
        binding: [UInt8],
        team: String,
        app: String
    ) async throws(AttestationRefusal) -> AttestationLevel
}

/// The reason why evidence is not accepted.
public struct AttestationRefusal: Error, Sendable, CustomStringConvertible {
    /// The reason that the device is told.
    public let description: String
    /// Whether the verifier was unable to check the evidence, so that trying again can help.
    public let isTemporary: Bool

    /// Creates a refusal, by default a final one.
    public init(_ description: String, isTemporary: Bool = false) {
        (self.description, self.isTemporary) = (description, isTemporary)
    }
}
