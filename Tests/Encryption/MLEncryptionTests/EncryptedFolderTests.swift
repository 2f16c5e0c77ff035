import Glibc
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// Encrypted folders as the package writes and opens them.
@Suite struct EncryptedFolderTests {
    private static let plain: [String: [UInt8]] = [
        "specification.bin": Array("specification".utf8),
        "metadata.json": Array("[{}]".utf8),
        "model.mil": [],
        "weights/weight.bin": (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) },
    ]

    private func key(_ suite: WrapSuite = .aes) throws -> ModelKey {
        try ModelKey.make(suite, team: "Acme", created: Dates.now)
    }

    private func withFolder(_ key: ModelKey, readable: Bool = false, _ body: (String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            for (path, bytes) in Self.plain {
                try FileAccess.makeFolder(FileAccess.folder(of: folder + "/plain/" + path))
                try FileAccess.write(bytes, to: folder + "/plain/" + path)
            }
            try FileAccess.makeFolder(folder + "/M.mlmodelc")
            try FolderEncryption.encrypt(
                folder + "/plain",
                into: folder + "/M.mlmodelc",
                with: key,
                isDescriptionReadable: readable
            )
            try body(folder + "/M.mlmodelc")
        }
    }

    private func open(_ folder: String, _ key: ModelKey) throws -> [String: [UInt8]] {
        let record = try Vault.record(in: StoredFolder(folder), at: folder)
        let contents = try EncryptedFolder(record, contentKey: record.contentKey(key), stored: StoredFolder(folder))
        #expect(contents.isProtected)
        var files: [String: [UInt8]] = [:]
        for path in Self.plain.keys {
            #expect(contents.path(of: path) == nil)
            files[path] = try contents.contents(of: path)?.withBytes { Array($0) }
        }
        #expect(try contents.contents(of: "encryption.json") == nil)
        #expect(try contents.contents(of: "../plain/model.mil") == nil)
        return files
    }

    @Test(arguments: WrapSuite.allCases)
    func whatIsEncryptedIsDecrypted(suite: WrapSuite) throws {
        let key = try key(suite)
        for readable in [false, true] {
            try withFolder(key.publicHalf ?? key, readable: readable) { folder in
                #expect(try open(folder, key) == Self.plain)
                let isReadable = try FileAccess.read(folder + "/metadata.json") == Self.plain["metadata.json"]
                #expect(isReadable == readable)
                #expect(throws: ModelError.self) { try open(folder, try self.key(suite)) }
            }
        }
    }

    @Test func everyBitOfASmallModelCounts() throws {
        let key = try key()
        try withFolder(key) { folder in
            try FileAccess.remove(folder + "/weights")
            let record = try Vault.record(in: StoredFolder(folder), at: folder)
            // A smaller model: the weights are not looked at, so that every bit of the rest can be tried.
            var tried = 0
            for name in ["encryption.json", "specification.bin", "metadata.json", "model.mil"] {
                let bytes = try FileAccess.read(folder + "/" + name)
                for bit in 0..<bytes.count * 8 {
                    var changed = bytes
                    changed[bit / 8] ^= 1 << (bit % 8)
                    try FileAccess.write(changed, to: folder + "/" + name)
                    #expect(throws: ModelError.self, "bit \(bit) of \(name)") {
                        let record = try Vault.record(in: StoredFolder(folder), at: folder)
                        let contentKey = try record.contentKey(key)
                        let contents = try EncryptedFolder(record, contentKey: contentKey, stored: StoredFolder(folder))
                        if name != "encryption.json" { _ = try contents.contents(of: name) }
                    }
                    tried += 1
                }
                try FileAccess.write(bytes, to: folder + "/" + name)
            }
            #expect(tried > 9000)
            #expect(record.files.count == 4)
        }
    }

    @Test func everyTruncationIsAnError() throws {
        let key = try key()
        try withFolder(key) { folder in
            for name in ["encryption.json", "specification.bin", "model.mil"] {
                let bytes = try FileAccess.read(folder + "/" + name)
                for count in 0..<bytes.count {
                    try FileAccess.write(Array(bytes.prefix(count)), to: folder + "/" + name)
                    #expect(throws: ModelError.self, "\(name) cut to \(count) bytes") { try open(folder, key) }
                }
                try FileAccess.write(bytes, to: folder + "/" + name)
            }
            #expect(try open(folder, key) == Self.plain)
        }
    }

    @Test func filesCannotChangePlaces() throws {
        let key = try key()
        try withFolder(key) { folder in
            try withFolder(key) { other in
                for name in Self.plain.keys {
                    let bytes = try FileAccess.read(folder + "/" + name)
                    // The same file of another encryption with the same key, and another file of this one.
                    for source in [
                        other + "/" + name, folder + "/" + (name == "model.mil" ? "metadata.json" : "model.mil"),
                    ] {
                        try FileAccess.write(try FileAccess.read(source), to: folder + "/" + name)
                        let error = try #require(throws: ModelError.self) { try open(folder, key) }
                        #expect(error.code == .decryption)
                    }
                    try FileAccess.write(bytes, to: folder + "/" + name)
                }
                try FileAccess.remove(folder + "/model.mil")
                #expect(throws: ModelError.self) { try open(folder, key) }
            }
        }
    }

    @Test func keysPastTheirTimeEncryptNothing() throws {
        let key = try ModelKey.make(.x25519, team: "T", created: Dates.now, notAfter: "2001-01-01T00:00:00Z")
        let error = try #require(throws: ModelError.self) { try withFolder(key) { _ in } }
        #expect("\(error)".contains("2001-01-01"))
    }

    @Test func contentKeysCanBeGivenToAnotherKey() throws {
        let (old, new) = (try key(), try key(.xWing))
        try withFolder(old) { folder in
            let record = try Vault.record(in: StoredFolder(folder), at: folder)
            let changed = try record.rewrapped(record.contentKey(old), for: new.publicHalf ?? new)
            try FileAccess.write(changed.text, to: folder + "/encryption.json")
            #expect(try open(folder, new) == Self.plain)
            let error = try #require(throws: ModelError.self) { try open(folder, old) }
            #expect(error.code == .decryption)
        }
    }

    /// Damaged text gives errors, whatever is damaged: mutated records, keys and headers by the ten thousand.
    @Test func damagedTextsAreErrors() throws {
        let key = try key()
        var texts: [(name: String, text: [UInt8], read: ([UInt8]) throws -> Void)] = []
        func readKey(_ text: [UInt8]) throws { _ = try text.withUnsafeBytes { try ModelKey(text: $0) } }
        texts.append(("key", key.text, readKey))
        let pair = try self.key(.x25519)
        texts.append(("public key", pair.with(.publicKey).text, readKey))
        let protected = try KeyProtection.protect(pair, for: [self.key(.xWing).with(.publicKey)])
        texts.append(("protected key", protected.text, readKey))
        try withFolder(key) { folder in
            texts.append(
                ("record", try FileAccess.read(folder + "/encryption.json"), { _ = try EncryptionRecord(text: $0) })
            )
        }
        var generator = SplitMix64(seed: 15)
        for (name, text, read) in texts {
            try read(text)
            for turn in 0..<10_000 {
                var changed = text
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place = Int.random(in: 0..<changed.count, using: &generator)
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0: changed[place] = UInt8.random(in: .min ... .max, using: &generator)
                    case 1: changed.removeSubrange(place..<min(place + 9, changed.count - 1))
                    case 2: changed.insert(contentsOf: text[..<min(place, 40)], at: place)
                    case 3: changed = Array(changed[...place])
                    default:
                        let tokens = [
                            "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "-1", "9007199254740992", "null", "1e9",
                        ]
                        changed.insert(contentsOf: tokens.randomElement(using: &generator)?.utf8 ?? "".utf8, at: place)
                    }
                    if changed.isEmpty { changed = [0] }
                }
                guard changed != text else { continue }
                // A changed date or team is no error of a key's text; what must not happen is a crash.
                do { try read(changed) } catch { #expect(error is ModelError, "\(name) \(turn)") }
            }
        }
    }
}
