import DeploymentClient
import Foundation
import Synchronization
import UpdateFramework

/// A team's metadata, verified as a device would from the root that apps carry; ceremonies begin with it.
struct TrustRepository {
    let configuration: DeploymentConfiguration
    let root: SignedDocument
    let trusted: TrustedMetadata
    /// Signed targets metadata by role: the top-level one, and the existing ones that it delegates to.
    let targets: [String: SignedDocument]

    /// Fetches and verifies the metadata; throws `UpdateError` when a device would refuse it.
    init(configuration path: String) throws {
        let configuration = try DeploymentConfiguration(contentsOf: path)
        self.configuration = configuration
        let store = MemoryStore()
        let loaded = try Blocking.run { () async throws -> (TrustedMetadata, [String: SignedDocument]) in
            let base = configuration.server.absoluteString
            let location = (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/v1/trust/\(configuration.team)/"
            let updater = MetadataUpdater(
                metadata: Fetcher(base: location + "metadata/"),
                targets: Fetcher(base: location + "targets/"),
                store: store,
                bundledRoot: configuration.root
            )
            var trusted = try await updater.refresh(at: UTCTime(secondsSince1970: Int64(Date().timeIntervalSince1970)))
            for role in trusted.delegatedRoles where trusted.snapshot?.files[Name(role.name + ".json")] != nil {
                // Looking for a file that cannot exist makes the client fetch and verify the role that would list it.
                guard case .patterns(let patterns) = role.paths, let pattern = patterns.first else { continue }
                _ = try await updater.target(pattern.replacing("*", with: "0.none"), in: &trusted)
            }
            var targets: [String: SignedDocument] = [:]
            for name in ["targets"] + trusted.delegatedRoles.map(\.name) {
                guard let bytes = store.load(name) else { continue }
                targets[name] = try SignedDocument(parsing: bytes, role: name)
            }
            return (trusted, targets)
        }
        (trusted, targets) = loaded
        root = try SignedDocument(parsing: store.load("root") ?? configuration.root, role: "root")
    }

    /// The metadata as the basis of further drafts.
    func metadata() throws -> RepositoryMetadata {
        try RepositoryMetadata(root: root, targets: targets, snapshot: nil, timestamp: nil)
    }
}

extension TrustedMetadata {
    /// The roles that the top-level targets delegate to.
    var delegatedRoles: [Delegations.Role] { targets?.delegations?.roles ?? [] }
}

/// Metadata in memory.
private final class MemoryStore: MetadataStore {
    private let files = Mutex<[String: [UInt8]]>([:])
    func load(_ role: String) -> [UInt8]? { files.withLock { $0[role] } }
    func store(_ role: String, _ bytes: [UInt8]) { files.withLock { $0[role] = bytes } }
    func remove(_ role: String) { files.withLock { $0[role] = nil } }
}

private struct Fetcher: MetadataFetcher {
    let base: String
    private let transport = PersistentTransport(URLSessionTransport())

    init(base: String) { self.base = base }

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        guard let url = URL(string: base + path) else { throw Failure("\(base)\(path) is not an address.") }
        let answer = try await transport.send(TransportRequest(url, limit: limit + 1))
        switch answer.status {
        case 200: return answer.body
        case 403, 404: return nil
        default: throw Failure("\(url): the server answered \(answer.status).")
        }
    }
}

/// Runs asynchronous code in synchronous commands.
enum Blocking {
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let waiting = DispatchSemaphore(value: 0)
        let box = Box<R>()
        Task.detached {
            do {
                let value = try await body()
                box.set(.success(value))
            } catch { box.set(.failure(error)) }
            waiting.signal()
        }
        waiting.wait()
        guard let result = box.value else { throw Failure("The work ended without a result.") }
        return try result.get()
    }

    private final class Box<R: Sendable>: Sendable {
        private let result = Mutex<Result<R, any Error>?>(nil)
        func set(_ new: Result<R, any Error>) { result.withLock { $0 = new } }
        var value: Result<R, any Error>? { result.withLock { $0 } }
    }
}
