import Crypto
import MLFiles
package import MLNumerics

/// The contents of `encryption.json`: the key that a model was encrypted with, and the list of its files.
package struct EncryptionRecord: Sendable {
    package struct EncryptedFile: Sendable {
        package let path: String
        /// The length of the file in the clear.
        package let byteCount: Int
        /// The salt and the commitment at the beginning of the stored file.
        package let start: [UInt8]
    }

    package struct ClearFile: Sendable {
        package let path: String
        package let byteCount: Int
        package let hash: [UInt8]
    }

    /// The random identifier of this encryption.
    package let contentID: [UInt8]
    package let created: String
    package let files: [EncryptedFile]
    /// Files that anybody may read, whose bytes are authenticated nevertheless.
    package let clear: [ClearFile]
    package let keyID: KeyID
    package let team: String
    package let server: String?
    package let suite: WrapSuite
    /// The content key, wrapped for the holder of the key.
    package let wrapped: [UInt8]
    /// An authentication code of all of this that only a holder of the content key can compute.
    package private(set) var code: [UInt8] = []

    package static let contentIDByteCount = 16
    package static let maximumTextByteCount = 4 << 20

    /// Creates the record of a model that was encrypted with `contentKey`, for the holder of `key`.
    init(
        contentID: [UInt8],
        created: String,
        files: [EncryptedFile],
        clear: [ClearFile],
        contentKey: SecretBytes,
        key: ModelKey
    ) throws(ModelError) {
        self.contentID = contentID
        self.created = created
        self.files = files
        self.clear = clear
        keyID = key.keyID
        team = key.team
        server = key.server
        suite = key.suite
        wrapped = try KeyPair.wrap(contentKey, with: key, purpose: Self.purpose(key.keyID, contentID))
        code = Self.code(members, contentKey, contentID)
    }

    /// The purpose that the wrapped content key is bound to.
    static func purpose(_ keyID: KeyID, _ contentID: [UInt8]) -> [UInt8] {
        Array("mlk/1 wrap\0".utf8) + keyID.bytes + contentID
    }

    /// The context that an encrypted file is bound to.
    package func context(_ path: String) -> [UInt8] { Self.context(contentID, path) }

    static func context(_ contentID: [UInt8], _ path: String) -> [UInt8] {
        Array("mlk/1 file\0".utf8) + contentID + path.utf8
    }

    /// The same record for the holder of another key.
    package func rewrapped(_ contentKey: SecretBytes, for key: ModelKey) throws(ModelError) -> EncryptionRecord {
        try EncryptionRecord(
            contentID: contentID,
            created: created,
            files: files,
            clear: clear,
            contentKey: contentKey,
            key: key
        )
    }

    // MARK: Content key

    /// The content key, when `key` is the one that the model was encrypted for.
    package func contentKey(_ key: ModelKey) throws(ModelError) -> SecretBytes {
        guard key.keyID == keyID else {
            throw ModelError(.decryption, "The model was encrypted with the key \(keyID), not with \(key.keyID).")
        }
        let contentKey = try KeyPair.unwrap(wrapped, with: key, purpose: Self.purpose(keyID, contentID))
        try check(contentKey)
        return contentKey
    }

    /// Throws when `contentKey` is not the model's, or when anything in the record was changed.
    package func check(_ contentKey: SecretBytes) throws(ModelError) {
        guard constantTimeEqual(Self.code(members, contentKey, contentID), code) else {
            throw ModelError(
                .decryption,
                "\(ModelVaults.encryptionName) was changed, or the key is another than that of the model; restore the model."
            )
        }
    }

    private static func code(_ members: [JSONValue.Member], _ key: SecretBytes, _ contentID: [UInt8]) -> [UInt8] {
        authenticationCode(CanonicalWriter.bytes(.object(members)), key, purpose: "mlk/1 record", contentID)
    }

    /// An authentication code of `text` by a key that is derived from the content key for this purpose alone.
    package static func authenticationCode(
        _ text: [UInt8],
        _ contentKey: SecretBytes,
        purpose: String,
        _ contentID: [UInt8]
    ) -> [UInt8] {
        let key = HKDF<SHA256>.expand(
            pseudoRandomKey: contentKey.symmetricKey,
            info: Array("\(purpose)\0".utf8) + contentID,
            outputByteCount: 32
        )
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
    }

    // MARK: Text

    package var text: [UInt8] {
        CanonicalWriter.bytes(.object(members + [.init("mac", .string(Base64.text(code)))]))
    }

    /// All members except the code.
    private var members: [JSONValue.Member] {
        var key: [JSONValue.Member] = [
            .init("keyID", .string(keyID.description)), .init("suite", .string(suite.rawValue)),
            .init("team", .string(team)), .init("wrapped", .string(Base64.text(wrapped))),
        ]
        if let server { key.append(.init("server", .string(server))) }
        return [
            .init(
                "clear",
                .array(
                    clear.map {
                        .object([
                            .init("path", .string($0.path)), .init("sha256", .string(Hexadecimal.text($0.hash))),
                            .init("size", .integer(Int64($0.byteCount))),
                        ])
                    }
                )
            ),
            .init("contentID", .string(Hexadecimal.text(contentID))), .init("created", .string(created)),
            .init(
                "files",
                .array(
                    files.map {
                        .object([
                            .init("path", .string($0.path)), .init("size", .integer(Int64($0.byteCount))),
                            .init("start", .string(Base64.text($0.start))),
                        ])
                    }
                )
            ),
            .init("format", .integer(1)), .init("key", .object(key)), .init("suite", .string("Cobblestone-256")),
            .init("type", .string("mlmodelc-encryption")),
        ]
    }

    package init(text: [UInt8]) throws(ModelError) {
        guard text.count <= Self.maximumTextByteCount else {
            throw ModelError(.malformed, "\(text.count) bytes are more than \(ModelVaults.encryptionName) may have.")
        }
        self = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (record) throws(ModelError) in try EncryptionRecord(members: &record) }
        }
        try ContainedPath.check(all: (files.map(\.path) + clear.map(\.path) + [ModelVaults.encryptionName]))
    }

    /// Reads the members in the order of their names.
    private init(members record: inout CanonicalReader) throws(ModelError) {
        clear = try record.member("clear") { (list) throws(ModelError) in
            try list.list(limit: ContainedPath.maximumFileCount) { (item) throws(ModelError) in try ClearFile(&item) }
        }
        contentID = try record.member("contentID") { (value) throws(ModelError) in
            try value.hexadecimal(Self.contentIDByteCount)
        }
        created = try record.member("created") { (value) throws(ModelError) in try ModelKey.date(&value) }
        files = try record.member("files") { (list) throws(ModelError) in
            try list.list(limit: ContainedPath.maximumFileCount) { (item) throws(ModelError) in try EncryptedFile(&item)
            }
        }
        try record.member("format") { (value) throws(ModelError) in
            let format = try value.integer()
            guard format == 1 else {
                throw ModelError(
                    .unsupported,
                    "The model is encrypted in the format \(format), but this version reads format 1; use a newer swift-coreml."
                )
            }
        }
        (keyID, server, suite, team, wrapped) = try record.member("key") { (value) throws(ModelError) in
            try value.object { (key) throws(ModelError) in
                (
                    KeyID(try key.member("keyID") { (value) throws(ModelError) in try value.hexadecimal(16) }),
                    try key.optional("server") { (value) throws(ModelError) in try value.string() },
                    try key.member("suite") { (value) throws(ModelError) in try WrapSuite.read(&value) },
                    try key.member("team") { (value) throws(ModelError) in try value.string(limit: 200) },
                    try key.member("wrapped") { (value) throws(ModelError) in try value.base64(limit: 2048) }
                )
            }
        }
        code = try record.member("mac") { (value) throws(ModelError) in try value.base64(count: 32) }
        try record.member("suite") { (value) throws(ModelError) in try value.string("Cobblestone-256") }
        try record.member("type") { (value) throws(ModelError) in try value.string("mlmodelc-encryption") }
    }
}

extension EncryptionRecord.EncryptedFile {
    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (file) throws(ModelError) in
            Self(
                path: try file.member("path") { (value) throws(ModelError) in try value.string() },
                byteCount: try file.member("size") { (value) throws(ModelError) in try value.integer() },
                start: try file.member("start") { (value) throws(ModelError) in
                    try value.base64(count: Cobblestone.startByteCount)
                }
            )
        }
    }
}

extension EncryptionRecord.ClearFile {
    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (file) throws(ModelError) in
            let path = try file.member("path") { (value) throws(ModelError) in try value.string() }
            let hash = try file.member("sha256") { (value) throws(ModelError) in try value.hexadecimal(32) }
            let size = try file.member("size") { (value) throws(ModelError) in try value.integer() }
            return Self(path: path, byteCount: size, hash: hash)
        }
    }
}
