import Crypto
import CryptoExtras

/// A key that signatures are verified with, as metadata writes it (TUF specification, section 4.2.2).
public struct PublicKey: Sendable {
    /// A signature scheme that this client knows.
    public enum Scheme: String, Sendable, CaseIterable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA with P-256 and SHA-256.
        case ecdsaP256 = "ecdsa-sha2-nistp256"
        /// ECDSA with P-384 and SHA-384.
        case ecdsaP384 = "ecdsa-sha2-nistp384"
        /// RSASSA-PSS with SHA-256.
        case rsaPSS = "rsassa-pss-sha256"

        /// The names that metadata uses for keys of the scheme.
        var keyTypes: [Name] {
            switch self {
            case .ed25519: ["ed25519"]
            case .ecdsaP256, .ecdsaP384: ["ecdsa", Name(rawValue)]
            case .rsaPSS: ["rsa"]
            }
        }
    }

    /// The signature scheme.
    public let scheme: Scheme
    /// The key's type as metadata names it: `ed25519`, `ecdsa`, `rsa`, or an older name.
    public let keyType: String
    /// The public key, as hexadecimal digits or PEM text.
    public let value: String
    private let otherValues: [Name: MetadataValue]
    private let other: [Name: MetadataValue]

    /// Creates a key with the usual type of its scheme.
    public init(scheme: Scheme, value: String) {
        self.scheme = scheme
        self.value = value
        keyType = scheme.keyTypes[0].text
        otherValues = [:]
        other = [:]
    }

    /// Reads a key; throws `unsupportedKey` for a type or scheme that is none of ``Scheme``.
    init(_ value: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(value, role: role, place: "a key")
        let keyType = try fields.string("keytype")
        let schemeName = try fields.string("scheme")
        var values = try Fields(try fields.value("keyval"), role: role, place: "keyval")
        self.value = try values.string("public")
        otherValues = values.rest
        other = fields.rest
        guard let scheme = Scheme.allCases.first(where: { Name($0.rawValue) == Name(schemeName) }),
            scheme.keyTypes.contains(Name(keyType))
        else {
            throw UpdateError(
                .unsupportedKey,
                role,
                "a key of type \(keyType.prefix(60)) with scheme \(schemeName.prefix(60)) is not known here",
                remedy:
                    "Update this program, or publish keys of \(Scheme.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        self.keyType = keyType
        self.scheme = scheme
    }

    var json: MetadataValue {
        var (values, members) = (otherValues, other)
        values["public"] = .string(value)
        members["keytype"] = .string(keyType)
        members["scheme"] = .string(scheme.rawValue)
        members["keyval"] = .object(values)
        return .object(members)
    }

    /// The id that publishers give the key: the SHA-256 of its canonical form, in hexadecimal digits.
    ///
    /// Metadata may use another id for it.
    public var id: String {
        get throws(UpdateError) { Hex.text(SHA256.hash(data: try json.canonicalBytes(of: "key"))) }
    }

    /// Whether a signature is one of `message` by this key; a key that cannot be read verifies nothing.
    public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch scheme {
        case .ed25519: isValidEd25519(signature, of: message)
        case .ecdsaP256: isValidP256(signature, of: message)
        case .ecdsaP384: isValidP384(signature, of: message)
        case .rsaPSS: isValidRSA(signature, of: message)
        }
    }

    private var isPEM: Bool { value.utf8.starts(with: "-----BEGIN".utf8) }

    private func isValidEd25519(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let key =
            isPEM
            ? try? Curve25519.Signing.PublicKey(pemRepresentation: value)
            : Hex.bytes(value).flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
        return key?.isValidSignature(signature, for: message) ?? false
    }

    private func isValidP256(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let key =
            isPEM
            ? try? P256.Signing.PublicKey(pemRepresentation: value)
            : Hex.bytes(value).flatMap { try? P256.Signing.PublicKey(x963Representation: $0) }
        guard let key, let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
            return false
        }
        return key.isValidSignature(signature, for: message)
    }

    private func isValidP384(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let key =
            isPEM
            ? try? P384.Signing.PublicKey(pemRepresentation: value)
            : Hex.bytes(value).flatMap { try? P384.Signing.PublicKey(x963Representation: $0) }
        guard let key, let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature) else {
            return false
        }
        return key.isValidSignature(signature, for: message)
    }

    private func isValidRSA(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: value) else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .PSS)
    }
}
