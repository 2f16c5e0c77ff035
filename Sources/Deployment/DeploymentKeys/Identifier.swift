import Crypto
import MLEncryption

/// An identifier of 16 bytes, written as 32 lower-case hexadecimal digits.
///
/// `Kind` makes identifiers of different things different types.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
    static var byteCount: Int { 16 }

    /// The 16 bytes.
    public let bytes: [UInt8]

    init(trusted bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates an identifier from 16 bytes; `nil` for any other number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates the identifier that 32 lower-case hexadecimal digits spell; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Hexadecimal.bytes(text.utf8), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// A new random identifier.
    public static func random() -> Identifier {
        var generator = SystemRandomNumberGenerator()
        return Identifier(trusted: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The identifier as 32 lower-case hexadecimal digits.
    public var description: String { Hexadecimal.text(bytes) }

    /// Whether the first identifier's bytes precede the second's.
    public static func < (left: Identifier, right: Identifier) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The kinds of things that identifiers stand for, as type arguments of ``Identifier``.
public enum IdentifierKind {
    /// Keys that models are encrypted with.
    public enum Key {}
    /// Encryptions of models.
    public enum Content {}
    /// Devices.
    public enum Device {}
    /// Certificates and leases.
    public enum Serial {}
    /// Requests.
    public enum Nonce {}
    /// Keys that sign.
    public enum Signer {}
}

/// The identifier of a key that models are encrypted with (the `keyID` of a `.mlmodelkey`).
public typealias KeyIdentifier = Identifier<IdentifierKind.Key>
/// The identifier of one encryption of a model (the `contentID` of `encryption.json`).
public typealias ContentIdentifier = Identifier<IdentifierKind.Content>
/// The identifier of a device: a hash of team, app and identity key.
public typealias DeviceIdentifier = Identifier<IdentifierKind.Device>
/// The serial number of a certificate or a lease; random, and never used again.
public typealias SerialNumber = Identifier<IdentifierKind.Serial>
/// Random bytes that make a request unique.
public typealias RequestNonce = Identifier<IdentifierKind.Nonce>
/// The identifier of a key that signs: the first 16 bytes of its public key's SHA-256.
public typealias SignerIdentifier = Identifier<IdentifierKind.Signer>

extension DeviceIdentifier {
    /// The identifier of the device with this identity key.
    public init(team: String, app: String, identity: SigningPublicKey) {
        var text = Array("mlk/1 device".utf8)
        for part in [Array(team.utf8), Array(app.utf8), Array(identity.algorithm.rawValue.utf8), identity.bytes] {
            text += Self.prefixed(part)
        }
        self.init(trusted: SHA256.hash(data: text).prefix(Self.byteCount))
    }

    /// Bytes preceded by their number as two bytes, big-endian, which makes a concatenation unambiguous.
    static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count <= UInt16.max)
        return [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }
}
