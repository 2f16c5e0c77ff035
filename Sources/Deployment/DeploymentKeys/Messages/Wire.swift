import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// A message of the protocol: canonical JSON with known members, with the kind in `type`.
protocol WireMessage: Sendable {
    static var type: StaticString { get }
    /// The largest number of bytes of the text.
    static var maximumTextByteCount: Int { get }
    /// All members except `format`, `signature` and `type`.
    var members: [JSONValue.Member] { get }
    /// Reads the members in the order of their names, from after the opening brace to before the closing one.
    init(members reader: inout CanonicalReader) throws(ModelError)
}

extension WireMessage {
    var unsignedMembers: [JSONValue.Member] {
        members + [.init("format", .integer(1)), .init("type", .string(Self.type.description))]
    }

    /// Reads a text that must be a message of this kind.
    static func read(
        _ text: [UInt8],
        else code: DeploymentKeyError.Code = .malformed
    ) throws(DeploymentKeyError) -> Self {
        let isRequest = code == .malformed
        guard text.count <= maximumTextByteCount else {
            throw DeploymentKeyError(
                isRequest ? .tooLarge : code,
                at: type.description,
                "\(text.count) bytes are more than the \(maximumTextByteCount) that such a message may have."
            )
        }
        do throws(ModelError) {
            return try CanonicalReader.read(text) { (reader) throws(ModelError) in try read(&reader) }
        } catch {
            let isOther = isRequest && error.code == .unsupported
            throw DeploymentKeyError(isOther ? .unsupported : code, error, at: type.description)
        }
    }

    /// Reads a message that is a part of another text.
    static func read(_ reader: inout CanonicalReader) throws(ModelError) -> Self {
        try reader.object { (object) throws(ModelError) in try Self(members: &object) }
    }
}

/// A message with a signature.
protocol SignedMessage: WireMessage {
    var signature: WireSignature { get set }
}

extension SignedMessage {
    var text: [UInt8] { CanonicalWriter.bytes(json) }

    var json: JSONValue { .object(unsignedMembers + [.init("signature", signature.json)]) }

    /// The bytes that are signed: the text without `signature`, after a prefix that separates them from other uses of a
    /// key.
    var signedBytes: [UInt8] { Array("mlk/1 signed\0".utf8) + CanonicalWriter.bytes(.object(unsignedMembers)) }

    func signed(by key: IdentityKey) throws(ModelError) -> Self {
        var copy = self
        copy.signature = WireSignature(
            keyID: SignerIdentifier(trusted: key.publicKey.keyID.bytes),
            value: try key.sign(signedBytes)
        )
        return copy
    }

    func isSignedMessage(by key: SigningPublicKey) -> Bool {
        key.keyID == signature.keyID && key.engine.verify(signature.value, of: signedBytes)
    }
}

/// A signature, with the identifier of the key that made it.
struct WireSignature: Sendable, Equatable {
    var keyID: SignerIdentifier
    var value: [UInt8]

    /// The placeholder in a message before it is signed.
    static let none = WireSignature(
        keyID: SignerIdentifier(trusted: repeatElement(0, count: 16)),
        value: [UInt8](repeating: 0, count: SignatureAlgorithm.signatureByteCount)
    )

    var json: JSONValue {
        .object([.init("key", .string(keyID.description)), .init("value", .string(Base64.text(value)))])
    }
}

// MARK: Members

extension CanonicalReader {
    /// Reads the member `format`, the version of the message's format.
    mutating func format() throws(ModelError) {
        try member("format") { (value) throws(ModelError) in
            let format = try value.integer()
            guard format == 1 else {
                throw ModelError(
                    .unsupported,
                    "The message is of the format \(format), but this version reads format 1."
                )
            }
        }
    }

    mutating func type(_ name: StaticString) throws(ModelError) {
        try member("type") { (value) throws(ModelError) in
            guard try value.string(limit: 64) == name.description else {
                throw value.error("the message is another one than \"\(name)\"")
            }
        }
    }

    mutating func signature() throws(ModelError) -> WireSignature {
        try member("signature") { (value) throws(ModelError) in try value.signatureValue() }
    }

    fileprivate mutating func signatureValue() throws(ModelError) -> WireSignature {
        try object { (object) throws(ModelError) in
            WireSignature(
                keyID: try object.identifier("key"),
                value: try object.base64("value", count: SignatureAlgorithm.signatureByteCount)
            )
        }
    }

    mutating func optionalSignature() throws(ModelError) -> WireSignature? {
        try optional("signature") { (value) throws(ModelError) in try value.signatureValue() }
    }

    /// Reads the name of a team, an app or the like: 1 to 200 bytes without control characters.
    mutating func name(_ name: StaticString) throws(ModelError) -> String {
        try member(name) { (value) throws(ModelError) in
            let text = try value.string(limit: 200)
            guard WireName.isValid(text) else { throw value.error("a name of 1 to 200 bytes was expected") }
            return text
        }
    }

    mutating func text(_ name: StaticString, limit: Int) throws(ModelError) -> String {
        try member(name) { (value) throws(ModelError) in try value.string(limit: limit) }
    }

    mutating func integer(_ name: StaticString) throws(ModelError) -> Int {
        try member(name) { (value) throws(ModelError) in try value.integer() }
    }

    mutating func identifier<Kind>(_ name: StaticString) throws(ModelError) -> Identifier<Kind> {
        try member(name) { (value) throws(ModelError) in try value.identifier() }
    }

    mutating func identifier<Kind>() throws(ModelError) -> Identifier<Kind> {
        Identifier(trusted: try hexadecimal(Identifier<Kind>.byteCount))
    }

    mutating func hash(_ name: StaticString) throws(ModelError) -> [UInt8] {
        try member(name) { (value) throws(ModelError) in try value.hexadecimal(32) }
    }

    mutating func optionalHash(_ name: StaticString) throws(ModelError) -> [UInt8]? {
        try optional(name) { (value) throws(ModelError) in try value.hexadecimal(32) }
    }

    mutating func base64(_ name: StaticString, count: Int) throws(ModelError) -> [UInt8] {
        try member(name) { (value) throws(ModelError) in try value.base64(count: count) }
    }

    mutating func base64(_ name: StaticString, limit: Int) throws(ModelError) -> [UInt8] {
        try member(name) { (value) throws(ModelError) in try value.base64(limit: limit) }
    }

    mutating func time(_ name: StaticString) throws(ModelError) -> ServiceTime {
        try member(name) { (value) throws(ModelError) in try value.time() }
    }

    mutating func time() throws(ModelError) -> ServiceTime {
        guard let time = ServiceTime(try string(limit: 20)) else {
            throw error("a date such as 2026-11-23T08:00:00Z was expected")
        }
        return time
    }

    mutating func choice<C: RawRepresentable>(_ name: StaticString, _ type: C.Type) throws(ModelError) -> C
    where C.RawValue == String {
        try member(name) { (value) throws(ModelError) in
            guard let choice = C(rawValue: try value.string(limit: 64)) else {
                throw ModelError(
                    .unsupported,
                    "The message names something that this version does not know.",
                    at: "\(name)"
                )
            }
            return choice
        }
    }

    mutating func signingKey(_ name: StaticString) throws(ModelError) -> SigningPublicKey {
        try member(name) { (value) throws(ModelError) in
            try value.object { (object) throws(ModelError) in
                let algorithm = try object.choice("algorithm", SigningAlgorithm.self)
                let bytes = try object.base64("publicKey", limit: 128)
                return SigningPublicKey(try VerifyingKey(algorithm.engine, bytes))
            }
        }
    }

    mutating func recipientKey(_ name: StaticString) throws(ModelError) -> RecipientPublicKey {
        try member(name) { (value) throws(ModelError) in
            try value.object { (object) throws(ModelError) in
                let bytes = try object.base64("publicKey", limit: 2048)
                let suite = try object.choice("suite", RecipientSuite.self)
                do throws(DeploymentKeyError) { return try RecipientPublicKey(suite, bytes: bytes) } catch {
                    throw object.error(error.message)
                }
            }
        }
    }
}

/// Names of teams and apps.
enum WireName {
    static func isValid(_ name: String) -> Bool {
        1...200 ~= name.utf8.count && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension JSONValue.Member {
    static func text(_ name: String, _ value: String) -> Self { .init(name, .string(value)) }
    static func text(_ name: String, _ value: some CustomStringConvertible) -> Self {
        .init(name, .string(value.description))
    }
    static func base64(_ name: String, _ bytes: [UInt8]) -> Self { .init(name, .string(Base64.text(bytes))) }
    static func hexadecimal(_ name: String, _ bytes: [UInt8]) -> Self { .init(name, .string(Hexadecimal.text(bytes))) }
    static func integer(_ name: String, _ value: Int) -> Self { .init(name, .integer(Int64(value))) }
}

/// The hash of a message's text, which the answer to it repeats.
func messageHash(_ text: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: text)) }
