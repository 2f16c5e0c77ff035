import Foundation
import Testing
import UpdateFramework

@Suite("A publisher's metadata")
struct PublisherTests {
    let start = SampleRepository.start

    @Test("counts versions up, lists what belongs together, and satisfies a client")
    func versions() throws {
        for consistent in [true, false] {
            var repository = try SampleRepository(kind: .ecdsaP256, hasConsistentSnapshots: consistent)
            let root = repository.metadata.root
            try repository.publishTargets { $0.set(Target(path: "a", bytes: [1])) }
            try repository.publishSnapshot()
            #expect(try repository.metadata.targetsMetadata("targets")?.version == 2)
            #expect(try repository.metadata.snapshotMetadata?.version == 3)
            #expect(try repository.metadata.timestampMetadata?.version == 3)
            try repository.metadata.verify(trustedRoot: root, at: start)
            let names = try repository.metadata.files().map(\.name)
            #expect(
                names
                    == (consistent
                        ? ["1.root.json", "2.targets.json", "3.snapshot.json", "timestamp.json"]
                        : ["1.root.json", "targets.json", "snapshot.json", "timestamp.json"])
            )
        }
    }

    @Test("is read back from its files and goes on")
    func reading() async throws {
        var repository = try SampleRepository()
        try repository.publishTargets { $0.set(Target(path: "a", bytes: [1], custom: .object(["é": .bool(true)]))) }
        let files = Dictionary(uniqueKeysWithValues: try repository.metadata.files().map { ($0.name, $0.bytes) })
        func document(_ name: String) throws -> SignedDocument {
            try SignedDocument(parsing: try #require(files[name]), role: name)
        }
        var read = try RepositoryMetadata(
            root: document("1.root.json"),
            targets: ["targets": document("2.targets.json")],
            snapshot: document("2.snapshot.json"),
            timestamp: document("timestamp.json")
        )
        for file in try read.files() { #expect(files[file.name] == file.bytes, "\(file.name)") }
        try read.updateTimestamp(expires: start + 100, signers: repository.signers(.timestamp))
        #expect(try read.timestampMetadata?.version == 3)
        #expect(await code { try read.updateTimestamp(expires: start + 1, signers: [SigningKey()]) } == .threshold)
        #expect(try read.timestampMetadata?.version == 3)
    }

    @Test("keeps members that the specification does not know")
    func unknownMembers() throws {
        let text = """
            {"signatures":[],"signed":{"_type":"targets","spec_version":"1.0.31","version":4,"x-number":12345678901234567890,
            "expires":"2030-01-01T00:00:00Z","targets":{"a":{"length":1,"hashes":{"sha256":"00"},"x-file":[null]}},
            "delegations":{"x-all":{},"keys":{"k":{"keytype":"ed25519","scheme":"ed25519","x-key":"é",
            "keyval":{"public":"00","x-value":1}}},"roles":[{"name":"r","keyids":["k"],"threshold":1,"terminating":false,
            "paths":["*"],"x-role":false}]}}}
            """
        let document = try SignedDocument(parsing: Array(text.utf8), role: "targets")
        let targets = try Targets(document.signed, role: "targets")
        #expect(
            try SignedDocument(signed: targets.signed).message(of: "x") == document.message(of: "x"),
            "what was read is written the same"
        )
    }

    @Test("does not hold what later specifications may bring", arguments: ["mirrors", "succinct_roles"])
    func laterForms(name: String) async throws {
        let repository = try SampleRepository()
        var text = String(decoding: repository.metadata.root.bytes, as: UTF8.self)
        var type: any RoleMetadata.Type = Root.self
        if name == "mirrors" {
            text = text.replacingOccurrences(
                of: #""snapshot": {"#,
                with: #""mirrors": {"keyids": [], "threshold": 1}, "snapshot": {"#
            )
        } else {
            type = Targets.self
            text = #"""
                {"signatures":[],"signed":{"_type":"targets","spec_version":"1.0.34","version":1,
                "expires":"2030-01-01T00:00:00Z","targets":{},"delegations":{"keys":{},"roles":[],"succinct_roles":{}}}}
                """#
        }
        #expect(await code { _ = try type.init(parsing: Array(text.utf8), role: "x") } == .malformed)
        let plain = text.replacingOccurrences(of: #","succinct_roles":{}"#, with: "")
            .replacingOccurrences(of: #""mirrors": {"keyids": [], "threshold": 1}, "#, with: "")
        _ = try type.init(parsing: Array(plain.utf8), role: "x")
    }

    @Test("lets several people sign a draft, and takes it when none is missing")
    func ceremony() async throws {
        var repository = try SampleRepository()
        let people = [SigningKey(), SigningKey(), SigningKey(.ecdsaP256)]
        var draft = try repository.metadata.rootDraft(expires: start + 100) { (root) throws(UpdateError) in
            try root.setKeys(people.map(\.publicKey), threshold: 2, of: .root)
        }
        #expect(try repository.metadata.status(of: draft, role: "root").map(\.missing) == [1, 2])
        for (signer, missing) in [(people[0], [1, 1]), (repository.signers(.root)[0], [0, 1]), (people[2], [0, 0])] {
            let full = draft
            #expect(await code { try repository.metadata.replaceRoot(with: full) } == .threshold)
            let signature = try signer.sign(draft.message(of: "root"))
            draft.add(SignedDocument.Signature(keyID: try signer.publicKey.id, bytes: signature))
            #expect(try repository.metadata.status(of: draft, role: "root").map(\.missing) == missing)
        }
        let first = repository.metadata.root
        try repository.metadata.replaceRoot(with: draft)
        let again = draft
        #expect(await code { try repository.metadata.replaceRoot(with: again) } == .wrongVersion)
        try repository.metadata.verify(trustedRoot: first, at: start)
        #expect(
            await code { try repository.metadata.updateRoot(expires: start + 1, signers: [people[0]]) } == .threshold
        )
        try repository.metadata.updateRoot(expires: start + 200, signers: Array(people.dropFirst()))
        #expect(try repository.metadata.rootMetadata.version == 3)
    }

    @Test("refuses roles without enough keys, names of top-level roles, and roles that nobody delegates to")
    func edits() async throws {
        var repository = try SampleRepository()
        let key = SigningKey().publicKey
        for (name, threshold) in [("root", 1), ("", 1), ("a", 2), ("a", 0)] {
            let error = await code {
                try repository.publishTargets {
                    try $0.delegate(
                        to: name,
                        keys: [key, key],
                        threshold: threshold,
                        paths: .patterns([]),
                        isTerminating: true
                    )
                }
            }
            #expect(error == .invalidEdit, "\(name) \(threshold)")
        }
        #expect(
            await code { try repository.metadata.updateTargets("a", expires: start + 1, signers: []) } == .invalidEdit
        )
        var last = try #require(try repository.metadata.targetsMetadata("targets"))
        last.header.version = Int.max
        var document = SignedDocument(signed: last.signed)
        try document.sign(with: repository.signers(.targets)[0])
        var other = repository
        try other.metadata.replaceTargets(with: document)
        #expect(await code { try other.publishTargets { _ in } } == .invalidEdit)
        let old = try #require(repository.metadata.targets["targets"])
        #expect(await code { try repository.metadata.replaceTargets(with: old) } == .rollback)
        #expect(await code { _ = try RepositoryMetadata(roles: [:], rootExpires: start, signers: []) } == .invalidEdit)
    }

    @Test("drops keys that no role uses, and a delegation that is taken back is not asked any more")
    func unusedKeys() async throws {
        var repository = try SampleRepository()
        let keys = (0..<3).map { _ in SigningKey() }
        try repository.publishTargets {
            for (index, key) in keys.enumerated() {
                try $0.delegate(
                    to: "r\(index)",
                    keys: [key.publicKey],
                    threshold: 1,
                    paths: .patterns(["*"]),
                    isTerminating: false
                )
            }
        }
        for (index, key) in keys.enumerated() {
            try repository.metadata.updateTargets("r\(index)", expires: start + 100, signers: [key]) {
                (targets) throws(UpdateError) in targets.set(Target(path: "t\(index)", bytes: [1]))
            }
        }
        try repository.publishTargets {
            $0.removeDelegation(to: "r0")
            try $0.delegate(
                to: "r1",
                keys: [keys[2].publicKey],
                threshold: 1,
                paths: .hashPrefixes(["0", "1"]),
                isTerminating: false
            )
        } catch: {
            #expect($0.code == .threshold, "the new key of r1 did not sign it yet")
        }
        #expect(try repository.metadata.targetsMetadata("targets")?.delegations?.roles.map(\.name) == ["r1", "r2"])
        try repository.metadata.updateTargets("r1", expires: start + 100, signers: [keys[2]])
        try repository.publishSnapshot()
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        #expect(try await updater.target("t0", in: &trusted) == nil)
        #expect(try await updater.target("t2", in: &trusted)?.role == "r2")
        #expect(trusted.snapshot?.file(of: "r0") != nil, "clients would refuse a snapshot that forgets a role")
    }
}

extension SampleRepository {
    /// Publishes targets and hands on the error that this ends with.
    mutating func publishTargets(
        _ edit: (inout Targets) throws -> Void,
        catch check: (UpdateError) -> Void
    ) throws {
        do { try publishTargets(edit) } catch let error as UpdateError { check(error) }
    }
}

@Suite("Keys of publishers")
struct SigningKeyTests {
    @Test("are written so that only their owner can read them, and are refused when others can")
    func files() async throws {
        try await withFolder { folder in
            for kind in SigningKey.Kind.allCases {
                let (key, path) = (SigningKey(kind), "\(folder)/\(kind.rawValue).pem")
                try key.write(to: path)
                #expect(try mode(path) == 0o600)
                let read = try SigningKey(readingFrom: path)
                #expect(try read.publicKey.id == key.publicKey.id)
                let signature = try read.sign([1, 2, 3])
                #expect(key.publicKey.isValid(signature, of: [1, 2, 3]))
                #expect(!key.publicKey.isValid(signature, of: [1, 2]))
                try setMode(path, 0o640)
                #expect(await code { _ = try SigningKey(readingFrom: path) } == .invalidKey)
            }
            #expect(await code { _ = try SigningKey(readingFrom: "\(folder)/none") } == .invalidKey)
            #expect(await code { try SigningKey().write(to: "\(folder)/none/key") } == .storage)
        }
    }

    @Test(
        "are not read from anything else",
        arguments: ["", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
    )
    func wrong(text: String) async {
        #expect(await code { _ = try SigningKey(pem: text) } == .invalidKey)
    }
}
