import Crypto
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics

/// The header of a delta (`.mldelta`): the archives that it starts from and makes.
///
/// Documentation/Formats/mldelta.md describes the format.
package struct DeltaHeader: Sendable, Equatable {
    /// An archive, by the SHA-256 and the length of its file.
    package struct Archive: Sendable, Equatable {
        package let hash: [UInt8]
        package let byteCount: Int

        package init(hash: [UInt8], byteCount: Int) {
            self.hash = hash
            self.byteCount = byteCount
        }
    }

    package let created: String
    /// The archive that devices have.
    package let old: Archive
    /// The archive that they get.
    package let new: Archive
    /// The number of bytes before the new archive's payload: its start, header and signatures.
    let prefixByteCount: Int
    /// The number of bytes of the new model's `encryption.json`; 0 for a model in the clear.
    let recordByteCount: Int
    package let tool: String

    static let magic = Array("MLDELT1\n".utf8)
    package static let startByteCount = 48
    static let maximumByteCount = 4096
    /// A limit above the size of any archive's header and signatures.
    static let maximumPrefixByteCount = 6 << 20

    // MARK: Text

    var text: [UInt8] {
        CanonicalWriter.bytes(
            .object([
                .init("created", .string(created)), .init("format", .integer(1)), .init("from", Self.json(old)),
                .init("prefix", .integer(Int64(prefixByteCount))), .init("record", .integer(Int64(recordByteCount))),
                .init("to", Self.json(new)), .init("tool", .string(tool)), .init("type", .string("mldelta")),
            ])
        )
    }

    /// All bytes before the prefix.
    var start: [UInt8] {
        let text = text
        let length = (0..<4).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
        return Self.magic + length + [0, 0, 0, 0] + SHA256.hash(data: text) + text
    }

    private static func json(_ archive: Archive) -> JSONValue {
        .object([
            .init("length", .integer(Int64(archive.byteCount))),
            .init("sha256", .string(Hexadecimal.text(archive.hash))),
        ])
    }

    init(
        created: String,
        old: Archive,
        new: Archive,
        prefixByteCount: Int,
        recordByteCount: Int,
        tool: String
    ) {
        self.created = created
        self.old = old
        self.new = new
        self.prefixByteCount = prefixByteCount
        self.recordByteCount = recordByteCount
        self.tool = tool
    }

    init(text: [UInt8]) throws(ModelError) {
        self = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (header) throws(ModelError) in try DeltaHeader(members: &header) }
        }
        guard ArchiveStart.byteCount...Self.maximumPrefixByteCount ~= prefixByteCount,
            0...EncryptionRecord.maximumTextByteCount ~= recordByteCount, prefixByteCount <= new.byteCount
        else { throw ModelError(.malformed, "The delta has parts that are too long.") }
    }

    /// Reads the members in the order of their names.
    private init(members header: inout CanonicalReader) throws(ModelError) {
        created = try header.member("created") { (value) throws(ModelError) in try value.string(limit: 20) }
        try header.member("format") { (value) throws(ModelError) in
            let format = try value.integer()
            guard format == 1 else {
                throw ModelError(.unsupported, "The delta is of the format \(format), but this version reads format 1.")
            }
        }
        old = try header.member("from") { (value) throws(ModelError) in try Archive(&value) }
        prefixByteCount = try header.member("prefix") { (value) throws(ModelError) in try value.integer() }
        recordByteCount = try header.member("record") { (value) throws(ModelError) in try value.integer() }
        new = try header.member("to") { (value) throws(ModelError) in try Archive(&value) }
        tool = try header.member("tool") { (value) throws(ModelError) in try value.string() }
        try header.member("type") { (value) throws(ModelError) in try value.string("mldelta") }
    }

    /// The context that the body of a delta of an encrypted model is bound to.
    func context(_ contentID: [UInt8]) -> [UInt8] {
        Array("mlk/1 delta\0".utf8) + contentID + old.hash + SHA256.hash(data: text)
    }
}

extension DeltaHeader.Archive {
    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (archive) throws(ModelError) in
            let byteCount = try archive.member("length") { (value) throws(ModelError) in try value.integer() }
            let hash = try archive.member("sha256") { (value) throws(ModelError) in try value.hexadecimal(32) }
            return Self(hash: hash, byteCount: byteCount)
        }
    }
}
