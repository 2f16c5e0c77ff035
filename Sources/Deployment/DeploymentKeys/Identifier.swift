import Crypto
import MLEncryption

/// The name of something: 16 bytes, written as 32 lower-case hexadecimal digits.  `Kind` keeps names of different things apart.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
    static var byteCount: Int { 16 }

    public let bytes: [UInt8]

    init(trusted bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The name with these 16 bytes; `nil` for any other number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The name that 32 lower-case hexadecimal digits spell.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Hexadecimal.bytes(text.utf8), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// A new random name.
    public static func random() -> Identifier {
        var generator = SystemRandomNumberGenerator()
        return Identifier(trusted: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    public var description: String { Hexadecimal.text(bytes) }

    public static func < (left: Identifier, right: Identifier) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// What identifiers are names of.
public enum IdentifierKind {
    public enum Key {}
    public enum Content {}
    public enum Device {}
    public enum Serial {}
    public enum Nonce {}
    public enum Signer {}
}

/// The name of a key that models are encrypted with (a `.mlmodelkey`'s `keyID`).
public typealias KeyIdentifier = Identifier<IdentifierKind.Key>
/// The name of one encryption of a model (`encryption.json`'s `contentID`).
public typealias ContentIdentifier = Identifier<IdentifierKind.Content>
/// The name of a device: a hash of team, app and identity key.
public typealias DeviceIdentifier = Identifier<IdentifierKind.Device>
/// The number of a certificate or a lease; random, never used again.
public typealias SerialNumber = Identifier<IdentifierKind.Serial>
/// Random bytes that make a request one of its kind.
public typealias RequestNonce = Identifier<IdentifierKind.Nonce>
/// The name of a key that signs: the first 16 bytes of its public half's SHA-256.
public typealias SignerIdentifier = Identifier<IdentifierKind.Signer>

extension DeviceIdentifier {
    /// The name of the device that has this identity key.
    public init(team: String, app: String, identity: SigningPublicKey) {
        var text = Array("mlk/1 device".utf8)
        for part in [Array(team.utf8), Array(app.utf8), Array(identity.algorithm.rawValue.utf8), identity.bytes] {
            text += Self.prefixed(part)
        }
        self.init(trusted: SHA256.hash(data: text).prefix(Self.byteCount))
    }

    /// Bytes behind their number, as two bytes with the higher one first: what is joined like this has one reading only.
    static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count <= UInt16.max)
        return [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }
}
