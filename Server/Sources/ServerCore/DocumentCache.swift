import Crypto
import ServerDatabase
import Synchronization

/// A document that devices fetch, and the tag that names its bytes in answers.
public struct TaggedDocument: Sendable {
    public let bytes: [UInt8]
    /// In quotes, as `ETag` holds it.
    public let tag: String

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = "\"\(Array(SHA256.hash(data: bytes)).prefix(16).hexadecimal)\""
    }
}

/// The documents that devices ask for most, as they are, or were at most a second ago when another server changed them.
final class DocumentCache: Sendable {
    private struct Entry {
        let document: TaggedDocument
        /// How often this server had changed its records when the document was read.
        let changes: Int
        let read: ContinuousClock.Instant
    }

    private static let lifetime = Duration.seconds(1)
    private static let mostEntries = 10_000

    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter changes: how often this server has changed its records so far.
    func document(_ name: String, changes: Int, read: () async throws -> [UInt8]?) async throws -> TaggedDocument? {
        let now = ContinuousClock.now
        let known = entries.withLock { $0[name] }
        if let known, known.changes == changes, now - known.read < Self.lifetime { return known.document }
        guard let bytes = try await read() else { return nil }
        // What has not changed keeps its tag, which took longest to make.
        let document = known.flatMap { $0.document.bytes == bytes ? $0.document : nil } ?? TaggedDocument(bytes)
        entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries.removeAll() }
            entries[name] = Entry(document: document, changes: changes, read: now)
        }
        return document
    }
}

/// A database that counts how often it was changed through it.
final class CountingDatabase: Database {
    private let database: any Database
    private let count = Atomic(0)

    init(_ database: any Database) { self.database = database }

    /// Rises after each change, before whoever made it goes on.
    var changes: Int { count.load(ordering: .acquiring) }

    var dialect: Dialect { database.dialect }

    func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await database.read(body)
    }

    func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        // Also after an error: a lost connection may have stored the change.
        defer { count.add(1, ordering: .acquiringAndReleasing) }
        return try await database.write(body)
    }

    func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
        try await database.exclusively(name, body)
    }

    func close() async throws { try await database.close() }
}

extension Service {
    /// The signed policy of a collection with its tag; `nil` when nothing was deployed yet.
    public func policyDocument(app: String, collection: String, environment: String) async throws -> TaggedDocument? {
        try await documents.document("p/\(app)/\(collection)/\(environment)", changes: changes.changes) {
            try await signedPolicy(app: app, collection: collection, environment: environment)
        }
    }

    /// A file of a team's metadata with its tag.
    public func metadataDocument(team: String, file: String) async throws -> TaggedDocument? {
        try await documents.document("m/\(team)/\(file)", changes: changes.changes) {
            try await trustMetadata(team: team, file: file)
        }
    }
}
