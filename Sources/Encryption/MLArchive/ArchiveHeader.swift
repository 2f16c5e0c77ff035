import Crypto
package import MLEncryption
import MLFiles
package import MLNumerics

/// The header of an archive: the description of the model, and the list of its files.
package struct ArchiveHeader: Sendable {
    package struct File: Sendable {
        package let path: String
        /// The number of stored bytes.
        package let byteCount: Int
        /// The offset of the file from the beginning of the payload: a multiple of 4096.
        package let offset: Int
        package let hash: [UInt8]
        /// The pieces of the file, in their order, for fetching or verifying parts of it.
        package let chunks: [Chunk]
    }

    package struct Chunk: Sendable {
        package let byteCount: Int
        package let hash: [UInt8]
    }

    /// The description of the model, for programs that do not open it.
    package struct Model: Sendable {
        package var name: String
        /// The kind, as the specification names it, such as `mlProgram`; `nil` when the archive's maker could not read
        /// the model.
        package var kind: String?
        package var specificationVersion: Int?
        /// The SHA-256 of the canonical JSON of the interface.
        package var interfaceHash: [UInt8]?
        package var version: String?

        package init(name: String) { self.name = name }
    }

    /// The key that the model is encrypted with.
    package struct Encryption: Sendable {
        package let contentID: [UInt8]
        package let keyID: KeyID
        package let team: String
        /// An authentication code of the header that only a holder of the content key can compute.
        package fileprivate(set) var code: [UInt8]
    }

    package let created: String
    package let encryption: Encryption?
    package let files: [File]
    package let model: Model
    /// The program that made the archive.
    package let tool: String

    package static let maximumByteCount = 4 << 20
    static let maximumChunkByteCount = 4 << 20
    static let maximumChunkCount = 100_000
    static let alignment = 4096

    init(
        created: String,
        record: EncryptionRecord?,
        contentKey: SecretBytes?,
        files: [File],
        model: Model,
        tool: String
    ) {
        self.created = created
        self.files = files
        self.model = model
        self.tool = tool
        guard let record else {
            encryption = nil
            return
        }
        var encryption = Encryption(contentID: record.contentID, keyID: record.keyID, team: record.team, code: [])
        if let contentKey {
            let text = Self.text(created, encryption, files, model, tool)
            encryption.code = Self.code(text, contentKey, record.contentID)
        }
        self.encryption = encryption
    }

    /// Throws when the header was written without `contentKey`.
    func check(_ contentKey: SecretBytes) throws(ModelError) {
        guard var encryption, !encryption.code.isEmpty else { return }
        let code = encryption.code
        encryption.code = []
        let right = Self.code(Self.text(created, encryption, files, model, tool), contentKey, encryption.contentID)
        guard right == code else {
            throw ModelError(.decryption, "The archive's header was changed by someone without the key; get it again.")
        }
    }

    private static func code(_ text: [UInt8], _ contentKey: SecretBytes, _ contentID: [UInt8]) -> [UInt8] {
        EncryptionRecord.authenticationCode(text, contentKey, purpose: "mlk/1 archive", contentID)
    }

    /// The next possible offset of a file: the next multiple of 4096.
    static func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }

    // MARK: Text

    package var text: [UInt8] { Self.text(created, encryption, files, model, tool) }

    private static func text(
        _ created: String,
        _ encryption: Encryption?,
        _ files: [File],
        _ model: Model,
        _ tool: String
    ) -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("compression", .string("none")), .init("created", .string(created)),
            .init("files", .array(files.map(json))), .init("format", .integer(1)), .init("model", model.json),
            .init("tool", .string(tool)), .init("type", .string("mlarchive")),
        ]
        if let encryption { members.append(.init("encryption", encryption.json)) }
        return CanonicalWriter.bytes(.object(members))
    }

    private static func json(_ file: File) -> JSONValue {
        .object([
            .init(
                "chunks",
                .array(
                    file.chunks.map {
                        .object([
                            .init("sha256", .string(Hexadecimal.text($0.hash))),
                            .init("size", .integer(Int64($0.byteCount))),
                        ])
                    }
                )
            ),
            .init("offset", .integer(Int64(file.offset))), .init("path", .string(file.path)),
            .init("sha256", .string(Hexadecimal.text(file.hash))), .init("size", .integer(Int64(file.byteCount))),
        ])
    }

    /// Reads the text of a header that was stored apart from its archive.
    package init(readingText text: [UInt8]) throws(ModelError) { self = try ArchiveHeader(text: text) }

    init(text: [UInt8]) throws(ModelError) {
        self = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (header) throws(ModelError) in try ArchiveHeader(members: &header) }
        }
        try checkLayout()
    }

    /// Reads the members in the order of their names.
    private init(members header: inout CanonicalReader) throws(ModelError) {
        try header.member("compression") { (value) throws(ModelError) in
            let name = try value.string()
            guard name == "none" else {
                throw ModelError(
                    .unsupported,
                    "The archive is compressed with \"\(name)\", which this version cannot read."
                )
            }
        }
        created = try header.member("created") { (value) throws(ModelError) in try value.string(limit: 20) }
        encryption = try header.optional("encryption") { (value) throws(ModelError) in try Encryption(&value) }
        var chunksLeft = Self.maximumChunkCount
        files = try header.member("files") { (list) throws(ModelError) in
            try list.list(limit: ContainedPath.maximumFileCount) { (item) throws(ModelError) in
                let file = try File(&item, maximumChunkCount: chunksLeft)
                chunksLeft -= file.chunks.count
                return file
            }
        }
        try header.member("format") { (value) throws(ModelError) in
            let format = try value.integer()
            guard format == 1 else {
                throw ModelError(
                    .unsupported,
                    "The archive is of the format \(format), but this version reads format 1; use a newer swift-coreml."
                )
            }
        }
        model = try header.member("model") { (value) throws(ModelError) in try Model(&value) }
        tool = try header.member("tool") { (value) throws(ModelError) in try value.string() }
        try header.member("type") { (value) throws(ModelError) in try value.string("mlarchive") }
    }

    /// Throws unless the files follow one another, each divided into its pieces.
    private func checkLayout() throws(ModelError) {
        try ContainedPath.check(all: files.map(\.path))
        var end = 0
        for file in files {
            guard file.offset == Self.aligned(end) else {
                throw ModelError(
                    .malformed,
                    "The file begins at \(file.offset) where \(Self.aligned(end)) was expected: files follow one another "
                        + "without gaps and overlaps.",
                    at: file.path
                )
            }
            // Both are less than 2^53.
            end = file.offset + file.byteCount
            var remaining = file.byteCount
            for chunk in file.chunks {
                guard 1...Self.maximumChunkByteCount ~= chunk.byteCount, chunk.byteCount <= remaining else {
                    throw ModelError(.malformed, "The pieces are not those of \(file.byteCount) bytes.", at: file.path)
                }
                remaining -= chunk.byteCount
            }
            guard remaining == 0 else {
                throw ModelError(.malformed, "The pieces are not those of \(file.byteCount) bytes.", at: file.path)
            }
        }
    }

    /// The number of bytes of all files and the padding between them.
    package var payloadByteCount: Int { files.last.map { $0.offset + $0.byteCount } ?? 0 }
}

extension ArchiveHeader.File {
    fileprivate init(_ reader: inout CanonicalReader, maximumChunkCount: Int) throws(ModelError) {
        self = try reader.object { (file) throws(ModelError) in
            let chunks = try file.member("chunks") { (list) throws(ModelError) in
                try list.list(limit: maximumChunkCount) { (item) throws(ModelError) in
                    try item.object { (chunk) throws(ModelError) in
                        let hash = try chunk.member("sha256") { (value) throws(ModelError) in try value.hexadecimal(32)
                        }
                        let size = try chunk.member("size") { (value) throws(ModelError) in try value.integer() }
                        return ArchiveHeader.Chunk(byteCount: size, hash: hash)
                    }
                }
            }
            let offset = try file.member("offset") { (value) throws(ModelError) in try value.integer() }
            let path = try file.member("path") { (value) throws(ModelError) in
                try value.string(limit: ContainedPath.maximumLength)
            }
            let hash = try file.member("sha256") { (value) throws(ModelError) in try value.hexadecimal(32) }
            let size = try file.member("size") { (value) throws(ModelError) in try value.integer() }
            return Self(path: path, byteCount: size, offset: offset, hash: hash, chunks: chunks)
        }
    }
}

extension ArchiveHeader.Model {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        if let interfaceHash { members.append(.init("interface", .string(Hexadecimal.text(interfaceHash)))) }
        if let kind { members.append(.init("kind", .string(kind))) }
        if let specificationVersion {
            members.append(.init("specificationVersion", .integer(Int64(specificationVersion))))
        }
        if let version { members.append(.init("version", .string(version))) }
        return .object(members)
    }

    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (model) throws(ModelError) in
            let hash = try model.optional("interface") { (value) throws(ModelError) in try value.hexadecimal(32) }
            let kind = try model.optional("kind") { (value) throws(ModelError) in try value.string(limit: 100) }
            var result = Self(name: try model.member("name") { (value) throws(ModelError) in try value.string() })
            result.interfaceHash = hash
            result.kind = kind
            result.specificationVersion = try model.optional("specificationVersion") { (value) throws(ModelError) in
                try value.integer()
            }
            result.version = try model.optional("version") { (value) throws(ModelError) in try value.string() }
            return result
        }
    }
}

extension ArchiveHeader.Encryption {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("contentID", .string(Hexadecimal.text(contentID))), .init("keyID", .string(keyID.description)),
            .init("team", .string(team)),
        ]
        if !code.isEmpty { members.append(.init("mac", .string(Base64.text(code)))) }
        return .object(members)
    }

    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (encryption) throws(ModelError) in
            let contentID = try encryption.member("contentID") { (value) throws(ModelError) in
                try value.hexadecimal(EncryptionRecord.contentIDByteCount)
            }
            let keyID = KeyID(
                try encryption.member("keyID") { (value) throws(ModelError) in try value.hexadecimal(KeyID.byteCount) }
            )
            let code = try encryption.optional("mac") { (value) throws(ModelError) in try value.base64(count: 32) }
            let team = try encryption.member("team") { (value) throws(ModelError) in try value.string(limit: 200) }
            return Self(contentID: contentID, keyID: keyID, team: team, code: code ?? [])
        }
    }
}
