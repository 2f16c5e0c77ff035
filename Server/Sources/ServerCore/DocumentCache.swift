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

/// What was found where devices look for a document, and when.
public struct FoundDocument: Sendable {
    /// `nil` when there is none.
    public let document: TaggedDocument?
    /// How often this server had changed its records when the document was read.
    fileprivate let changes: Int
    fileprivate let read: ContinuousClock.Instant
}

/// The documents that devices ask for most, as they are, or were at most a second ago when another server changed them.
final class DocumentCache: Sendable {
    private static let lifetime = Duration.seconds(1)
    private static let mostEntries = 10_000

    private let entries = Mutex<[String: FoundDocument]>([:])

    /// Whether this is what would be found now.
    /// - Parameter changes: how often this server has changed its records so far.
    func isCurrent(_ found: FoundDocument, changes: Int) -> Bool {
        found.changes == changes && ContinuousClock.now - found.read < Self.lifetime
    }

    /// - Parameters:
    ///   - changes: how often this server has changed its records so far.
    ///   - keepsMissing: whether it is remembered, too, that there is none: of names that nobody can make up at will.
    func document(
        _ name: String,
        changes: Int,
        keepsMissing: Bool = false,
        read: () async throws -> [UInt8]?
    ) async throws -> FoundDocument {
        let known = entries.withLock { $0[name] }
        if let known, isCurrent(known, changes: changes) { return known }
        let now = ContinuousClock.now
        // What has not changed keeps its tag, which took longest to make.
        let document = try await read().map { bytes in
            known?.document.flatMap { $0.bytes == bytes ? $0 : nil } ?? TaggedDocument(bytes)
        }
        let found = FoundDocument(document: document, changes: changes, read: now)
        guard document != nil || keepsMissing else { return found }
        entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries.removeAll() }
            entries[name] = found
        }
        return found
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
    /// Whether a document that was found before is what would be found now.
    public func isCurrent(_ found: FoundDocument) -> Bool { documents.isCurrent(found, changes: changes.changes) }

    /// The signed policy of a collection; none when nothing was deployed yet.
    public func policyDocument(app: String, collection: String, environment: String) async throws -> FoundDocument {
        try await documents.document("p/\(app)/\(collection)/\(environment)", changes: changes.changes) {
            try await signedPolicy(app: app, collection: collection, environment: environment)
        }
    }

    /// A file of a team's metadata.
    public func metadataDocument(team: String, file: String) async throws -> FoundDocument {
        // Each check of a device begins with the question for a root that there is not yet.
        let isRoot = file.hasSuffix(".root.json") && Int(file.dropLast(10)).map { $0 < 1000 } ?? false
        return try await documents.document("m/\(team)/\(file)", changes: changes.changes, keepsMissing: isRoot) {
            try await trustMetadata(team: team, file: file)
        }
    }
}
