import Testing
import UpdateFramework

@Suite("A client whose update fails")
struct RecoveryTests {
    private struct Broken: Error {}

    let start = SampleRepository.start

    @Test("goes on with the next one, whatever the failure left behind")
    func failures() async throws {
        var repository = try SampleRepository()
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        _ = try await updater.refresh(at: start)
        try repository.publishTargets { $0.set(Target(path: "a", bytes: [1])) }
        for name in ["timestamp.json", "2.snapshot.json", "2.targets.json"] {
            let bytes = repository.server.metadata.bytes(name)
            for wrong in [nil, [], Array("<html>".utf8), bytes?.dropLast(9)] {
                repository.server.metadata.set(name, wrong.map { Array($0) })
                #expect(await code { _ = try await updater.refresh(at: start) } != nil, "\(name)")
            }
            repository.server.metadata.set(name, bytes)
        }
        #expect(try await updater.refresh(at: start).targets?.target("a") != nil)
    }

    @Test("names the network and the store as culprits and keeps what it had")
    func culprits() async throws {
        let repository = try SampleRepository()
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        repository.server.metadata.failure = Broken()
        #expect(await code { _ = try await updater.refresh(at: start) } == .network)
        repository.server.metadata.failure = nil
        store.failure = Broken()
        #expect(await code { _ = try await updater.refresh(at: start) } == .storage)
        store.failure = nil
        _ = try await updater.refresh(at: start)
    }

    @Test("replaces stored metadata that is damaged")
    func damage() async throws {
        let repository = try SampleRepository()
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        _ = try await updater.refresh(at: start)
        let whole = store.files
        for (role, bytes) in whole.sorted(by: { $0.key < $1.key }) {
            for end in stride(from: 0, to: bytes.count, by: 7) {
                store.set(role, Array(bytes[..<end]))
                let trusted = try await updater.refresh(at: start)
                #expect(store.files == whole, "\(role), \(end) bytes")
                let reason = role == "targets" ? UpdateError.Code.wrongLength : .malformed
                #expect(trusted.setAside.map(\.role) == [role] && trusted.setAside.map(\.code) == [reason])
            }
        }
    }

    @Test("takes the bundled root when the stored one is damaged or older, and none when there is none")
    func roots() async throws {
        var repository = try SampleRepository()
        try repository.metadata.updateRoot(expires: start + UTCTime.days(400), signers: repository.signers(.root))
        try repository.publish()
        let store = MemoryStore()
        let server = repository.server
        func updater(_ bundled: [UInt8]?) -> MetadataUpdater {
            MetadataUpdater(metadata: server.metadata, targets: server.targets, store: store, bundledRoot: bundled)
        }
        #expect(await code { _ = try await updater(nil).refresh(at: start) } == .noRoot)
        _ = try await updater(repository.firstRoot).refresh(at: start)
        let second = try #require(store.files["root"])
        server.metadata.forgetRequests()
        #expect(try await updater(repository.firstRoot).refresh(at: start).root.version == 2)
        #expect(server.metadata.requests.first == "3.root.json", "the stored root is the newer one")
        store.set("root", Array("damaged".utf8))
        #expect(await code { _ = try await updater(nil).refresh(at: start) } == .malformed)
        #expect(try await updater(repository.firstRoot).refresh(at: start).root.version == 2)
        store.set("root", repository.firstRoot)
        server.metadata.forgetRequests()
        _ = try await updater(second).refresh(at: start)
        #expect(server.metadata.requests.first == "3.root.json", "the bundled root is the newer one")
    }

    @Test("stops after so many roots and goes on from there")
    func manyRoots() async throws {
        var repository = try SampleRepository()
        for _ in 0..<10 {
            try repository.metadata.updateRoot(expires: start + 100, signers: repository.signers(.root))
            try repository.publish()
        }
        var limits = UpdateLimits()
        limits.roots = 4
        let (server, store) = (repository.server, MemoryStore())
        let updater = MetadataUpdater(
            metadata: server.metadata,
            targets: server.targets,
            store: store,
            bundledRoot: repository.firstRoot,
            limits: limits
        )
        var versions: [Int] = []
        for _ in 0..<3 { versions.append(try await updater.refresh(at: start).root.version) }
        #expect(versions == [5, 9, 11])
    }

    @Test("knows without a network what it trusts and until when")
    func offline() async throws {
        var repository = try SampleRepository()
        let key = SigningKey()
        try repository.publishTargets {
            try $0.delegate(
                to: "a",
                keys: [key.publicKey],
                threshold: 1,
                paths: .patterns(["a/*"]),
                isTerminating: true
            )
        }
        try repository.metadata.updateTargets("a", expires: start + 3_600, signers: [key]) {
            (targets) throws(UpdateError) in targets.set(Target(path: "a/1", bytes: [1]))
        }
        try repository.publishSnapshot()
        let store = MemoryStore()
        let updater = repository.updater(store: store)
        #expect(await code { _ = try updater.cached(at: start) } == .missing)
        var trusted = try await updater.refresh(at: start)
        repository.server.metadata.failure = Broken()
        var cached = try updater.cached(at: start)
        #expect(cached.expired.isEmpty)
        #expect(cached.validUntil == start + UTCTime.days(1))
        #expect(await code { _ = try updater.cachedTarget("a/1", in: &cached) } == .missing)
        repository.server.metadata.failure = nil
        _ = try await updater.target("a/1", in: &trusted)
        repository.server.metadata.failure = Broken()
        #expect(try updater.cachedTarget("a/1", in: &cached)?.role == "a")
        #expect(cached.validUntil == start + 3_600)
    }

    @Test("reports stored metadata that expired, and installs nothing by it")
    func expiredCache() async throws {
        var repository = try SampleRepository()
        try repository.publishTargets { $0.set(Target(path: "a", bytes: [1])) }
        let updater = repository.updater(store: MemoryStore())
        var trusted = try await updater.refresh(at: start)
        let target = try #require(try await updater.target("a", in: &trusted))
        var cached = try updater.cached(at: start + UTCTime.days(10))
        #expect(cached.expired.map(\.role) == ["timestamp", "snapshot"])
        #expect(await code { _ = try updater.cachedTarget("a", in: &cached) } == .expired)
        let state = cached
        #expect(await code { _ = try await updater.download(target, in: state) } == .expired)
        #expect(await code { _ = try await updater.target("a", in: &cached) } == .expired)
        var fresh = try updater.cached(at: start)
        #expect(try updater.cachedTarget("a", in: &fresh) != nil)
    }

    @Test("says when the last update was not finished")
    func halfCache() async throws {
        var repository = try SampleRepository()
        let updater = repository.updater(store: MemoryStore())
        _ = try await updater.refresh(at: start)
        try repository.publishTargets { _ in }
        let snapshot = repository.server.metadata.bytes("2.snapshot.json")
        repository.server.metadata.set("2.snapshot.json", nil)
        #expect(await code { _ = try await updater.refresh(at: start) } == .missing)
        #expect(await code { _ = try updater.cached(at: start) } == .wrongVersion)
        repository.server.metadata.set("2.snapshot.json", snapshot)
        _ = try await updater.refresh(at: start)
        _ = try updater.cached(at: start)
    }
}
