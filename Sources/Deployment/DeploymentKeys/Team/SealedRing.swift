import MLEncryption
import MLFiles
import MLNumerics

/// A key ring as text: private keys are encrypted under the vault's key, and a code authenticates everything.
enum SealedRing {
    private static let type: StaticString = "mlk-key-ring"
    private static let maximumTextByteCount = 16 << 20
    private static let codePurpose = "mlk/1 key ring"

    static func text(_ ring: TeamKeyRing, _ vault: ModelKey) throws(ModelError) -> [UInt8] {
        var epochs: [JSONValue] = []
        for epoch in ring.epochs {
            var members: [JSONValue.Member] = [
                .text("file", String(decoding: epoch.publicFile, as: UTF8.self)), .integer("number", epoch.number),
                .text("state", epoch.state.rawValue),
            ]
            if let secret = epoch.key.secret {
                let purpose = purpose(ring.team, epoch.keyID.bytes)
                members.append(.base64("secret", try KeyPair.wrap(secret, with: vault, purpose: purpose)))
            }
            epochs.append(.object(members))
        }
        var signers: [JSONValue] = []
        for signer in ring.signers {
            var members: [JSONValue.Member] = [
                .init("publicKey", signer.publicKey.json), .text("state", signer.state.rawValue),
            ]
            if let key = signer.key {
                let purpose = purpose(ring.team, signer.publicKey.keyID.bytes)
                members.append(.base64("secret", try KeyPair.wrap(key.secret, with: vault, purpose: purpose)))
            }
            signers.append(.object(members))
        }
        let members: [JSONValue.Member] = [
            .init("epochs", .array(epochs)), .integer("format", 1), .init("signers", .array(signers)),
            .text("team", ring.team), .text("type", type.description), .integer("version", ring.version),
        ]
        let code = try AuthenticatedText.code(members, vault, codePurpose)
        return CanonicalWriter.bytes(.object(members + [.base64("mac", code)]))
    }

    static func ring(_ text: [UInt8], _ vault: ModelKey) throws(ModelError) -> TeamKeyRing {
        guard text.count <= maximumTextByteCount else { throw ModelError(.malformed, "The text is too large.") }
        let (ring, code) = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (object) throws(ModelError) in try read(&object, vault) }
        }
        // The code covers the members as they are read, which have a single spelling in canonical text.
        try AuthenticatedText.check(code, of: text, vault, codePurpose)
        return ring
    }

    private static func read(
        _ object: inout CanonicalReader,
        _ vault: ModelKey
    ) throws(ModelError) -> (TeamKeyRing, [UInt8]) {
        struct StoredEpoch {
            let file: String, number: Int, secret: [UInt8]?, state: TeamKeyRing.State
        }
        struct StoredSigner {
            let publicKey: SigningPublicKey, secret: [UInt8]?, state: TeamKeyRing.State
        }
        let epochs = try object.member("epochs") { (value) throws(ModelError) in
            try value.list(limit: TeamKeyRing.maximumEpochCount) { (item) throws(ModelError) in
                try item.object { (epoch) throws(ModelError) in
                    StoredEpoch(
                        file: try epoch.text("file", limit: ModelKey.maximumTextByteCount),
                        number: try epoch.integer("number"),
                        secret: try epoch.optionalBase64("secret", limit: 128),
                        state: try epoch.choice("state", TeamKeyRing.State.self)
                    )
                }
            }
        }
        try object.format()
        let code = try object.base64("mac", count: 32)
        let signers = try object.member("signers") { (value) throws(ModelError) in
            try value.list(limit: TeamKeyRing.maximumEpochCount) { (item) throws(ModelError) in
                try item.object { (signer) throws(ModelError) in
                    StoredSigner(
                        publicKey: try signer.signingKey("publicKey"),
                        secret: try signer.optionalBase64("secret", limit: 128),
                        state: try signer.choice("state", TeamKeyRing.State.self)
                    )
                }
            }
        }
        let team = try object.name("team")
        try object.type(type)
        let version = try object.integer("version")
        let ring = TeamKeyRing(
            team: team,
            version: version,
            epochs: try each(epochs) { (stored) throws(ModelError) in
                let key = try key(stored.file, stored.secret, team, vault)
                return TeamKeyRing.Epoch(number: stored.number, state: stored.state, key: key)
            },
            signers: try each(signers) { (stored) throws(ModelError) in
                let key = try signer(stored.publicKey, stored.secret, team, vault)
                return TeamKeyRing.Signer(state: stored.state, key: key, publicKey: stored.publicKey)
            }
        )
        return (ring, code)
    }

    private static func key(
        _ file: String,
        _ sealed: [UInt8]?,
        _ team: String,
        _ vault: ModelKey
    ) throws(ModelError) -> ModelKey {
        let key = try ModelKey(text: Array(file.utf8))
        guard let sealed else { return key }
        let secret = try KeyPair.unwrap(sealed, with: vault, purpose: purpose(team, key.keyID.bytes))
        guard try KeyPair.publicKey(key.suite, of: secret) == key.publicKey else {
            throw ModelError(.malformed, "The private half is not that of the key \(key.keyID).")
        }
        return key.with(.privateKey(secret), signature: key.signature)
    }

    private static func signer(
        _ publicKey: SigningPublicKey,
        _ sealed: [UInt8]?,
        _ team: String,
        _ vault: ModelKey
    ) throws(ModelError) -> IdentityKey? {
        guard let sealed else { return nil }
        let secret = try KeyPair.unwrap(sealed, with: vault, purpose: purpose(team, publicKey.keyID.bytes))
        let key = try IdentityKey(publicKey.algorithm.engine, secret: secret)
        guard key.publicKey == publicKey.engine else {
            throw ModelError(.malformed, "The private half is not that of the key \(publicKey.keyID).")
        }
        return key
    }

    private static func purpose(_ team: String, _ keyID: [UInt8]) -> [UInt8] {
        Array("mlk/1 ring\0".utf8) + DeviceIdentifier.prefixed(Array(team.utf8)) + keyID
    }

    private static func each<T, R>(
        _ list: [T],
        _ transform: (T) throws(ModelError) -> R
    ) throws(ModelError) -> [R] {
        var result: [R] = []
        for item in list { result.append(try transform(item)) }
        return result
    }
}

/// Texts whose member `mac` authenticates the text without that member.
enum AuthenticatedText {
    static func code(
        _ members: [JSONValue.Member],
        _ key: ModelKey,
        _ purpose: String
    ) throws(ModelError) -> [UInt8] {
        try code(CanonicalWriter.bytes(.object(members)), key, purpose)
    }

    private static func code(_ text: [UInt8], _ key: ModelKey, _ purpose: String) throws(ModelError) -> [UInt8] {
        guard let secret = key.secret else { throw ModelError(.keyFetch, "The key \(key.keyID) is locked.") }
        return EncryptionRecord.authenticationCode(text, secret, purpose: purpose, [])
    }

    /// Throws `decryption` unless `expected`, the member `mac` of a text that was read, authenticates the rest of it.
    static func check(
        _ expected: [UInt8],
        of text: [UInt8],
        _ key: ModelKey,
        _ purpose: String
    ) throws(ModelError) {
        let member = Array("\"mac\":\"\(Base64.text(expected))\",".utf8)
        guard let place = text.firstRange(of: member) else {
            throw ModelError(.malformed, "The text has no code where one is expected.")
        }
        var remaining = text
        remaining.removeSubrange(place)
        guard constantTimeEqual(try code(remaining, key, purpose), expected) else {
            throw ModelError(.decryption, "The text was changed, or is of another key; restore it.")
        }
    }
}

func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}

extension CanonicalReader {
    mutating func optionalBase64(_ name: StaticString, limit: Int) throws(ModelError) -> [UInt8]? {
        try optional(name) { (value) throws(ModelError) in try value.base64(limit: limit) }
    }
}
