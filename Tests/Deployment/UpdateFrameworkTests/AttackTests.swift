import Testing
import UpdateFramework

@Suite("Attacks on a client of updates")
struct AttackTests {
    let start = SampleRepository.start

    /// A client that updated once.
    private func follower(_ repository: SampleRepository) async throws -> (updater: MetadataUpdater, store: MemoryStore)
    {
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        _ = try await updater.refresh(at: start)
        return (updater, store)
    }

    private func error(_ updater: MetadataUpdater, at time: UTCTime = SampleRepository.start) async -> UpdateError? {
        do { _ = try await updater.refresh(at: time) } catch { return error }
        return nil
    }

    @Test("an older timestamp, snapshot or targets version is a rollback, and the new one stays")
    func rollback() async throws {
        var repository = try SampleRepository()
        let old = try #require(repository.server.metadata.bytes("timestamp.json"))
        try repository.publishTargets { _ in }
        let (updater, store) = try await follower(repository)
        let kept = store.files
        repository.server.metadata.set("timestamp.json", old)
        #expect(await error(updater)?.code == .rollback)
        #expect(store.files == kept)
    }

    @Test("a snapshot that goes back, or forgets a role, is a rollback")
    func snapshotRollback() async throws {
        var repository = try SampleRepository()
        let first = repository.metadata
        let key = SigningKey()
        try repository.publishTargets {
            try $0.delegate(to: "a", keys: [key.publicKey], threshold: 1, paths: .patterns(["*"]), isTerminating: false)
        }
        try repository.metadata.updateTargets("a", expires: start + 100, signers: [key])
        try repository.publishSnapshot()
        let (updater, store) = try await follower(repository)
        for (step, forgotten) in [(1, "a.json"), (2, "targets.json")] {
            var snapshot = try #require(try repository.metadata.snapshotMetadata)
            snapshot.header.version += step
            if forgotten == "a.json" {
                snapshot.files["a.json"] = nil
            } else {
                snapshot.files["targets.json"] = try first.snapshotMetadata?.files["targets.json"]
            }
            try serve(snapshot, repository, step: step)
            let error = await error(updater)
            #expect(error?.code == .rollback)
            #expect(error?.role == forgotten)
        }
        #expect(try Snapshot(parsing: try #require(store.files["snapshot"]), role: "snapshot").version == 3)
    }

    /// Serves a snapshot and a timestamp that names it, signed by the repository's keys.
    private func serve(_ snapshot: Snapshot, _ repository: SampleRepository, step: Int = 1) throws {
        var document = SignedDocument(signed: snapshot.signed)
        for key in repository.signers(.snapshot) { try document.sign(with: key) }
        repository.server.metadata.set("\(snapshot.version).snapshot.json", document.bytes)
        var timestamp = try #require(try repository.metadata.timestampMetadata)
        timestamp.header.version += step
        timestamp.snapshot = MetadataFile(version: snapshot.version, bytes: document.bytes)
        try serve(timestamp, repository)
    }

    private func serve(_ timestamp: Timestamp, _ repository: SampleRepository) throws {
        var document = SignedDocument(signed: timestamp.signed)
        for key in repository.signers(.timestamp) { try document.sign(with: key) }
        repository.server.metadata.set("timestamp.json", document.bytes)
    }

    @Test("metadata that is past its time at the start is refused, whichever it is")
    func freeze() async throws {
        let repository = try SampleRepository()
        for (days, role) in [(1, "timestamp"), (7, "timestamp"), (365, "root")] {
            let error = await error(repository.updater(), at: start + UTCTime.days(days))
            #expect(error?.code == .expired)
            #expect(error?.role == role)
        }
        #expect(await error(repository.updater(), at: start + (UTCTime.days(1) - 1)) == nil)
        var stale = repository
        try stale.publishSnapshot(expires: start)
        #expect(await error(stale.updater())?.role == "snapshot")
        try stale.publishTargets(expires: start) { _ in }
        let error = await error(stale.updater())
        #expect(error?.code == .expired)
        #expect(error?.role == "targets")
    }

    @Test("a clock that was never set stops the update, since nothing would ever expire")
    func clock() async throws {
        let repository = try SampleRepository()
        #expect(await error(repository.updater(), at: UTCTime(secondsSince1970: 12))?.code == .clock)
        #expect(await code { _ = try repository.updater().cached(at: UTCTime(secondsSince1970: 12)) } == .clock)
        #expect(repository.server.metadata.requests.isEmpty)
    }

    @Test("versions that a thief ran forward come back with new keys")
    func fastForward() async throws {
        var repository = try SampleRepository()
        var timestamp = try #require(try repository.metadata.timestampMetadata)
        timestamp.header.version = Int.max
        try serve(timestamp, repository)
        let (updater, store) = try await follower(repository)
        try repository.publishTargets { _ in }
        #expect(await error(updater)?.code == .rollback)
        let key = SigningKey()
        repository.keys[.timestamp] = [key]
        try repository.metadata.updateRoot(expires: start + 100, signers: repository.signers(.root)) {
            (root) throws(UpdateError) in try root.setKeys([key.publicKey], threshold: 1, of: .timestamp)
        }
        #expect(await code { _ = try repository.metadata.files() } == .threshold)
        repository.server.metadata.set("2.root.json", repository.metadata.root.bytes)
        #expect(await error(updater)?.code == .threshold)
        #expect(store.files["timestamp"] == nil, "what the old key signed is gone")
        try repository.publishSnapshot()
        #expect(await error(updater) == nil)
    }

    @Test("a new key beside the old one does not lift the protection from rollback")
    func addedKey() async throws {
        var repository = try SampleRepository()
        let old = try #require(repository.server.metadata.bytes("timestamp.json"))
        try repository.publishSnapshot()
        let (updater, _) = try await follower(repository)
        let keys = repository.signers(.timestamp).map(\.publicKey) + [SigningKey().publicKey]
        try repository.metadata.updateRoot(expires: start + 100, signers: repository.signers(.root)) {
            (root) throws(UpdateError) in try root.setKeys(keys, threshold: 1, of: .timestamp)
        }
        try repository.publish()
        repository.server.metadata.set("timestamp.json", old)
        #expect(await error(updater)?.code == .rollback)
    }

    @Test("files of different states cannot be mixed")
    func mixAndMatch() async throws {
        var repository = try SampleRepository()
        let old = try #require(repository.server.metadata.bytes("1.targets.json"))
        try repository.publishTargets { $0.set(Target(path: "a", bytes: [1])) }
        let good = try #require(repository.server.metadata.bytes("2.targets.json"))
        repository.server.metadata.set("2.targets.json", old)
        #expect([.wrongLength, .wrongHash].contains(await error(repository.updater())?.code))
        repository.server.metadata.set("2.targets.json", good.map { $0 == UInt8(ascii: "9") ? UInt8(ascii: "8") : $0 })
        #expect(await error(repository.updater())?.code == .wrongHash)
    }

    @Test("metadata of another role is of the wrong type, also under the right keys")
    func wrongType() async throws {
        let repository = try SampleRepository()
        let targets = try #require(repository.server.metadata.bytes("1.targets.json"))
        repository.server.metadata.set("timestamp.json", targets)
        #expect(await error(repository.updater())?.code == .wrongType)
    }

    @Test("endless files are cut off at the limit")
    func endless() async throws {
        let repository = try SampleRepository()
        repository.server.metadata.set("timestamp.json", [UInt8](repeating: 0x20, count: 16_385))
        #expect(await error(repository.updater())?.code == .tooLarge)
        repository.server.metadata.set("2.root.json", [UInt8](repeating: 0x20, count: 512_001))
        #expect(await error(repository.updater())?.role == "root")
    }

    @Test("signatures count once for each key, and only those of the role's keys")
    func thresholds() async throws {
        let keys = [SigningKey(), SigningKey(.ecdsaP256), SigningKey()]
        let role = try RoleKeys(role: "x", threshold: 2, keys: keys.map(\.publicKey) + [keys[0].publicKey])
        #expect(role.keyIDs.count == 3)
        var document = SignedDocument(signed: .object(["a": .integer(1)]))
        try document.sign(with: keys[0])
        try document.sign(with: keys[0])
        try document.sign(with: SigningKey())
        #expect(document.signatures.count == 2)
        #expect(await code { try document.verify(role) } == .threshold)
        let twice = RoleKeys(role: "x", threshold: 2, keyIDs: [role.keyIDs[0], role.keyIDs[0]], keys: role.keys)
        #expect(await code { try document.verify(twice) } == .threshold)
        let id = try keys[1].publicKey.id
        document.add(SignedDocument.Signature(keyID: id, value: "zz"))
        #expect(await code { try document.verify(role) } == .threshold)
        try document.sign(with: keys[1])
        try document.verify(role)
        document.removeSignature(of: id)
        #expect(await code { try document.verify(role) } == .threshold)
    }

    @Test("a file that one key signed twice is refused as a whole")
    func doubleSignature() async throws {
        var document = SignedDocument(signed: .object([:]))
        try document.sign(with: SigningKey())
        let text = String(decoding: document.bytes, as: UTF8.self)
        let first = text.index(after: try #require(text.firstIndex(of: "[")))
        let last = try #require(text.firstIndex(of: "]"))
        let doubled = text[..<last] + "," + text[first..<last] + text[last...]
        #expect(await code { _ = try SignedDocument(parsing: Array(doubled.utf8), role: "x") } == .malformed)
    }

    @Test("names that only look alike are different names")
    func lookalikes() async throws {
        var repository = try SampleRepository()
        try repository.publishTargets {
            $0.set(Target(path: "\u{212A}", bytes: [1]))
            $0.set(Target(path: "e\u{301}", bytes: [2]))
            $0.set(Target(path: "\u{E9}", bytes: [3]))
        }
        var trusted = try await repository.updater().refresh(at: start)
        #expect(try await repository.updater().target("K", in: &trusted) == nil)
        #expect(trusted.targets?.targets.count == 3)
        let target = try #require(try await repository.updater().target("e\u{301}", in: &trusted))
        #expect(target.hashes.sha256 == FileHashes(of: [2]).sha256)
    }

    @Test("a role that one delegator trusts with other keys is not trusted for another")
    func diamond() async throws {
        var repository = try SampleRepository()
        let (a, b, key, other) = (SigningKey(), SigningKey(), SigningKey(), SigningKey())
        try repository.publishTargets {
            try $0.delegate(to: "A", keys: [a.publicKey], threshold: 1, paths: .patterns(["a/*"]), isTerminating: false)
            try $0.delegate(to: "B", keys: [b.publicKey], threshold: 1, paths: .patterns(["b/*"]), isTerminating: false)
        }
        for (role, signer, trustedKey) in [("A", a, key), ("B", b, other)] {
            try repository.metadata.updateTargets(role, expires: start + 100, signers: [signer]) {
                (targets) throws(UpdateError) in
                try targets.delegate(
                    to: "common",
                    keys: [trustedKey.publicKey],
                    threshold: 1,
                    paths: .patterns(["*/*"]),
                    isTerminating: false
                )
            }
        }
        let edit: (inout Targets) throws(UpdateError) -> Void = { (targets) throws(UpdateError) in
            targets.set(Target(path: "a/1", bytes: [1]))
            targets.set(Target(path: "b/1", bytes: [1]))
        }
        #expect(
            await code {
                var copy = repository.metadata
                try copy.updateTargets("common", expires: start + 100, signers: [key], edit: edit)
            } == .threshold
        )
        try repository.metadata.updateTargets("common", expires: start + 100, signers: [key, other], edit: edit)
        try repository.publishSnapshot()
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        #expect(try await updater.target("a/1", in: &trusted) != nil)
        #expect(try await updater.target("b/1", in: &trusted) != nil)
        // The same role, signed only by the key that A trusts.
        var document = try #require(repository.metadata.targets["common"])
        document.removeSignature(of: try other.publicKey.id)
        repository.server.metadata.set("1.common.json", document.bytes)
        var snapshot = try #require(try repository.metadata.snapshotMetadata)
        snapshot.header.version += 1
        snapshot.files["common.json"] = MetadataFile(version: 1)
        try serve(snapshot, repository)
        let stranger = repository.updater()
        trusted = try await stranger.refresh(at: start)
        #expect(try await stranger.target("a/1", in: &trusted) != nil)
        #expect(await code { _ = try await stranger.target("b/1", in: &trusted) } == .threshold)
        #expect(try await stranger.target("a/1", in: &trusted) != nil)
    }

    @Test("at most 32 delegated roles are asked for a target")
    func manyDelegations() async throws {
        var repository = try SampleRepository()
        let key = SigningKey()
        try repository.publishTargets {
            for index in 0..<40 {
                try $0.delegate(
                    to: "r\(index)",
                    keys: [key.publicKey],
                    threshold: 1,
                    paths: .patterns(["*"]),
                    isTerminating: false
                )
            }
        }
        for index in 0..<40 {
            try repository.metadata.updateTargets("r\(index)", expires: start + 100, signers: [key]) {
                (targets) throws(UpdateError) in targets.set(Target(path: "t\(index)", bytes: [1]))
            }
        }
        try repository.publishSnapshot()
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        #expect(try await updater.target("t31", in: &trusted) != nil)
        #expect(try await updater.target("t32", in: &trusted) == nil)
    }

    @Test("behind a delegation that terminates nobody else is asked", arguments: [true, false])
    func terminating(isTerminating: Bool) async throws {
        var repository = try SampleRepository()
        let key = SigningKey()
        func delegate(_ targets: inout Targets, _ role: String, _ isTerminating: Bool) throws(UpdateError) {
            try targets.delegate(
                to: role,
                keys: [key.publicKey],
                threshold: 1,
                paths: .patterns(["*"]),
                isTerminating: isTerminating
            )
        }
        try repository.publishTargets {
            try delegate(&$0, "A", false)
            try delegate(&$0, "B", false)
        }
        try repository.metadata.updateTargets("A", expires: start + 100, signers: [key]) {
            (targets) throws(UpdateError) in try delegate(&targets, "C", isTerminating)
        }
        try repository.metadata.updateTargets("B", expires: start + 100, signers: [key]) {
            (targets) throws(UpdateError) in targets.set(Target(path: "a", bytes: [1]))
        }
        try repository.metadata.updateTargets("C", expires: start + 100, signers: [key])
        try repository.publishSnapshot()
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        #expect((try await updater.target("a", in: &trusted) == nil) == isTerminating)
    }
}
