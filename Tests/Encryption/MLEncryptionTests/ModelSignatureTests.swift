import MLArchive
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// Signatures of models: `Oracles/model-signing/check` holds them against the reference.
@Suite struct ModelSignatureTests {
    private func withModel(_ body: (_ model: String, _ folder: String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let model = folder + "/M.mlpackage"
            for (path, text) in [("Data/weights.bin", "weights"), ("Data.x", "x"), ("Manifest.json", "{}")] {
                try FileAccess.makeFolder(FileAccess.folder(of: model + "/" + path))
                try FileAccess.write(text, to: model + "/" + path)
            }
            try body(model, folder)
        }
    }

    private func sign(_ model: String, _ key: ModelSigningKey, to place: String) throws -> [UInt8] {
        let text = try ModelSignature.text(of: ModelManifest(of: model, signature: place), signedBy: key)
        try FileAccess.write(text, to: place)
        return text
    }

    @Test func whatWasSignedVerifies() throws {
        try withModel { model, folder in
            let key = ModelSigningKey()
            for place in [folder + "/model.sig", model + "/model.sig"] {
                let text = try sign(model, key, to: place)
                let signature = try ModelSignature(text, by: key.publicKey)
                #expect(signature.manifest.resources.map(\.path) == ["Data/weights.bin", "Data.x", "Manifest.json"])
                try signature.check(model, signature: place)
            }
        }
    }

    @Test func whatWasChangedAddedOrRemovedIsNamed() throws {
        let changes: [(String, String, (String) throws -> Void)] = [
            ("changed: Data/weights.bin", "changed", { try FileAccess.write("other", to: $0 + "/Data/weights.bin") }),
            ("missing: Data.x", "removed", { try FileAccess.remove($0 + "/Data.x") }),
            ("added: more", "added", { try FileAccess.write("", to: $0 + "/more") }),
        ]
        for (part, _, change) in changes {
            try withModel { model, folder in
                let key = ModelSigningKey()
                let text = try sign(model, key, to: folder + "/model.sig")
                try change(model)
                let signature = try ModelSignature(text, by: key.publicKey)
                let error = #expect(throws: ModelError.self) {
                    try signature.check(model, signature: folder + "/model.sig")
                }
                #expect(error?.description.contains(part) == true, "\(String(describing: error))")
            }
        }
    }

    @Test func anotherKeyAndEveryOtherByteAreRefused() throws {
        try withModel { model, folder in
            let key = ModelSigningKey()
            let text = try sign(model, key, to: folder + "/model.sig")
            #expect(throws: ModelError.self) { try ModelSignature(text, by: ModelSigningKey().publicKey) }
            // Whatever is changed, nobody gets other files out of it than those that were signed.
            let right = try ModelSignature(text, by: key.publicKey).manifest.resources
            for place in text.indices {
                var changed = text
                changed[place] ^= 1
                if let signature = try? ModelSignature(changed, by: key.publicKey) {
                    #expect(signature.manifest.resources == right)
                }
            }
            for count in stride(from: 0, to: text.count - 1, by: 7) {
                #expect(throws: ModelError.self) { try ModelSignature(Array(text.prefix(count)), by: key.publicKey) }
            }
        }
    }

    @Test func statementsThatContradictThemselvesAreRefused() throws {
        let key = ModelSigningKey()
        func refuse(_ statement: String, _ part: String) throws {
            let payload = Array(statement.utf8)
            let value = Base64.text(try key.sign(ArchiveSignature.encoding(payload)))
            let text = """
                {"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":\
                "\(key.publicKey.hint)"},"tlogEntries":[]},"dsseEnvelope":{"payload":"\(Base64.text(payload))","payloadType":\
                "application/vnd.in-toto+json","signatures":[{"sig":"\(value)","keyid":""}]}}
                """
            let error = #expect(throws: ModelError.self) { try ModelSignature(Array(text.utf8), by: key.publicKey) }
            #expect(error?.description.contains(part) == true, "\(String(describing: error))")
        }
        func statement(
            root: String = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925",
            resources: String? = nil,
            method: String = "files",
            type: String = "https://model_signing/signature/v1.0"
        ) -> String {
            let hash = String(repeating: "0", count: 64)
            let list = resources ?? #"{"algorithm":"sha256","digest":"\#(hash)","name":"a"}"#
            return
                #"{"_type":"https://in-toto.io/Statement/v1","predicateType":"\#(type)","subject":[{"name":"m","digest":"#
                + #"{"sha256":"\#(root)"}}],"predicate":{"resources":[\#(list)],"serialization":{"method":"\#(method)","#
                + #""hash_type":"sha256","allow_symlinks":false}}}"#
        }
        try refuse(statement(root: String(repeating: "1", count: 64)), "not those of the model")
        try refuse(statement(method: "shards"), "shards")
        try refuse(statement(type: "https://example.org"), "not known")
        try refuse(statement(resources: #"{"algorithm":"blake3","digest":"00","name":"a"}"#), "blake3")
        try refuse(statement(resources: #"{"algorithm":"sha256","digest":"00","name":"a"}"#), "a hash is not valid")
        let twice = #"{"algorithm":"sha256","digest":"\#(String(repeating: "0", count: 64))","name":"a"}"#
        try refuse(statement(resources: twice + "," + twice), "twice")
        try refuse("{}", "not an in-toto statement")
        try refuse("[", "")
    }

    @Test func keysOfOpenSSLAreRead() throws {
        for pem in [
            ModelSigningKey().pem,
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + ModelSigningKey().pem,
        ] {
            let key = try ModelSigningKey(pem: Array(pem.utf8))
            let copy = try ModelSigningKey.Public(pem: Array(key.publicKey.pem.utf8))
            #expect(copy.verify(try key.sign([1, 2, 3]), of: [1, 2, 3]))
            #expect(!copy.verify(try key.sign([1, 2, 3]), of: [1, 2, 4]))
        }
        #expect(throws: ModelError.self) { try ModelSigningKey(pem: Array(SigningKey().pem.utf8)) }
    }

    @Test func anArchiveCarriesTheSignatureOfItsFiles() throws {
        try withModel { model, folder in
            let (key, path) = (ModelSigningKey(), folder + "/M.mlarchive")
            try ArchiveWriter.write(model, to: path, model: .init(name: "M"), modelSigner: key)
            let archive = try ModelArchive(path)
            try archive.verify()
            let file = try #require(archive.header.files.first { $0.path == ModelSignature.fileName })
            let signature = try ModelSignature(archive.stored(file).bytes(), by: key.publicKey)
            try signature.check(path, signature: "")
            try archive.extract(to: folder + "/out")
            try signature.check(folder + "/out", signature: folder + "/out/model.sig")
            try FileAccess.write("more", to: folder + "/out/more")
            #expect(throws: ModelError.self) {
                try signature.check(folder + "/out", signature: folder + "/out/model.sig")
            }
        }
    }
}
