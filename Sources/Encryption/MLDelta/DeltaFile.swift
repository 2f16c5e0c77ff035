import Crypto
package import MLArchive
package import MLEncryption
package import MLFiles
package import MLNumerics

/// A delta whose header has been verified, but not its body.
package struct DeltaFile: Sendable {
    package let header: DeltaHeader
    /// The header of the archive that it makes.
    package let newHeader: ArchiveHeader
    /// The encryption record of the model that it makes; `nil` for a model in the clear.
    package let record: EncryptionRecord?
    package let recordText: [UInt8]
    private let prefix: [UInt8]
    private let payloadStart: Int
    private let path: String
    private let file: OpenFile
    private let bodyOffset: Int

    package init(_ path: String) throws(ModelError) {
        let file = try OpenFile(path)
        self = try withErrorContext(path) { () throws(ModelError) in try DeltaFile(file, path) }
    }

    private init(_ file: OpenFile, _ path: String) throws(ModelError) {
        (self.file, self.path) = (file, path)
        header = try Self.header(of: file)
        var offset = DeltaHeader.startByteCount + header.text.count
        func next(_ count: Int) throws(ModelError) -> [UInt8] {
            guard count <= file.byteCount - offset else { throw Self.cutOff }
            defer { offset += count }
            return try file.bytes(at: offset, count: count)
        }
        prefix = try next(header.prefixByteCount)
        recordText = try next(header.recordByteCount)
        bodyOffset = offset
        let start = try ArchiveStart(Array(prefix.prefix(ArchiveStart.byteCount)))
        guard start.byteCount == prefix.count else { throw Self.contradiction }
        newHeader = try start.header(Array(prefix[ArchiveStart.byteCount...].prefix(start.headerByteCount)))
        payloadStart = start.payloadStart
        let byteCount = newHeader.files.isEmpty ? header.new.byteCount : payloadStart + newHeader.payloadByteCount
        guard byteCount == header.new.byteCount, byteCount >= prefix.count else { throw Self.contradiction }
        record = try Self.record(recordText, newHeader)
    }

    private static func header(of file: OpenFile) throws(ModelError) -> DeltaHeader {
        guard file.byteCount >= DeltaHeader.startByteCount else { throw cutOff }
        let start = try file.bytes(at: 0, count: DeltaHeader.startByteCount)
        guard start.starts(with: DeltaHeader.magic), start[12..<16].allSatisfy({ $0 == 0 }) else {
            throw ModelError(.malformed, "This is not a delta of a model; check the file.")
        }
        let count = (0..<4).reduce(0) { $0 | Int(start[8 + $1]) << (8 * $1) }
        guard count <= DeltaHeader.maximumByteCount, count <= file.byteCount - DeltaHeader.startByteCount else {
            throw cutOff
        }
        let text = try file.bytes(at: DeltaHeader.startByteCount, count: count)
        guard SHA256.hash(data: text).elementsEqual(start[16...]) else {
            throw ModelError(.malformed, "The delta's header is damaged; get it again.")
        }
        return try withErrorContext("header") { () throws(ModelError) in try DeltaHeader(text: text) }
    }

    private static func record(
        _ text: [UInt8],
        _ header: ArchiveHeader
    ) throws(ModelError) -> EncryptionRecord? {
        guard let encryption = header.encryption else {
            guard text.isEmpty else { throw contradiction }
            return nil
        }
        guard let file = header.files.first(where: { $0.path == ModelVaults.encryptionName }),
            file.byteCount == text.count, SHA256.hash(data: text).elementsEqual(file.hash)
        else { throw contradiction }
        let record = try EncryptionRecord(text: text)
        guard record.contentID == encryption.contentID, record.keyID == encryption.keyID else { throw contradiction }
        return record
    }

    static var cutOff: ModelError { ModelError(.malformed, "The delta was cut off; get it again.") }
    private static var contradiction: ModelError {
        ModelError(.malformed, "The delta's header does not match the archive that it makes; get it again.")
    }

    private static var wrongResult: ModelError {
        ModelError(
            .malformed,
            "The delta does not turn the old archive into the new one: the old model was changed, or the delta is wrong."
        )
    }

    // MARK: Applying

    /// Writes the new archive to `path`, with exactly the bytes of the published one.
    ///
    /// Files of an encrypted model are encrypted with the salts that its `encryption.json` names. `old` has the header
    /// of the existing archive and its contents in the clear, and `contentKey` is that of the new model, if it is
    /// encrypted. Throws, and leaves no file, when the result is not the archive that the delta names.
    package func apply(
        to old: (header: ArchiveHeader, contents: any FolderContents),
        contentKey: SecretBytes?,
        path: String
    ) throws(ModelError) {
        // Unpacked parts of an encrypted model are left out of core dumps, as the model is.
        let scratch = try Scratch(isSecret: record != nil)
        var body = try readBody(contentKey, scratch)
        let result = try HashedFile(path)
        try result.append(prefix)
        for entry in newHeader.files {
            try result.appendZeros(upTo: payloadStart + entry.offset)
            if record != nil, entry.path == ModelVaults.encryptionName {
                try result.append(recordText)
            } else {
                try withErrorContext(entry.path) { () throws(ModelError) in
                    try write(entry, &body, OldModelFiles(old.header, old.contents), contentKey, result)
                }
            }
            guard result.count == payloadStart + entry.offset + entry.byteCount else { throw DeltaSegment.malformed }
        }
        try result.appendZeros(upTo: header.new.byteCount)
        guard body.isAtEnd, try result.finish(header.new.hash) else {
            throw Self.wrongResult
        }
    }

    /// The body with the descriptions of the files, decrypted where it is encrypted.
    private func readBody(_ contentKey: SecretBytes?, _ scratch: Scratch) throws(ModelError) -> DeltaBody {
        guard let record else {
            let storage = try MappedFile(path).storage
            guard storage.byteCount == file.byteCount else { throw Self.cutOff }
            return DeltaBody(storage, from: bodyOffset, scratch)
        }
        guard let contentKey else { throw ModelError(.keyFetch, "The key of the new model is not available.") }
        try record.check(contentKey)
        let count = file.byteCount - bodyOffset
        guard let plain = Cobblestone.byteCount(ofStored: count) else { throw Self.cutOff }
        let storage = try SecretMemory.storage(plain) { (bytes) throws(ModelError) in
            try Cobblestone.open(
                storedByteCount: count,
                key: contentKey,
                context: header.context(record.contentID),
                into: bytes
            ) { (offset, buffer) throws(ModelError) in try file.read(at: bodyOffset + offset, into: buffer) }
        }
        return DeltaBody(storage, from: 0, scratch)
    }

    /// Writes a file in the form in which the new archive stores it.
    private func write(
        _ entry: ArchiveHeader.File,
        _ body: inout DeltaBody,
        _ old: OldModelFiles,
        _ contentKey: SecretBytes?,
        _ result: HashedFile
    ) throws(ModelError) {
        guard let record, let contentKey, let file = record.files.first(where: { $0.path == entry.path }) else {
            return try body.readFile(entry.byteCount, old) { (bytes) throws(ModelError) in try result.append(bytes) }
        }
        guard Cobblestone.storedByteCount(of: file.byteCount) == entry.byteCount else { throw DeltaSegment.malformed }
        var reader = body
        let plain = try SecretMemory.storage(file.byteCount) { (target) throws(ModelError) in
            var position = 0
            try reader.readFile(file.byteCount, old) { (bytes) throws(ModelError) in
                UnsafeMutableRawBufferPointer(rebasing: target[position...]).copyMemory(from: bytes)
                position += bytes.count
            }
        }
        body = reader
        func seal(_ take: (UnsafeRawBufferPointer) throws(ModelError) -> Void) throws(ModelError) {
            try plain.withBytes { (bytes) throws(ModelError) in
                try Cobblestone.seal(
                    bytes,
                    key: contentKey,
                    context: record.context(entry.path),
                    salt: Array(file.start.prefix(Cobblestone.saltByteCount)),
                    into: take
                )
            }
        }
        // Another message than the publisher's, encrypted with its salt, must not reach the disk: both together would
        // reveal both.
        var hash = SHA256()
        try seal { (piece) in hash.update(bufferPointer: piece) }
        guard hash.finalize().elementsEqual(entry.hash) else { throw Self.wrongResult }
        try seal { (piece) throws(ModelError) in try result.append(piece) }
    }
}

/// The files of the old model, by their numbers in its archive's header.
struct OldModelFiles {
    private let header: ArchiveHeader
    private let contents: any FolderContents

    init(_ header: ArchiveHeader, _ contents: any FolderContents) {
        self.header = header
        self.contents = contents
    }

    func file(_ number: Int) throws(ModelError) -> TensorStorage {
        guard header.files.indices.contains(number), let file = try contents.contents(of: header.files[number].path)
        else { throw DeltaSegment.malformed }
        return file
    }
}

/// Reads the descriptions of files one after the other.
struct DeltaBody {
    private let storage: TensorStorage
    private var position: Int
    private let scratch: Scratch

    init(_ storage: TensorStorage, from position: Int, _ scratch: Scratch) {
        self.storage = storage
        self.position = position
        self.scratch = scratch
    }

    var isAtEnd: Bool { position == storage.byteCount }

    private mutating func take(_ count: Int) throws(ModelError) -> UnsafeRawBufferPointer {
        guard count <= storage.byteCount - position else { throw DeltaFile.cutOff }
        defer { position += count }
        return UnsafeRawBufferPointer(start: storage.address + position, count: count)
    }

    /// Passes on the bytes of the next file, which has `byteCount` of them.
    mutating func readFile(
        _ byteCount: Int,
        _ old: OldModelFiles,
        _ give: (UnsafeRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) {
        let count = try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        var remaining = byteCount
        var source: (number: Int, storage: TensorStorage)?
        for _ in 0..<count {
            let segment = try DeltaSegment(Array(try take(DeltaSegment.byteCount)))
            guard segment.byteCount <= remaining else { throw DeltaSegment.malformed }
            remaining -= segment.byteCount
            let packed = try take(segment.packedByteCount)
            if segment.kind != .bytes, source?.number != segment.file {
                source = (segment.file, try old.file(segment.file))
            }
            try read(segment, packed, source?.storage, give)
        }
        guard remaining == 0 else { throw DeltaSegment.malformed }
    }

    private func read(
        _ segment: DeltaSegment,
        _ packed: UnsafeRawBufferPointer,
        _ source: TensorStorage?,
        _ give: (UnsafeRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) {
        let unpacked = scratch.unpacked
        if segment.kind == .bytes {
            let target = UnsafeMutableRawBufferPointer(rebasing: unpacked[..<segment.byteCount])
            try Packing.unpack(packed, into: target)
            return try give(UnsafeRawBufferPointer(target))
        }
        guard let source, segment.offset <= source.byteCount, segment.byteCount <= source.byteCount - segment.offset
        else { throw DeltaSegment.malformed }
        try source.withBytes { (bytes) throws(ModelError) in
            let before = UnsafeRawBufferPointer(rebasing: bytes[segment.offset...].prefix(segment.byteCount))
            guard case .difference(let type, let skipped) = segment.kind else { return try give(before) }
            let text = UnsafeMutableRawBufferPointer(rebasing: unpacked[..<segment.byteCount])
            try Packing.unpack(packed, into: text)
            let made = UnsafeMutableRawBufferPointer(rebasing: scratch.made[..<segment.byteCount])
            let elements = DeltaSegment.elements(type, skipped: skipped, of: segment.byteCount)
            let behind = segment.byteCount - elements.upperBound
            let planes = elements.lowerBound + behind
            UnsafeMutableRawBufferPointer(rebasing: made[..<elements.lowerBound])
                .copyBytes(from: text[..<elements.lowerBound])
            UnsafeMutableRawBufferPointer(rebasing: made[elements.upperBound...])
                .copyBytes(from: text[elements.lowerBound..<planes])
            ElementDifference.read(
                type,
                UnsafeRawBufferPointer(rebasing: text[planes...]),
                from: UnsafeRawBufferPointer(rebasing: before[elements]),
                into: UnsafeMutableRawBufferPointer(rebasing: made[elements])
            )
            try give(UnsafeRawBufferPointer(made))
        }
    }
}

/// Scratch buffers in which segments are unpacked, one after the other.
final class Scratch {
    private let storage: TensorStorage

    /// Allocates the buffers; secret ones are left out of core dumps.
    init(isSecret: Bool) throws(ModelError) {
        let byteCount = 2 * DeltaSegment.maximumByteCount
        storage =
            isSecret ? try SecretMemory.writableStorage(byteCount) : TensorStorage(byteCount: byteCount)
    }

    /// The buffer for unpacked bytes.
    var unpacked: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: storage.address, count: DeltaSegment.maximumByteCount)
    }

    /// The buffer for the bytes made of them.
    var made: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            start: storage.address + DeltaSegment.maximumByteCount,
            count: DeltaSegment.maximumByteCount
        )
    }
}

/// A new file whose hash is computed while it is written.
private final class HashedFile {
    private let file: NewFile
    private var hash = SHA256()

    init(_ path: String) throws(ModelError) { file = try NewFile(replacing: path) }

    var count: Int { file.count }

    func append(_ bytes: UnsafeRawBufferPointer) throws(ModelError) {
        hash.update(bufferPointer: bytes)
        try file.append(bytes.bytes)
    }

    func append(_ bytes: [UInt8]) throws(ModelError) {
        hash.update(data: bytes)
        try file.append(bytes)
    }

    /// Appends the zeros between two files, fewer than 4096.
    func appendZeros(upTo count: Int) throws(ModelError) {
        guard 0..<4096 ~= count - file.count else { throw DeltaSegment.malformed }
        try append([UInt8](repeating: 0, count: count - file.count))
    }

    /// Renames the file if its bytes have this hash, and returns whether they have.
    func finish(_ expected: [UInt8]) throws(ModelError) -> Bool {
        guard hash.finalize().elementsEqual(expected) else { return false }
        try file.finish()
        return true
    }
}
