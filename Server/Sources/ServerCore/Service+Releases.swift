import DeploymentPolicy
public import Foundation
import ServerDatabase

/// A release: a fixed set of the models of a collection, which never changes.
public struct Release: Sendable, Codable, Equatable {
    /// A model of a release.
    public struct Model: Sendable, Codable, Equatable {
        /// The model's name in the collection.
        public let name: String
        /// The SHA-256 of its archive in hexadecimal digits.
        public let archive: String
        /// The length of its archive in bytes.
        public let byteCount: Int
        /// The key that it is encrypted with; `nil` for a model in the clear.
        public let keyID: String?
        /// The SHA-256 of the test vectors that devices test it with; `nil` for none.
        public let selfTest: String?
        /// Deltas from earlier archives.
        public let deltas: [Delta]
    }

    /// A delta that devices with an earlier archive fetch instead of this one.
    public struct Delta: Sendable, Codable, Equatable {
        /// The SHA-256 of the earlier archive.
        public let from: String
        /// The SHA-256 of the delta.
        public let sha256: String
        /// The length of the delta in bytes.
        public let byteCount: Int
    }

    /// The app's identifier.
    public let app: String
    /// The collection's identifier.
    public let collection: String
    /// The release's number, from 1 on.
    public let number: Int
    /// The SHA-256 of the release document, which identifies it in policies and metadata.
    public let sha256: String
    /// The models.
    public let models: [Model]
    /// The earliest runtime that can load the models; `nil` for any.
    public let minimumRuntime: String?
    /// Notes for people.
    public let note: String
    /// The date at which it was created.
    public let created: Date
    /// The name of who created it.
    public let createdBy: String
}

/// The contents of a release that is to be created.
public struct NewRelease: Sendable, Codable {
    /// A model of the release.
    public struct Model: Sendable, Codable {
        /// The SHA-256 of an uploaded archive.
        public var archive: String
        /// The SHA-256 of an uploaded file of test vectors; `nil` for no test.
        public var selfTest: String?
        /// The largest relative difference from the stored outputs that the test allows; `nil` for that of the vectors.
        public var tolerance: Double?
        /// The largest ratio of this model's time for the test to the current model's; `nil` for any.
        public var slowdown: Double?

        /// Creates a model, by default without a self-test.
        public init(archive: String, selfTest: String? = nil, tolerance: Double? = nil, slowdown: Double? = nil) {
            self.archive = archive
            self.selfTest = selfTest
            self.tolerance = tolerance
            self.slowdown = slowdown
        }
    }

    /// A model for each name in the collection.
    public var models: [String: Model]
    /// The earliest runtime that can load the models; `nil` for any.
    public var minimumRuntime: String?
    /// Notes for people.
    public var note: String?
    /// Measured values by name.
    public var metrics: [String: Double]?

    /// Creates the contents of a release.
    public init(
        models: [String: Model],
        minimumRuntime: String? = nil,
        note: String? = nil,
        metrics: [String: Double]? = nil
    ) {
        self.models = models
        self.minimumRuntime = minimumRuntime
        self.note = note
        self.metrics = metrics
    }
}

extension Service {
    /// Creates a release from uploaded archives, and signs it or drafts it for its publisher to sign.
    ///
    /// Throws a ``ServiceError`` that names the wrong member, or without permission.
    public func createRelease(
        _ new: NewRelease,
        app: String,
        collection id: String,
        as actor: Principal
    ) async throws -> Release {
        let owner = try await self.app(app, as: actor, for: .publish)
        try Self.checkText(new.note ?? "", "note", maximum: 16_384)
        let time = now()
        let runtime = try new.minimumRuntime.map { text in
            guard let version = VersionNumber(text) else {
                throw ServiceError.invalid("minimumRuntime", "\"\(text)\" is not a version.")
            }
            return version
        }
        return try await changeTrust(of: owner.team) { connection, trust in
            let collection = try Self.collection(id, app: app, connection)
            let number = collection.releases + 1
            var document = ReleaseDocument(
                app: app,
                collection: id,
                number: number,
                counter: number,
                created: PolicyDate(time),
                models: try Self.models(new, of: collection, team: owner.team, connection)
            )
            document.minimumRuntime = runtime
            document.notes = new.note?.isEmpty == false ? new.note : nil
            document.metrics = (new.metrics ?? [:]).sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
            let bytes: [UInt8]
            do throws(PolicyError) { bytes = try document.bytes() } catch {
                throw ServiceError.invalid(error.path, error.message)
            }
            try connection.execute("UPDATE collections SET releases = ? WHERE app = ? AND id = ?", number, app, id)
            try connection.execute(
                "INSERT INTO releases (app, collection, number, document, sha256, note, created, created_by) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                app,
                id,
                number,
                bytes,
                Self.sha256(bytes),
                new.note ?? "",
                time.milliseconds,
                actor.name
            )
            for hash in Set(document.models.map(\.archive.sha256)) {
                try connection.execute(
                    "INSERT INTO release_archives (app, collection, number, sha256) VALUES (?, ?, ?, ?)",
                    app,
                    id,
                    number,
                    hash
                )
            }
            try trust.addRelease(app: app, collection: id, path: document.target, bytes: bytes, connection)
            try Audit.record(
                connection,
                at: time,
                actor,
                team: owner.team,
                "release.create",
                "\(app)/\(id)/\(number)",
                Dictionary(document.models.map { ($0.name, $0.archive.sha256) }) { first, _ in first }
            )
            return try Self.release(number, app: app, collection: id, connection)
        }
    }

    /// The models of a new release: an archive for each name in the collection, and no others.
    private static func models(
        _ new: NewRelease,
        of collection: ModelCollection,
        team: String,
        _ connection: any Connection
    ) throws -> [ReleaseDocument.Model] {
        for name in new.models.keys where !collection.models.contains(name) {
            throw ServiceError.invalid(
                "models.\(name)",
                "The collection \"\(collection.id)\" has no model of this name; it has "
                    + collection.models.joined(separator: ", ") + "."
            )
        }
        return try collection.models.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
            guard let choice = new.models[name] else {
                throw ServiceError.invalid(
                    "models.\(name)",
                    "A release holds every model of its collection: this one is missing."
                )
            }
            guard let archive = try archive(choice.archive, team: team, connection) else {
                throw ServiceError.invalid(
                    "models.\(name).archive",
                    "The team has no archive \(choice.archive): upload it first."
                )
            }
            var model = ReleaseDocument.Model(
                name,
                archive: .init(sha256: archive.sha256, length: archive.byteCount)
            )
            model.version = archive.summary.version
            model.encryption = archive.summary.encryption.map { .init(keyID: $0.keyID, team: $0.team) }
            model.deltas = try deltas(to: archive.sha256, team: team, connection)
            if let hash = choice.selfTest {
                guard let length = try vectors(hash, team: team, connection) else {
                    throw ServiceError.invalid(
                        "models.\(name).selfTest",
                        "The team has no test vectors \(hash): upload them first."
                    )
                }
                model.selfTest = .init(
                    vectors: .init(sha256: hash, length: length),
                    tolerance: choice.tolerance,
                    slowdown: choice.slowdown
                )
            }
            return model
        }
    }

    /// The releases of a collection, the latest first.
    public func releases(app: String, collection: String, as actor: Principal) async throws -> [Release] {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in
            try connection.query(
                "SELECT * FROM releases WHERE app = ? AND collection = ? ORDER BY number DESC",
                app,
                collection
            ).map(Self.release)
        }
    }

    /// The release with a number; throws a ``ServiceError`` when there is none.
    public func release(_ number: Int, app: String, collection: String, as actor: Principal) async throws -> Release {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in
            try Self.release(number, app: app, collection: collection, connection)
        }
    }

    static func release(
        _ number: Int,
        app: String,
        collection: String,
        _ connection: any Connection
    ) throws -> Release {
        guard
            let row = try connection.first(
                "SELECT * FROM releases WHERE app = ? AND collection = ? AND number = ?",
                app,
                collection,
                number
            )
        else { throw ServiceError.notFound("release \(number) of the collection \"\(collection)\"") }
        return try release(row)
    }

    private static func release(_ row: Row) throws -> Release {
        let document = try ReleaseDocument(row.bytes("document"))
        return Release(
            app: try row.text("app"),
            collection: try row.text("collection"),
            number: try row.integer("number"),
            sha256: try row.text("sha256"),
            models: document.models.map {
                Release.Model(
                    name: $0.name,
                    archive: $0.archive.sha256,
                    byteCount: $0.archive.length,
                    keyID: $0.encryption?.keyID,
                    selfTest: $0.selfTest?.vectors.sha256,
                    deltas: $0.deltas.map {
                        Release.Delta(from: $0.from, sha256: $0.delta.sha256, byteCount: $0.delta.length)
                    }
                )
            },
            minimumRuntime: document.minimumRuntime?.description,
            note: try row.text("note"),
            created: try row.date("created"),
            createdBy: try row.text("created_by")
        )
    }

    /// The entry of a release in policies.
    static func reference(
        _ number: Int,
        app: String,
        collection: String,
        _ connection: any Connection
    ) throws -> ReleaseReference? {
        guard
            let row = try connection.first(
                "SELECT document, sha256 FROM releases WHERE app = ? AND collection = ? AND number = ?",
                app,
                collection,
                number
            )
        else { return nil }
        let bytes = try row.bytes("document")
        let document = try ReleaseDocument(bytes)
        try requireSignature(of: document, connection)
        return ReleaseReference(
            number: number,
            counter: document.counter,
            target: document.target,
            sha256: try row.text("sha256"),
            length: bytes.count,
            minimumRuntime: document.minimumRuntime
        )
    }
}

extension PolicyDate {
    init(_ date: Date) { self.init(secondsSince1970: Int(date.timeIntervalSince1970)) }
}
