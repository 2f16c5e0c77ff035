import UpdateFramework

/// A repository in memory: its publisher's keys, its newest metadata, and all files that it ever published.
struct SampleRepository {
    static let start = UTCTime(secondsSince1970: 1_800_000_000)

    var keys: [MetadataType: [SigningKey]]
    var metadata: RepositoryMetadata
    let server = SampleServer()
    /// The root that a client's app bundles: the first one.
    let firstRoot: [UInt8]

    init(kind: SigningKey.Kind = .ed25519, hasConsistentSnapshots: Bool = true) throws {
        keys = Dictionary(uniqueKeysWithValues: MetadataType.allCases.map { ($0, [SigningKey(kind)]) })
        let expires = Self.start + UTCTime.days(365)
        metadata = try RepositoryMetadata(
            roles: keys.mapValues { ($0.map(\.publicKey), $0.count) },
            rootExpires: expires,
            signers: keys[.root] ?? [],
            hasConsistentSnapshots: hasConsistentSnapshots
        )
        firstRoot = metadata.root.bytes
        try publishTargets { _ in }
    }

    func signers(_ type: MetadataType) -> [SigningKey] { keys[type] ?? [] }

    mutating func publishTargets(
        expires: UTCTime = start + UTCTime.days(90),
        _ edit: (inout Targets) throws -> Void
    ) throws {
        var new = try metadata.targetsMetadata("targets") ?? Targets(header: Header(version: 0, expires: expires))
        try edit(&new)
        try metadata.updateTargets(expires: expires, signers: signers(.targets)) { (targets) throws(UpdateError) in
            let header = targets.header
            targets = new
            targets.header = header
        }
        try publishSnapshot()
    }

    mutating func publishSnapshot(
        expires: UTCTime = start + UTCTime.days(7),
        timestampExpires: UTCTime = start + UTCTime.days(1)
    ) throws {
        try metadata.updateSnapshot(expires: expires, signers: signers(.snapshot))
        try metadata.updateTimestamp(expires: timestampExpires, signers: signers(.timestamp))
        try publish()
    }

    /// Makes what is newest available to clients.
    func publish() throws {
        for file in try metadata.files() { server.metadata.set(file.name, file.bytes) }
    }

    func updater(store: any MetadataStore = MemoryStore()) -> MetadataUpdater {
        MetadataUpdater(metadata: server.metadata, targets: server.targets, store: store, bundledRoot: firstRoot)
    }
}

/// The two folders of a repository.
struct SampleServer: Sendable {
    let metadata = MemoryFetcher()
    let targets = MemoryFetcher()
}

/// A server of files in memory, which counts what is asked.
final class MemoryFetcher: MetadataFetcher, @unchecked Sendable {
    // Guarded by the tests themselves: nobody changes files while a client fetches.
    private var files: [String: [UInt8]] = [:]
    private(set) var requests: [String] = []
    var failure: (any Error)?

    func set(_ path: String, _ bytes: [UInt8]?) { files[path] = bytes }
    func bytes(_ path: String) -> [UInt8]? { files[path] }
    func forgetRequests() { requests = [] }

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        requests.append(path)
        if let failure { throw failure }
        return files[path]
    }
}

/// A store in memory.
final class MemoryStore: MetadataStore, @unchecked Sendable {
    // Guarded by the tests themselves: one update at a time uses a store.
    private(set) var files: [String: [UInt8]] = [:]
    var failure: (any Error)?

    func load(_ role: String) throws -> [UInt8]? { files[role] }

    func store(_ role: String, _ bytes: [UInt8]) throws {
        if let failure { throw failure }
        files[role] = bytes
    }

    func remove(_ role: String) throws { files[role] = nil }
    func set(_ role: String, _ bytes: [UInt8]?) { files[role] = bytes }
}

/// The code of the error that `body` ends with; `nil` when it ends well.
func code(_ body: () async throws -> Void) async -> UpdateError.Code? {
    do { try await body() } catch { return (error as? UpdateError)?.code }
    return nil
}
