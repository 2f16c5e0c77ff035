import Foundation
import Testing

/// From a model to its encrypted form and back to answers, as people do it with `coreml`.
@Suite struct EncryptionCommandTests {
    private let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Fixtures/digits").path

    /// A folder with a copy of the model, and a key store of its own.
    private func withFolder(_ body: (_ folder: String, _ run: ([String]) throws -> Outcome) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: "\(fixtures)/Digits.mlpackage", toPath: "\(folder)/Digits.mlpackage")
        try FileManager.default.createDirectory(atPath: folder + "/tmp", withIntermediateDirectories: true)
        try body(folder) { arguments in
            let environment = ["COREML_KEY_STORE": folder + "/keys", "TMPDIR": folder + "/tmp"]
            let run = try coreml(arguments: arguments, environment: environment)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").isEmpty, "\(arguments)")
            return run
        }
    }

    private func prediction(_ model: String) -> [String] {
        ["predict", model, "-i", "image=\(fixtures)/held-out/" + (Self.picture(fixtures) ?? "")]
    }

    private static func picture(_ fixtures: String) -> String? {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(fixtures)/held-out"))?.sorted()
            .first { $0.hasSuffix(".png") }
    }

    @Test(arguments: [["--suite", "x-wing"], ["--suite", "x25519"], ["--kind", "symmetric"]])
    func encryptedModelsPredictWhereTheirKeyIs(options: [String]) throws {
        try withFolder { folder, run in
            let clear = try run(prediction("\(folder)/Digits.mlpackage"))
            #expect(clear.status == 0)
            let key = "\(folder)/Digits.mlmodelkey"
            let made = try run(["key", "create", "--team", "Acme", "-o", key] + options)
            #expect(made.status == 0, "\(made.errors)")
            #expect(options.contains("symmetric") || made.output.contains("private half \(folder)/keys ("))
            let compiled = try run(["compile", "\(folder)/Digits.mlpackage", folder, "--encrypt", key])
            #expect(compiled.status == 0, "\(compiled.errors)")
            let model = "\(folder)/Digits.mlmodelc"
            for place in [model, model + "/"] {
                let run = try run(prediction(place))
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output == clear.output)
            }
            #expect(try run(["inspect", model]).status == 0)
            let facts = try run(["key", "inspect", model, "--json"])
            #expect(facts.output.contains(#""opensHere": true"#), "\(facts.errors)")

            // Elsewhere it does not open, and says what is missing.
            try FileManager.default.moveItem(atPath: key, toPath: folder + "/moved")
            try? FileManager.default.moveItem(atPath: folder + "/keys", toPath: folder + "/moved-keys")
            let without = try run(prediction(model))
            #expect(without.status == 1)
            #expect(without.errors.contains("is not on this machine"), "\(without.errors)")
            #expect(without.errors.contains("coreml key import"))
            #expect(try run(["key", "inspect", model, "--json"]).output.contains(#""opensHere": false"#))
        }
    }

    @Test func nothingOfTheModelIsInTheEncryptedFolder() throws {
        try withFolder { folder, run in
            let key = "\(folder)/K.mlmodelkey"
            #expect(try run(["key", "create", "--team", "Acme", "-o", key]).status == 0)
            #expect(try run(["compile", "\(folder)/Digits.mlpackage", folder, "--encrypt", key]).status == 0)
            #expect(try run(["compile", "\(folder)/Digits.mlpackage", folder + "/clear"]).status == 0)
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder + "/clear/Digits.mlmodelc").sorted()
            let encrypted = try FileManager.default.subpathsOfDirectory(atPath: folder + "/Digits.mlmodelc").sorted()
            #expect(encrypted == (names + ["encryption.json"]).sorted())
            for name in names {
                var isFolder: ObjCBool = false
                let path = "\(folder)/clear/Digits.mlmodelc/\(name)"
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                    continue
                }
                let clear = try Data(contentsOf: URL(fileURLWithPath: path))
                let stored = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/Digits.mlmodelc/\(name)"))
                for start in stride(from: 0, to: max(clear.count - 16, 0), by: 4099) {
                    #expect(stored.range(of: clear[start..<start + 16]) == nil, "\(name) at \(start)")
                }
            }
            // An encrypted model is not written in the clear by accident.
            let edited = try run(["edit", folder + "/Digits.mlmodelc", "--author", "A", "-o", folder + "/E.mlpackage"])
            #expect(edited.status == 1)
            #expect(edited.errors.contains("encrypted"), "\(edited.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/E.mlpackage"))
        }
    }

    @Test func archivesAreListedVerifiedAndExtracted() throws {
        try withFolder { folder, run in
            let (model, archive) = ("\(folder)/Digits.mlpackage", "\(folder)/Digits.mlarchive")
            let clear = try run(prediction(model))
            #expect(try run(["archive", model]).output == archive + "\n")
            #expect(try run(prediction(archive)).output == clear.output)
            let list = try run(["archive", "list", archive])
            #expect(list.output.contains("specification.bin"), "\(list.errors)")
            #expect(try run(["archive", "list", archive, "--json"]).output.contains(#""type": "mlarchive""#))
            #expect(try run(["archive", "verify", archive]).status == 0)
            #expect(try run(["archive", "extract", archive, "-o", folder + "/out.mlmodelc"]).status == 0)
            #expect(try run(prediction(folder + "/out.mlmodelc")).output == clear.output)

            var bytes = try Data(contentsOf: URL(fileURLWithPath: archive))
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: URL(fileURLWithPath: folder + "/damaged.mlarchive"))
            let damaged = try run(["archive", "verify", folder + "/damaged.mlarchive"])
            #expect(damaged.status == 1)
            #expect(damaged.errors.contains("damaged"), "\(damaged.errors)")
            #expect(
                try run(["archive", "extract", folder + "/damaged.mlarchive", "-o", folder + "/d.mlmodelc"]).status == 1
            )
            #expect(!FileManager.default.fileExists(atPath: folder + "/d.mlmodelc"))
        }
    }

    @Test func archivesAreEncryptedWithTheKeyBesideTheModelAndSigned() throws {
        try withFolder { folder, run in
            let (model, archive) = ("\(folder)/Digits.mlpackage", "\(folder)/A.mlarchive")
            let clear = try run(prediction(model))
            let key = "\(folder)/Digits.mlmodelkey"
            #expect(try run(["key", "create", "--team", "Acme", "-o", key]).status == 0)
            #expect(try run(["key", "create", "--kind", "signing", "-o", folder + "/acme.pem"]).status == 0)
            #expect(try run(["key", "create", "--kind", "signing", "-o", folder + "/eve.pem"]).status == 0)
            let made = try run(["archive", model, "-o", archive, "--sign", folder + "/acme.pem"])
            #expect(made.output.contains("encrypted with \(key)"), "\(made.errors)")
            let verified = try run(["archive", "verify", archive, "--key", folder + "/acme.pub.pem"])
            #expect(verified.status == 0, "\(verified.errors)")
            #expect(verified.output.contains("decrypts"))
            #expect(try run(["archive", "verify", archive, "--key", folder + "/eve.pub.pem"]).status == 1)
            #expect(try run(prediction(archive)).output == clear.output)
            // Extracting needs no key and gives an encrypted folder.
            let extracted = "\(folder)/out.mlmodelc"
            #expect(try run(["archive", "extract", archive, "-o", extracted]).status == 0)
            #expect(FileManager.default.fileExists(atPath: extracted + "/encryption.json"))
            #expect(try run(prediction(extracted)).output == clear.output)
            // An encrypted folder is archived as it is.
            #expect(try run(["archive", extracted, "-o", folder + "/B.mlarchive"]).status == 0)
            #expect(try run(prediction(folder + "/B.mlarchive")).output == clear.output)
            let open = try run(["archive", model, "-o", folder + "/open.mlarchive", "--no-encrypt"])
            #expect(!open.output.contains("encrypted"))
        }
    }

    @Test func keysAreProtectedImportedAndRotated() throws {
        try withFolder { folder, run in
            let (key, backup) = ("\(folder)/K.mlmodelkey", "\(folder)/Backup.mlmodelkey")
            let model = "\(folder)/Digits.mlmodelc"
            #expect(try run(["key", "create", "--team", "Acme", "-o", key]).status == 0)
            #expect(try run(["compile", "\(folder)/Digits.mlpackage", folder, "--encrypt", key]).status == 0)
            try Data("correct horse\n".utf8).write(to: URL(fileURLWithPath: folder + "/pass"))
            try Data("wrong horse\n".utf8).write(to: URL(fileURLWithPath: folder + "/wrong"))
            let protected = try run(["key", "protect", key, "-o", backup, "--passphrase-file", folder + "/pass"])
            #expect(protected.status == 0, "\(protected.errors)")
            try FileManager.default.removeItem(atPath: folder + "/keys")
            #expect(try run(prediction(model)).status == 1)
            #expect(try run(["key", "import", backup, "--passphrase-file", folder + "/wrong"]).status == 1)
            #expect(try run(["key", "import", key]).status == 1)
            let imported = try run(["key", "import", backup, "--passphrase-file", folder + "/pass"])
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(try run(prediction(model)).status == 0)

            #expect(try run(["archive", model, "-o", folder + "/A.mlarchive"]).status == 0)
            let next = "\(folder)/K2.mlmodelkey"
            let rotated = try run([
                "key", "rotate", key, "-o", next, "--model", model, "--model", folder + "/A.mlarchive",
            ])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let before = try run(["key", "inspect", key]).output
            let identifier = try #require(
                before.split(separator: "\n").first { $0.hasPrefix("key ID") }?.split(separator: " ").last
            )
            #expect(try run(["key", "remove", String(identifier)]).status == 0)
            #expect(try run(prediction(model)).status == 0)
            #expect(try run(["archive", "verify", folder + "/A.mlarchive"]).output.contains("decrypts"))
            #expect(try run(["key", "list"]).output.contains("Acme"))
            #expect(try run(["key", "rotate", key, "-o", next]).status == 1, "a file is not overwritten")
        }
    }

    @Test func publicKeysAreSigned() throws {
        try withFolder { (folder, run) throws in
            let key = "\(folder)/K.mlmodelkey"
            #expect(try run(["key", "create", "--kind", "signing", "-o", folder + "/acme.pem"]).status == 0)
            #expect(try run(["key", "create", "--kind", "signing", "-o", folder + "/eve.pem"]).status == 0)
            let options = ["--sign", folder + "/acme.pem", "--expires", "30", "--server", "https://keys.example"]
            #expect(try run(["key", "create", "--team", "Acme", "-o", key] + options).status == 0)
            #expect(try run(["key", "inspect", key, "--trust", folder + "/acme.pub.pem"]).status == 0)
            #expect(try run(["key", "inspect", key, "--trust", folder + "/eve.pub.pem"]).status == 1)
        }
    }

    @Test func wrongUsageIsSaid() throws {
        try withFolder { folder, run in
            #expect(try run(["key", "create", "-o", folder + "/K"]).status == 64)
            #expect(try run(["key", "create", "--team", "T", "-o", folder + "/K", "--no-store"]).status == 64)
            #expect(try run(["archive", "x", "--encrypt", "k", "--no-encrypt"]).status == 64)
            try Data("{}".utf8).write(to: URL(fileURLWithPath: folder + "/Bad.mlmodelkey"))
            let bad = try run([
                "compile", "\(folder)/Digits.mlpackage", folder, "--encrypt", folder + "/Bad.mlmodelkey",
            ])
            #expect(bad.status == 1)
            #expect(bad.errors.contains("Bad.mlmodelkey"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/Digits.mlmodelc"))
        }
    }
}
