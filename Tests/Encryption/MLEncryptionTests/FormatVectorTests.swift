import Crypto
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// The vectors of the format specifications, which scripts/generate/format-vectors wrote with Python.
@Suite struct FormatVectorTests {
    private func vectors(_ name: String) throws -> [JSONValue] {
        let folder = FileAccess.folder(
            of: FileAccess.folder(of: FileAccess.folder(of: FileAccess.folder(of: #filePath)))
        )
        let text = try FileAccess.read("\(folder)/Documentation/Formats/vectors/\(name).json")
        guard case .array(let vectors)? = try JSONReader.read(text)["vectors"] else { return [] }
        #expect(vectors.count > 10)
        return vectors
    }

    private func name(_ vector: JSONValue) -> String { vector["name"]?.string ?? "" }
    private func isValid(_ vector: JSONValue) -> Bool { vector["valid"] == .bool(true) }
    private func base64(_ value: JSONValue?) throws -> [UInt8] {
        let text = try #require(value?.string)
        return try #require(Base64.bytes(text.utf8))
    }

    private func hexadecimal(_ value: JSONValue?) throws -> [UInt8] {
        let text = try #require(value?.string)
        return try #require(Hexadecimal.bytes(text.utf8))
    }

    private func members(_ value: JSONValue?) -> [JSONValue.Member] {
        guard case .object(let members)? = value else { return [] }
        return members
    }

    // MARK: Pieces

    /// SHA-256 of a seed and a number, one behind the other; zeros without a seed.
    private func stream(_ seed: String, _ count: Int) -> [UInt8] {
        guard !seed.isEmpty else { return [UInt8](repeating: 0, count: count) }
        var bytes: [UInt8] = []
        for number in 0..<(count + 31) / 32 {
            let index = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            bytes += SHA256.hash(data: Array(seed.utf8) + index)
        }
        return Array(bytes.prefix(count))
    }

    @Test func pieces() throws {
        for vector in try vectors("chunks") {
            guard case .array(let parts)? = vector["parts"], case .array(let sizes)? = vector["sizes"],
                case .integer(let doublings)? = vector["doublings"]
            else { throw ModelError(.malformed, "\(name(vector)) is no vector") }
            let content = parts.flatMap { part -> [UInt8] in
                guard case .integer(let size)? = part["size"] else { return [] }
                return stream(part["seed"]?.string ?? "", Int(size))
            }
            let lengths = content.withUnsafeBytes { ContentChunks(doublings: Int(doublings)).lengths(of: $0) }
            #expect(sizes == lengths.map { .integer(Int64($0)) }, "\(name(vector))")
        }
    }

    @Test func piecesAreWithinTheirBoundsAndFindEachOtherAgain() {
        let cut = ContentChunks()
        let content = stream("a model", 4_000_000)
        func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
            let lengths = bytes.withUnsafeBytes { cut.lengths(of: $0) }
            #expect(lengths.reduce(0, +) == bytes.count)
            #expect(
                lengths.allSatisfy { $0 <= cut.maximumByteCount }
                    && lengths.dropLast().allSatisfy { $0 >= cut.minimumByteCount }
            )
            var start = 0
            return lengths.map { length in
                defer { start += length }
                return Array(SHA256.hash(data: bytes[start..<start + length]))
            }
        }
        let before = pieces(content)
        #expect(40...80 ~= before.count)
        for place in [0, 1, 1_000_000, 2_345_678, 3_999_999] {
            for inserted in [1, 3, 1000, 100_000] {
                let after = pieces(Array(content[..<place]) + stream("more", inserted) + content[place...])
                // Those that the change touches, and those until the next common boundary.
                #expect(Set(before).subtracting(after).count <= 6, "\(inserted) bytes at \(place)")
            }
        }
    }

    // MARK: Cobblestone

    @Test func messages() throws {
        let vectors = try vectors("cobblestone")
        var right: [String: [UInt8]] = [:]
        for vector in vectors where isValid(vector) { right[name(vector)] = try base64(vector["stored"]) }
        for vector in vectors {
            let bytes = try hexadecimal(vector["key"])
            let context = try hexadecimal(vector["context"])
            let key = SecretBytes { (place: UnsafeMutableRawBufferPointer) in place.copyBytes(from: bytes) }
            if let stored = right[name(vector)] {
                let plain = try Cobblestone.open(stored, key: key, context: context)
                #expect(vector["size"] == .integer(Int64(plain.count)))
                #expect(vector["sha256"]?.string == Hexadecimal.text(SHA256.hash(data: plain)))
                // The same salt gives the same bytes.
                var again: [UInt8] = []
                plain.withUnsafeBytes { bytes in
                    Cobblestone.seal(bytes, key: key, context: context, salt: Array(stored.prefix(24))) { again += $0 }
                }
                #expect(again == stored, "\(name(vector))")
            } else {
                let stored = try assembled(right[vector["of"]?.string ?? ""] ?? [], vector["pieces"])
                #expect(throws: ModelError.self, "\(name(vector))") {
                    try Cobblestone.open(stored, key: key, context: context)
                }
            }
        }
    }

    /// Parts of `data` one behind the other; behind "flip" the first byte has its lowest bit changed.
    private func assembled(_ data: [UInt8], _ pieces: JSONValue?) throws -> [UInt8] {
        guard case .array(let pieces)? = pieces else { return [] }
        var result: [UInt8] = []
        var flips = false
        for piece in pieces {
            guard case .array(let range) = piece, case .integer(let start) = range[0], case .integer(let end) = range[1]
            else {
                flips = true
                continue
            }
            var part = Array(data[Int(start)..<Int(end)])
            if flips { part[0] ^= 1 }
            flips = false
            result += part
        }
        return result
    }

    // MARK: Keys

    private func key(_ text: String) throws -> ModelKey {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBytes { try ModelKey(text: $0) }
    }

    @Test func keys() throws {
        for vector in try vectors("mlmodelkey") {
            let text = try #require(vector["text"]?.string)
            guard isValid(vector) else {
                #expect(throws: ModelError.self, "\(name(vector))") {
                    let key = try self.key(text)
                    if let passphrase = vector["passphrase"]?.string {
                        _ = try KeyProtection.unlock(key, passphrase: SecretText(Array(passphrase.utf8)))
                    }
                }
                continue
            }
            var key = try self.key(text)
            #expect(key.text == Array(text.utf8), "\(name(vector)): written as it was read")
            if let passphrase = vector["passphrase"]?.string {
                key = try KeyProtection.unlock(key, passphrase: SecretText(Array(passphrase.utf8)))
            } else if let recipient = vector["recipient"]?.string {
                key = try KeyProtection.unlock(key, with: self.key(recipient))
            }
            #expect(key.secret?.withBytes { Hexadecimal.text($0) } == vector["secret"]?.string, "\(name(vector))")
        }
    }

    // MARK: Encrypted models

    /// Opens the folder at `path` with the vector's key, as `key` says; gives the hashes of all its files.
    private func opened(_ files: any StoredFiles, at path: String, _ vector: JSONValue) throws -> [String: String] {
        let record = try Vault.record(in: files, at: path)
        let contentKey = try record.contentKey(key(vector["key"]?.string ?? ""))
        return try hashes(
            EncryptedFolder(record, contentKey: contentKey, stored: files),
            (record.files.map(\.path) + record.clear.map(\.path))
        )
    }

    private func hashes(_ contents: any FolderContents, _ paths: [String]) throws -> [String: String] {
        var result: [String: String] = [:]
        for path in paths {
            let storage = try #require(try contents.contents(of: path))
            result[path] = storage.withBytes { Hexadecimal.text(SHA256.hash(data: $0)) }
        }
        return result
    }

    private func expected(_ vector: JSONValue) -> [String: String] {
        Dictionary(uniqueKeysWithValues: members(vector["sha256"]).map { ($0.name, $0.value.string ?? "") })
    }

    @Test func encryptedModels() throws {
        let vectors = try vectors("encrypted-mlmodelc")
        for vector in vectors {
            try withTemporaryFolder { folder in
                let base = vectors.first { name($0) == vector["of"]?.string }
                for file in members(base?["files"]) + members(vector["files"]) {
                    let place = folder + "/" + file.name
                    try FileAccess.makeFolder(FileAccess.folder(of: place))
                    try FileAccess.write(try base64(file.value), to: place)
                }
                let files = StoredFolder(folder)
                guard isValid(vector) else {
                    #expect(throws: ModelError.self, "\(name(vector))") { try opened(files, at: folder, vector) }
                    return
                }
                #expect(try opened(files, at: folder, vector) == expected(vector), "\(name(vector))")
            }
        }
    }

    // MARK: Archives

    private func bytes(_ parts: JSONValue?) throws -> [UInt8] {
        guard case .array(let parts)? = parts else { return [] }
        return try parts.flatMap { part in
            if case .integer(let count) = part { return [UInt8](repeating: 0, count: Int(count)) }
            return try base64(part)
        }
    }

    private func openedArchive(_ path: String, _ vector: JSONValue) throws -> [String: String] {
        let archive = try ModelArchive(path)
        try archive.verify()
        if let signer = vector["signer"]?.string {
            let isSigned = archive.signatures.contains {
                Hexadecimal.text($0.signer.bytes) == signer
                    && $0.matches(name: archive.header.model.name, headerHash: archive.headerHash)
            }
            guard isSigned else { throw ModelError(.malformed, "not signed") }
        }
        guard let record = try archive.record else {
            return try hashes(archive.contents, archive.header.files.map(\.path))
        }
        try archive.check(record.contentKey(key(vector["key"]?.string ?? "")))
        return try opened(archive.files, at: path, vector)
    }

    @Test func archives() throws {
        for vector in try vectors("mlarchive") {
            try withTemporaryFolder { folder in
                let path = folder + "/A.mlarchive"
                try FileAccess.write(try bytes(vector["archive"]), to: path)
                guard isValid(vector) else {
                    #expect(throws: ModelError.self, "\(name(vector))") { try openedArchive(path, vector) }
                    return
                }
                #expect(try openedArchive(path, vector) == expected(vector), "\(name(vector))")
                let archive = try ModelArchive(path)
                #expect(
                    Hexadecimal.text(SHA256.hash(data: archive.header.text)) == Hexadecimal.text(archive.headerHash)
                )
            }
        }
    }
}

/// Lends a folder that is removed afterwards.
func withTemporaryFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = try FileAccess.makeTemporaryFolder("encryption-tests")
    defer { try? FileAccess.remove(folder) }
    return try body(folder)
}
