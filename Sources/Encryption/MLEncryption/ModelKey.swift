import Crypto
import MLFiles
package import MLNumerics

/// The identifier of a key: the first 16 bytes of its fingerprint, as hexadecimal digits.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package static let byteCount = 16
    package let bytes: [UInt8]

    package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    package var description: String { Hexadecimal.text(bytes) }
}

/// The algorithm that a key is for, which wraps the content key of a model.
package enum WrapSuite: String, Sendable, CaseIterable {
    /// HPKE with X-Wing (ML-KEM-768 and X25519), HKDF-SHA256 and AES-256-GCM.
    case xWing = "HPKE-XWing-HKDF-SHA256-AES-256-GCM"
    /// HPKE with X25519, HKDF-SHA256 and ChaCha20-Poly1305.
    case x25519 = "HPKE-X25519-HKDF-SHA256-ChaCha20-Poly1305"
    /// AES-256-GCM with a key that both sides have.
    case aes = "AES-256-GCM"

    static func read(_ reader: inout CanonicalReader) throws(ModelError) -> WrapSuite {
        let name = try reader.string()
        guard let suite = WrapSuite(rawValue: name) else {
            throw ModelError(
                .unsupported,
                "The key is for \"\(name)\", which this version does not know; use a newer swift-coreml, or one of "
                    + allCases.map(\.rawValue).joined(separator: ", ") + ".",
                at: "suite"
            )
        }
        return suite
    }
}

/// A key of models: the contents of a `.mlmodelkey` file.
package struct ModelKey: Sendable {
    package enum Material: Sendable {
        /// The public half of a key pair, which encrypts but cannot decrypt.
        case publicKey
        /// A key that both encrypts and decrypts.
        case symmetric(SecretBytes)
        /// The private half of a key pair, which encrypts and decrypts.
        case privateKey(SecretBytes)
        /// One of the latter two, under a passphrase or for recipients.
        case protected(KeyProtection)

        /// The name of the material in files.
        package var kind: String {
            switch self {
            case .publicKey: "public"
            case .symmetric: "symmetric"
            case .privateKey: "private"
            case .protected: "protected"
            }
        }
    }

    package let suite: WrapSuite
    /// The team whose key it is.
    package let team: String
    /// The date at which it was created, such as `2026-11-23T08:00:00Z`.
    package let created: String
    /// The date after which nothing is encrypted with it any more.
    package let notAfter: String?
    /// The address of the key service that releases keys of models encrypted with it.
    package let server: String?
    /// The hash that all files of one key share: of its public half, or of a symmetric key under itself.
    package let fingerprint: [UInt8]
    /// The public half; `nil` for symmetric keys.
    package let publicKey: [UInt8]?
    package let material: Material
    /// The signature that vouches for the public half; `nil` for none.
    package let signature: KeySignature?

    package var keyID: KeyID { KeyID(fingerprint.prefix(KeyID.byteCount)) }

    init(
        suite: WrapSuite,
        team: String,
        created: String,
        notAfter: String?,
        server: String?,
        fingerprint: [UInt8],
        publicKey: [UInt8]?,
        material: Material,
        signature: KeySignature? = nil
    ) {
        self.suite = suite
        self.team = team
        self.created = created
        self.notAfter = notAfter
        self.server = server
        self.fingerprint = fingerprint
        self.publicKey = publicKey
        self.material = material
        self.signature = signature
    }

    /// Creates a new key: symmetric, or the private half of a pair.
    package static func make(
        _ suite: WrapSuite,
        team: String,
        created: String,
        notAfter: String? = nil,
        server: String? = nil
    ) throws(ModelError) -> ModelKey {
        try make(suite, secret: .random(), team: team, created: created, notAfter: notAfter, server: server)
    }

    /// Creates the key whose secret is `secret`.
    package static func make(
        _ suite: WrapSuite,
        secret: SecretBytes,
        team: String,
        created: String,
        notAfter: String? = nil,
        server: String? = nil
    ) throws(ModelError) -> ModelKey {
        let publicKey = try KeyPair.publicKey(suite, of: secret)
        return ModelKey(
            suite: suite,
            team: team,
            created: created,
            notAfter: notAfter,
            server: server,
            fingerprint: fingerprint(suite, publicKey, secret),
            publicKey: publicKey,
            material: suite == .aes ? .symmetric(secret) : .privateKey(secret)
        )
    }

    /// The same key with other material: its public half alone, or protected.
    package func with(_ material: Material, signature: KeySignature? = nil) -> ModelKey {
        ModelKey(
            suite: suite,
            team: team,
            created: created,
            notAfter: notAfter,
            server: server,
            fingerprint: fingerprint,
            publicKey: publicKey,
            material: material,
            signature: signature
        )
    }

    /// The part of a key that encrypts; `nil` for symmetric keys, which have none.
    package var publicHalf: ModelKey? { publicKey == nil ? nil : with(.publicKey) }

    /// The secret, when it is in the clear.
    package var secret: SecretBytes? {
        switch material {
        case .symmetric(let secret), .privateKey(let secret): secret
        case .publicKey, .protected: nil
        }
    }

    static func fingerprint(_ suite: WrapSuite, _ publicKey: [UInt8]?, _ secret: SecretBytes?) -> [UInt8] {
        let prefix = Array("mlk/1 fingerprint\0\(suite.rawValue)\0".utf8)
        if let publicKey { return Array(SHA256.hash(data: prefix + publicKey)) }
        guard let secret else { preconditionFailure("a key has a public half or a secret") }
        return Array(HMAC<SHA256>.authenticationCode(for: prefix, using: secret.symmetricKey))
    }

    // MARK: Text

    /// The largest number of bytes of a key's text.
    package static let maximumTextByteCount = 16 << 10

    /// The text of a `.mlmodelkey` file.
    package var text: [UInt8] { CanonicalWriter.bytes(.object(members(signed: false))) }

    /// The members of the text; where `signed` is true, only those that a signature covers.
    func members(signed: Bool) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("created", .string(created)), .init("fingerprint", .string(Hexadecimal.text(fingerprint))),
            .init("format", .integer(1)), .init("keyID", .string(keyID.description)),
            .init("kind", .string(signed ? "public" : material.kind)), .init("suite", .string(suite.rawValue)),
            .init("team", .string(team)), .init("type", .string("mlmodelkey")),
        ]
        if let notAfter { members.append(.init("notAfter", .string(notAfter))) }
        if let server { members.append(.init("server", .string(server))) }
        if let publicKey { members.append(.init("publicKey", .string(Base64.text(publicKey)))) }
        guard !signed else { return members }
        if case .protected(let protection) = material { members.append(.init("protection", protection.json)) }
        if let secret { members.append(.init("secret", .string(secret.withBytes { Base64.text($0) }))) }
        if let signature { members.append(.init("signature", signature.json)) }
        return members
    }

    /// Reads the text of a `.mlmodelkey` file without a secret, or from an array that need not be erased.
    package init(text: [UInt8]) throws(ModelError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(ModelError) in
            try ModelKey(text: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Reads the text of a `.mlmodelkey` file from memory that the caller erases.
    package init(text: UnsafeRawBufferPointer) throws(ModelError) {
        guard text.count <= Self.maximumTextByteCount else {
            throw ModelError(
                .malformed,
                "A key has at most \(Self.maximumTextByteCount) bytes, this file \(text.count): it is not a key."
            )
        }
        self = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (key) throws(ModelError) in try ModelKey(members: &key) }
        }
    }

    /// Reads the members in the order of their names.
    private init(members key: inout CanonicalReader) throws(ModelError) {
        created = try key.member("created") { (value) throws(ModelError) in try Self.date(&value) }
        fingerprint = try key.member("fingerprint") { (value) throws(ModelError) in try value.hexadecimal(32) }
        try key.member("format") { (value) throws(ModelError) in
            let format = try value.integer()
            guard format == 1 else {
                throw ModelError(
                    .unsupported,
                    "The key is of the format \(format), but this version reads format 1; use a newer swift-coreml."
                )
            }
        }
        let keyID = KeyID(try key.member("keyID") { (value) throws(ModelError) in try value.hexadecimal(16) })
        let kind = try key.member("kind") { (value) throws(ModelError) in try value.string() }
        notAfter = try key.optional("notAfter") { (value) throws(ModelError) in try Self.date(&value) }
        let protection = try key.optional("protection") { (value) throws(ModelError) in try KeyProtection(&value) }
        publicKey = try key.optional("publicKey") { (value) throws(ModelError) in try value.base64(limit: 2048) }
        let secret = try key.optional("secret") { (value) throws(ModelError) in try value.secret() }
        server = try key.optional("server") { (value) throws(ModelError) in try value.string() }
        signature = try key.optional("signature") { (value) throws(ModelError) in try KeySignature(&value) }
        let suite = try key.member("suite") { (value) throws(ModelError) in try WrapSuite.read(&value) }
        self.suite = suite
        team = try key.member("team") { (value) throws(ModelError) in try value.string(limit: 200) }
        try key.member("type") { (value) throws(ModelError) in try value.string("mlmodelkey") }
        switch (kind, suite == .aes, publicKey, secret, protection) {
        case ("public", false, _?, nil, nil): material = .publicKey
        case ("symmetric", true, nil, let secret?, nil): material = .symmetric(secret)
        case ("private", false, _?, let secret?, nil): material = .privateKey(secret)
        case ("protected", let isSymmetric, let publicKey, nil, let protection?) where isSymmetric == (publicKey == nil):
            material = .protected(protection)
        default:
            throw ModelError(
                .malformed,
                "A key of the kind \"\(kind)\" for \(suite.rawValue) does not consist of these members; make it again."
            )
        }
        guard keyID == self.keyID else { throw ModelError(.malformed, "keyID and fingerprint do not match.") }
        try checkFingerprint()
        try signature?.check(self)
    }

    /// Throws when the fingerprint is not that of the material.
    private func checkFingerprint() throws(ModelError) {
        var isRight = true
        if let publicKey {
            isRight = Self.fingerprint(suite, publicKey, nil) == fingerprint
            if case .privateKey(let secret) = material {
                let own = try KeyPair.publicKey(suite, of: secret)
                isRight = isRight && own == publicKey
            }
        } else if case .symmetric(let secret) = material {
            isRight = Self.fingerprint(suite, nil, secret) == fingerprint
        }
        guard isRight else {
            throw ModelError(.malformed, "The fingerprint is not that of the key: the file was changed; restore it.")
        }
    }

    /// Reads a date and time of day in UTC, such as `2026-11-23T08:00:00Z`.
    static func date(_ reader: inout CanonicalReader) throws(ModelError) -> String {
        let text = try reader.string(limit: 20)
        guard Dates.isDate(text) else { throw reader.error("a date such as 2026-11-23T08:00:00Z was expected") }
        return text
    }
}
