/// A document with signatures over the canonical form of its `signed` part.
///
/// It is the envelope of all TUF metadata (specification, section 4.2.1), and of other documents signed by keys that
/// TUF vouches for.
public struct SignedDocument: Sendable {
    /// A signature of a document.
    public struct Signature: Sendable {
        /// The key's id in the metadata that vouches for it.
        public let keyID: String
        /// The signature in hexadecimal digits.
        public let value: String
        private let other: [Name: MetadataValue]

        /// Creates a signature from hexadecimal digits.
        public init(keyID: String, value: String) {
            self.keyID = keyID
            self.value = value
            other = [:]
        }

        /// Creates a signature from bytes.
        public init(keyID: String, bytes: [UInt8]) { self.init(keyID: keyID, value: Hex.text(bytes)) }

        fileprivate init(_ value: MetadataValue, role: String) throws(UpdateError) {
            var fields = try Fields(value, role: role, place: "a signature")
            keyID = try fields.string("keyid")
            self.value = try fields.string("sig")
            other = fields.rest
        }

        fileprivate var json: MetadataValue {
            var members = other
            members["keyid"] = .string(keyID)
            members["sig"] = .string(value)
            return .object(members)
        }
    }

    /// The part that is signed.
    public let signed: MetadataValue
    /// The signatures, at most one by each key.
    public private(set) var signatures: [Signature] = []
    private var other: [Name: MetadataValue] = [:]

    /// Creates a document without signatures.
    public init(signed: MetadataValue) { self.signed = signed }

    /// Reads a document without verifying anything.
    ///
    /// Throws `malformed`, naming `role`, also when a key signed twice.
    public init(parsing bytes: [UInt8], role: String) throws(UpdateError) {
        var fields = try Fields(try MetadataValue(parsing: bytes, role: role), role: role, place: "the file")
        signed = try fields.value("signed")
        guard case .object = signed else { throw .malformed(role, "signed is not an object") }
        var seen: Set<Name> = []
        for value in try fields.array("signatures") {
            let signature = try Signature(value, role: role)
            guard seen.insert(Name(signature.keyID)).inserted else {
                throw .malformed(role, "the key \(signature.keyID.prefix(80)) signed twice")
            }
            signatures.append(signature)
        }
        other = fields.rest
    }

    /// The bytes of the document's file.
    ///
    /// To read what was signed, use ``signed`` or these: a ``message(of:)`` is JSON only where no text has control
    /// characters.
    public var bytes: [UInt8] {
        var members = other
        members["signed"] = signed
        members["signatures"] = .array(signatures.map(\.json))
        return MetadataValue.object(members).fileBytes
    }

    /// The bytes that signatures are computed over; throws `malformed`, naming `role`, where there are fractions.
    public func message(of role: String) throws(UpdateError) -> [UInt8] { try signed.canonicalBytes(of: role) }

    // MARK: Verifying

    /// The ids of the role's keys that signed, each once.
    public func signers(_ keys: RoleKeys) throws(UpdateError) -> [String] {
        let message = try message(of: keys.role)
        var byKey: [Name: Signature] = [:]
        for signature in signatures { byKey[Name(signature.keyID)] = signature }
        var (found, seen) = ([String](), Set<Name>())
        for id in keys.keyIDs where seen.insert(Name(id)).inserted {
            guard let key = keys.keys[Name(id)], let value = byKey[Name(id)].flatMap({ Hex.bytes($0.value) }) else {
                continue
            }
            if key.isValid(value, of: message) { found.append(id) }
        }
        return found
    }

    /// Throws `threshold` when too few of the role's keys signed.
    public func verify(_ keys: RoleKeys) throws(UpdateError) {
        let count = try signers(keys).count
        guard count >= keys.threshold else {
            throw UpdateError(
                .threshold,
                keys.role,
                "\(count) of its keys signed, \(keys.threshold) must",
                remedy:
                    "Sign it with more of the role's keys; if you did not change them, someone else may have written it"
            )
        }
    }

    // MARK: Signing

    /// Adds the key's signature, replacing an older one of the same key.
    public mutating func sign(with key: SigningKey) throws(UpdateError) {
        let message = try message(of: "document")
        add(Signature(keyID: try key.publicKey.id, bytes: try key.sign(message)))
    }

    /// Adds a signature that was made elsewhere, replacing an older one of the same key.
    public mutating func add(_ signature: Signature) {
        removeSignature(of: signature.keyID)
        signatures.append(signature)
    }

    /// Removes the signature of a key.
    public mutating func removeSignature(of keyID: String) {
        signatures.removeAll { Name($0.keyID) == Name(keyID) }
    }
}
