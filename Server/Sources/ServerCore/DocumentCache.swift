import Crypto
import ServerDatabase
import Synchronization

/// A document that devices fetch, with the tag that identifies its bytes in HTTP responses.
public struct TaggedDocument: Sendable {
    /// The document.
    public let bytes: [UInt8]
    /// The value of `ETag`, in quotes.
    public let tag: String

    /// Creates a document with a tag made of its SHA-256.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = "\"\(Array(SHA256.hash(data: bytes)).prefix(16).hexadecimal)\""
    }
}

/// The result of looking a document up, with the time at which it was valid.
public struct FoundDocument: Sendable {
    /// The document; `nil` when there is none.
    public let document: TaggedDocument?
    /// The number of changes that this server had made to its records when the document was read.
    fileprivate let changes: Int
    fileprivate let read: ContinuousClock.Instant
}

/// A cache of the documents that devices fetch most.
///
/// They are current, or at most a second old where another server changed them.
final class DocumentCache: Sendable {
    private static let lifetime = Duration.seconds(1)
    private static let maximumEntryCount = 10_000

    private let entries = Mutex<[String: FoundDocument]>([:])
    private let uptime: @Sendable () -> ContinuousClock.Instant

    /// Creates an empty cache; `uptime` is the time by which documents age.
    init(uptime: @escaping @Sendable () -> ContinuousClock.Instant) { self.uptime = uptime }

    /// Whether a document is what would be found now, given the number of changes so far.
    func isCurrent(_ found: FoundDocument, changes: Int) -> Bool {
        found.changes == changes && uptime() - found.read < Self.lifetime
    }

    /// A document from the cache, or read anew.
    ///
    /// `changes` is the number of changes so far. Where `keepsMissing` is true, missing documents are cached, too: use
    /// it only for names that nobody can invent at will.
    func document(
        _ name: String,
        changes: Int,
        keepsMissing: Bool = false,
        read: () async throws -> [UInt8]?
    ) async throws -> FoundDocument {
        let known = entries.withLock { $0[name] }
        if let known, isCurrent(known, changes: changes) { return known }
        let now = uptime()
        // An unchanged document keeps its tag, which is the most expensive part.
        let document = try await read().map { bytes in
            known?.document.flatMap { $0.bytes == bytes ? $0 : nil } ?? TaggedDocument(bytes)
        }
        let found = FoundDocument(document: document, changes: changes, read: now)
        guard document != nil || keepsMissing else { return found }
        entries.withLock { entries in
            if entries.count >= Self.maximumEntryCount { entries.removeAll() }
            entries[name] = found
        }
        return found
    }
}

/// A database that counts the changes made through it.
final class CountingDatabase: Database {
    private let database: any Database
    private let count = Atomic(0)

    init(_ database: any Database) { self.database = database }

    /// The number of changes; it rises after each change, before the caller continues.
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
    /// Whether a document that was found before is what would be found now.
    public func isCurrent(_ found: FoundDocument) -> Bool { documents.isCurrent(found, changes: changes.changes) }

    /// The signed policy of a collection; no document before the first deployment.
    public func policyDocument(app: String, collection: String, environment: String) async throws -> FoundDocument {
        try await documents.document("p/\(app)/\(collection)/\(environment)", changes: changes.changes) {
            try await signedPolicy(app: app, collection: collection, environment: environment)
        }
    }

    /// A file of a team's metadata.
    public func metadataDocument(team: String, file: String) async throws -> FoundDocument {
        // Each check of a device begins with a request for the next root, which usually does not exist yet.
        let isRoot = file.hasSuffix(".root.json") && Int(file.dropLast(10)).map { $0 < 1000 } ?? false
        return try await documents.document("m/\(team)/\(file)", changes: changes.changes, keepsMissing: isRoot) {
            try await trustMetadata(team: team, file: file)
        }
    }
}
