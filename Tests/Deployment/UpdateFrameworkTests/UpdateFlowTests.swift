import Testing
import UpdateFramework

@Suite("A client that follows a repository")
struct UpdateFlowTests {
    let start = SampleRepository.start

    @Test("finds a release that a delegated role vouches for and downloads what was signed")
    func release() async throws {
        var repository = try SampleRepository()
        let release = Array(#"{"release":7}"#.utf8)
        let path = "apps/flowers/collections/garden/7.json"
        try delegate(&repository, "flowers.garden", Target(path: path, bytes: release))
        repository.server.targets.set(
            "apps/flowers/collections/garden/\(FileHashes(of: release).sha256 ?? "").7.json",
            release
        )
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        #expect(try await updater.target("apps/flowers/collections/other/7.json", in: &trusted) == nil)
        let target = try #require(try await updater.target(path, in: &trusted))
        #expect(target.role == "flowers.garden")
        #expect(try await updater.download(target, in: trusted) == release)
        #expect(trusted.validUntil == start + UTCTime.days(1))
    }

    /// Delegates a collection to a role of its own that has one target.
    private func delegate(_ repository: inout SampleRepository, _ role: String, _ target: Target) throws {
        let key = SigningKey(.ecdsaP256)
        let paths = DelegatedPaths.patterns(["apps/flowers/collections/garden/*"])
        try repository.publishTargets {
            try $0.delegate(to: role, keys: [key.publicKey], threshold: 1, paths: paths, isTerminating: true)
        }
        try repository.metadata.updateTargets(role, expires: start + UTCTime.days(30), signers: [key]) {
            (targets) throws(UpdateError) in targets.set(target)
        }
        try repository.publishSnapshot()
    }

    @Test("asks for little when nothing is new")
    func idle() async throws {
        let repository = try SampleRepository()
        let updater = repository.updater(store: MemoryStore())
        _ = try await updater.refresh(at: start)
        repository.server.metadata.forgetRequests()
        _ = try await updater.refresh(at: start)
        #expect(repository.server.metadata.requests == ["2.root.json", "timestamp.json"])
    }

    @Test("works without consistent snapshots")
    func plainNames() async throws {
        let repository = try SampleRepository(hasConsistentSnapshots: false)
        _ = try await repository.updater().refresh(at: start)
        #expect(
            repository.server.metadata.requests == ["2.root.json", "timestamp.json", "snapshot.json", "targets.json"]
        )
    }

    @Test("refuses a target that is not the one that was signed")
    func foreignTarget() async throws {
        var repository = try SampleRepository()
        let bytes = Array("model".utf8)
        try repository.publishTargets { $0.set(Target(path: "a", bytes: bytes)) }
        let updater = repository.updater()
        var trusted = try await updater.refresh(at: start)
        let target = try #require(try await updater.target("a", in: &trusted))
        let location = updater.location(of: target, in: trusted)
        let state = trusted
        for (offered, expected) in [
            ("modeL", UpdateError.Code.wrongHash), ("mode", .wrongLength), ("models", .tooLarge),
        ] {
            repository.server.targets.set(location, Array(offered.utf8))
            #expect(await code { _ = try await updater.download(target, in: state) } == expected)
        }
        repository.server.targets.set(location, nil)
        #expect(await code { _ = try await updater.download(target, in: state) } == .missing)
    }

    @Test("follows new root keys, signed by the old and the new")
    func rotation() async throws {
        var repository = try SampleRepository()
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        _ = try await updater.refresh(at: start)
        let (old, new) = (repository.signers(.root), [SigningKey(), SigningKey(.ecdsaP256)])
        try repository.metadata.updateRoot(expires: start + UTCTime.days(400), signers: old + new) {
            (root) throws(UpdateError) in try root.setKeys(new.map(\.publicKey), threshold: 2, of: .root)
        }
        try repository.publish()
        #expect(try await updater.refresh(at: start).root.version == 2)
        var draft = try repository.metadata.rootDraft(expires: start + UTCTime.days(400))
        try draft.sign(with: new[0])
        repository.server.metadata.set("3.root.json", draft.bytes)
        #expect(await code { _ = try await updater.refresh(at: start) } == .threshold)
        try draft.sign(with: new[1])
        try repository.metadata.replaceRoot(with: draft)
        try repository.publish()
        #expect(try await updater.refresh(at: start).root.version == 3)
    }

    @Test("tells the keys of a delegated role, with which it verifies a document")
    func director() async throws {
        var repository = try SampleRepository()
        let directors = [SigningKey(), SigningKey(), SigningKey(.ecdsaP256)]
        try repository.publishTargets {
            try $0.delegate(
                to: "flowers@director",
                keys: directors.map(\.publicKey),
                threshold: 2,
                paths: .patterns(["apps/flowers/policies/*"]),
                isTerminating: true
            )
        }
        let trusted = try await repository.updater().refresh(at: start)
        let keys = try #require(trusted.keys(ofDelegated: "flowers@director"))
        #expect(trusted.keys(ofDelegated: "other@director") == nil)
        let text = Array(#"{"_type": "policy", "version": 4}"#.utf8)
        var policy = SignedDocument(signed: try MetadataValue(parsing: text, role: "policy"))
        try policy.sign(with: directors[0])
        try policy.sign(with: SigningKey())
        #expect(await code { try policy.verify(keys) } == .threshold)
        try policy.sign(with: directors[2])
        let read = try SignedDocument(parsing: policy.bytes, role: "policy")
        try read.verify(keys)
        #expect(try read.signers(keys).count == 2)
        #expect(read.signed["version"]?.int == 4)
    }
}
