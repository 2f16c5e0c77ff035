import Glibc
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// Keys, their files and the store in which they rest.
@Suite struct KeyTests {
    private func key(_ suite: WrapSuite = .xWing) throws -> ModelKey {
        try ModelKey.make(
            suite,
            team: "Acme",
            created: Dates.now,
            notAfter: Dates.inDays(30),
            server: "https://keys.example"
        )
    }

    @Test(arguments: WrapSuite.allCases)
    func keysReadBackAsTheyWereWritten(suite: WrapSuite) throws {
        let key = try key(suite)
        try withTemporaryFolder { folder in
            try KeyFiles.write(key, to: folder + "/K.mlmodelkey")
            let read = try KeyFiles.read(folder + "/K.mlmodelkey")
            #expect(read.text == key.text)
            #expect(read.keyID == key.keyID)
            var status = stat()
            #expect(stat(folder + "/K.mlmodelkey", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            if let half = key.publicHalf {
                try KeyFiles.write(half, to: folder + "/P.mlmodelkey")
                let read = try KeyFiles.read(folder + "/P.mlmodelkey")
                #expect(read.secret == nil)
                #expect(read.keyID == key.keyID)
            }
        }
    }

    @Test func secretKeysThatOthersCanReadAreRefused() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/K.mlmodelkey"
            try KeyFiles.write(try key(.aes), to: path)
            for mode in [0o640, 0o604, 0o644, 0o660, 0o777] {
                chmod(path, mode_t(mode))
                let error = try #require(throws: ModelError.self) { try KeyFiles.read(path) }
                #expect(error.code == .keyFetch)
                #expect("\(error)".contains("chmod 600"))
            }
            chmod(path, 0o400)
            _ = try KeyFiles.read(path)
            try KeyFiles.write(try key().with(.publicKey), to: path)
            chmod(path, 0o644)
            _ = try KeyFiles.read(path)
        }
    }

    @Test func passphrasesProtect() throws {
        let passphrase = SecretText("correct horse".utf8)
        for suite in WrapSuite.allCases {
            let key = try key(suite)
            let protected = try KeyProtection.protect(key, passphrase: passphrase, cost: 1024)
            #expect(protected.secret == nil)
            let unlocked = try KeyProtection.unlock(protected, passphrase: passphrase)
            #expect(unlocked.text == key.text)
            let error = try #require(throws: ModelError.self) {
                try KeyProtection.unlock(protected, passphrase: SecretText("wrong horse".utf8))
            }
            #expect(error.code == .keyFetch)
            // A protected public key still encrypts.
            if suite != .aes { try FolderEncryption.check(protected) }
        }
    }

    @Test func recipientsUnlock() throws {
        let (alice, bob, eve) = (try key(.xWing), try key(.x25519), try key(.x25519))
        let key = try key(.aes)
        let protected = try KeyProtection.protect(key, for: [alice.with(.publicKey), bob.with(.publicKey)])
        for own in [alice, bob] { #expect(try KeyProtection.unlock(protected, with: own).text == key.text) }
        #expect(throws: ModelError.self) { try KeyProtection.unlock(protected, with: eve) }
        #expect(throws: ModelError.self) { try KeyProtection.protect(key, for: [key]) }
    }

    @Test func signaturesVouchForPublicKeys() throws {
        let signer = SigningKey()
        let signed = try KeySignature.sign(try key(), with: signer)
        let text = signed.text
        let read = try text.withUnsafeBytes { try ModelKey(text: $0) }
        #expect(read.signature?.signer == signer.publicKey.bytes)
        #expect(try SigningKey(pem: Array(signer.pem.utf8)).publicKey == signer.publicKey)
        #expect(try SigningKey.Public(pem: Array(signer.publicKey.pem.utf8)) == signer.publicKey)
        let changed = String(decoding: text, as: UTF8.self)
            .split(separator: "Acme", omittingEmptySubsequences: false).joined(separator: "Evil")
        #expect(throws: ModelError.self) { try Array(changed.utf8).withUnsafeBytes { try ModelKey(text: $0) } }
    }

    @Test(arguments: [KeyStore.Strength.file, nil])
    func storesGiveBackWhatWasStored(strength: KeyStore.Strength?) throws {
        try withTemporaryFolder { folder in
            let store = KeyStore(folder: folder + "/keys")
            let key = try key()
            #expect(try store.key(key.keyID) == nil)
            #expect(try store.entries().isEmpty)
            let used = try store.store(key, strength: strength)
            if let strength { #expect(used == strength) }
            #expect(try store.key(key.keyID)?.text == key.text)
            #expect(try store.entries().map(\.keyID) == [key.keyID])
            #expect(try store.entries().map(\.strength) == [used])
            // Stored again, another way, there is still one.
            try store.store(key, strength: .file)
            #expect(try store.entries().map(\.strength) == [.file])
            #expect(throws: ModelError.self) { try store.store(key.with(.publicKey)) }
            try store.remove(key.keyID)
            #expect(try store.key(key.keyID) == nil)
        }
    }

    @Test func keysBesideModelsAreFound() throws {
        try withTemporaryFolder { folder in
            #expect(KeyFiles.path(beside: folder + "/M.mlmodelc") == nil)
            try KeyFiles.write(try key().with(.publicKey), to: folder + "/M.mlmodelkey")
            for name in ["M.mlmodelc", "M.mlmodelc/", "M.mlpackage", "M.mlmodel", "M.mlarchive"] {
                #expect(KeyFiles.path(beside: folder + "/" + name) == folder + "/M.mlmodelkey")
            }
            #expect(KeyFiles.path(beside: folder + "/N.mlmodelc") == nil)
        }
    }

    @Test func base64IsCanonical() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            let text = Base64.text(bytes)
            #expect(Base64.bytes(text.utf8) == bytes)
            #expect(Hexadecimal.bytes(Hexadecimal.text(bytes).utf8) == bytes)
        }
        #expect(Base64.text(Array("light work.".utf8)) == "bGlnaHQgd29yay4=")
        for wrong in ["A", "AB", "ABC", "AB==C", "AB=C", "A===", "====", "AR==", "AAB=", "A B=", "AB==\n", "=AAA"] {
            #expect(Base64.bytes(wrong.utf8) == nil, "\(wrong)")
        }
        for wrong in ["0", "0G", "AB", " 0"] { #expect(Hexadecimal.bytes(wrong.utf8) == nil) }
    }

    @Test func datesAreText() {
        #expect(Dates.text(0) == "1970-01-01T00:00:00Z")
        #expect(Dates.text(1_795_420_800) == "2026-11-23T08:00:00Z")
        #expect(Dates.now < Dates.inDays(1))
    }
}
