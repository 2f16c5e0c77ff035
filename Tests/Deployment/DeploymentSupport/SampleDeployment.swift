import Crypto
package import DeploymentClient
package import DeploymentPolicy
import Foundation
import MLArchive
import MLDelta
package import MLEncryption
package import UpdateFramework

/// A publisher and a director of one collection, `flowers` of the app `shop`, and the files that they publish.
package struct SampleDeployment {
    package static let team = "acme"
    package static let app = "shop"
    package static let environment = "production"
    package static let collection = "flowers"
    package static let start = UTCTime(secondsSince1970: 1_800_000_000)

    package var root = UpdateFramework.SigningKey()
    package var targets = UpdateFramework.SigningKey()
    package var snapshot = UpdateFramework.SigningKey()
    package var timestamp = UpdateFramework.SigningKey()
    package var director = UpdateFramework.SigningKey()
    package var publisher = UpdateFramework.SigningKey()
    package private(set) var metadata: RepositoryMetadata
    /// Everything that a server would answer, by its path.
    package private(set) var files: [String: [UInt8]] = [:]
    package private(set) var references: [Int: ReleaseReference] = [:]
    private let firstRoot: [UInt8]
    private var policyVersion = 0

    package init() throws {
        metadata = try RepositoryMetadata(
            roles: [
                .root: ([root.publicKey], 1), .targets: ([targets.publicKey], 1), .snapshot: ([snapshot.publicKey], 1),
                .timestamp: ([timestamp.publicKey], 1),
            ],
            rootExpires: Self.start + UTCTime.days(365),
            signers: [root]
        )
        firstRoot = metadata.root.bytes
        let (director, publisher) = (director.publicKey, publisher.publicKey)
        try metadata.updateTargets(expires: Self.start + UTCTime.days(90), signers: [targets]) {
            targets throws(UpdateError) in
            try targets.delegate(
                to: "\(Self.app)@director",
                keys: [director],
                threshold: 1,
                paths: .patterns(["apps/\(Self.app)/policies/*"]),
                isTerminating: true
            )
            try targets.delegate(
                to: Self.role,
                keys: [publisher],
                threshold: 1,
                paths: .patterns(["apps/\(Self.app)/collections/\(Self.collection)/*"]),
                isTerminating: true
            )
        }
        try publishMetadata { _ in }
    }

    package static var role: String { "\(app).\(collection)" }
    package static var policyPath: String {
        "/v1/apps/\(app)/environments/\(environment)/collections/\(collection)/policy.json"
    }

    // MARK: Publishing

    /// Publishes the metadata after a change of the collection's targets.
    package mutating func publishMetadata(
        targetsExpire: UTCTime = start + UTCTime.days(90),
        snapshotExpires: UTCTime = start + UTCTime.days(7),
        timestampExpires: UTCTime = start + UTCTime.days(1),
        _ edit: (inout Targets) -> Void
    ) throws {
        try metadata.updateTargets(Self.role, expires: targetsExpire, signers: [publisher]) {
            targets throws(UpdateError) in edit(&targets)
        }
        try metadata.updateSnapshot(expires: snapshotExpires, signers: [snapshot])
        try metadata.updateTimestamp(expires: timestampExpires, signers: [timestamp])
        for file in try metadata.files() { files["/v1/trust/\(Self.team)/metadata/\(file.name)"] = file.bytes }
    }

    /// Signs anew what is about to expire, but for one role: that one keeps the expiry that it has.
    package mutating func renew(at now: UTCTime, without role: String?) throws {
        if role != "root" {
            try metadata.updateRoot(expires: now + UTCTime.days(365), signers: [root])
        }
        if role != "targets" {
            try metadata.updateTargets(expires: now + UTCTime.days(90), signers: [targets])
        }
        let old = Self.start + 1
        try publishMetadata(
            targetsExpire: now + UTCTime.days(90),
            snapshotExpires: role == "snapshot" ? old : now + UTCTime.days(7),
            timestampExpires: role == "timestamp" ? old : now + UTCTime.days(1)
        ) { _ in }
    }

    /// Gives the root to three holders, two of whom have to sign.
    package mutating func shareRoot(among holders: [UpdateFramework.SigningKey], threshold: Int) throws {
        let keys = holders.map(\.publicKey)
        try metadata.updateRoot(expires: Self.start + UTCTime.days(365), signers: [root] + holders) {
            root throws(UpdateError) in try root.setKeys(keys, threshold: threshold, of: .root)
        }
        try publishMetadata { _ in }
    }

    /// Two of three holders of the root take the first one's key away.
    package mutating func metadataWithoutHolder(_ holders: [UpdateFramework.SigningKey]) throws {
        let keys = holders.dropFirst().map(\.publicKey)
        try metadata.updateRoot(expires: Self.start + UTCTime.days(365), signers: Array(holders.dropFirst())) {
            root throws(UpdateError) in try root.setKeys(keys, threshold: 2, of: .root)
        }
        try publishMetadata { _ in }
    }

    /// A new key for the publisher of the collection, whose role goes on behind what a thief may have signed.
    package mutating func replacePublisher() throws {
        publisher = SigningKey()
        let key = publisher.publicKey
        try metadata.updateTargets(expires: Self.start + UTCTime.days(90), signers: [targets]) {
            targets throws(UpdateError) in
            try targets.delegate(
                to: Self.role,
                keys: [key],
                threshold: 1,
                paths: .patterns(["apps/\(Self.app)/collections/\(Self.collection)/*"]),
                isTerminating: true
            )
        }
    }

    /// Puts a file in place of the server's.
    package mutating func replaceFile(_ path: String, with bytes: [UInt8]) { files[path] = bytes }

    /// New keys for the timestamp, the snapshot and the director, as after a theft: the publisher's stay.
    package mutating func replaceOnlineKeys() throws {
        (snapshot, timestamp, director) = (SigningKey(), SigningKey(), SigningKey())
        let (snapshotKey, timestampKey, directorKey) = (snapshot.publicKey, timestamp.publicKey, director.publicKey)
        try metadata.updateRoot(expires: Self.start + UTCTime.days(365), signers: [root]) { root throws(UpdateError) in
            try root.setKeys([snapshotKey], threshold: 1, of: .snapshot)
            try root.setKeys([timestampKey], threshold: 1, of: .timestamp)
        }
        try metadata.updateTargets(expires: Self.start + UTCTime.days(90), signers: [targets]) {
            targets throws(UpdateError) in
            try targets.delegate(
                to: "\(Self.app)@director",
                keys: [directorKey],
                threshold: 1,
                paths: .patterns(["apps/\(Self.app)/policies/*"]),
                isTerminating: true
            )
        }
        try publishMetadata { _ in }
    }

    /// Publishes a release of archives.
    /// - Parameter vouches: whether the publisher signs for it.
    package mutating func publishRelease(
        _ number: Int,
        _ archives: [String: [UInt8]],
        counter: Int? = nil,
        selfTest: (model: String, vectors: [UInt8])? = nil,
        slowdown: Double? = nil,
        deltas: [(model: String, from: [UInt8], delta: [UInt8])] = [],
        vouches: Bool = true
    ) throws {
        var document = ReleaseDocument(
            app: Self.app,
            collection: Self.collection,
            number: number,
            counter: counter ?? number,
            created: PolicyDate(secondsSince1970: Int(Self.start.secondsSince1970)),
            models: archives.sorted { $0.key < $1.key }.map { name, bytes in
                ReleaseDocument.Model(name, archive: .init(sha256: Self.hash(bytes), length: bytes.count))
            }
        )
        for bytes in archives.values { files["/b/sha256/" + Self.hash(bytes)] = bytes }
        for (model, from, delta) in deltas {
            guard let index = document.models.firstIndex(where: { $0.name == model }) else { continue }
            let blob = ReleaseDocument.Blob(sha256: Self.hash(delta), length: delta.count)
            document.models[index].deltas.append(.init(from: Self.hash(from), blob))
            files["/b/sha256/" + Self.hash(delta)] = delta
        }
        if let selfTest, let index = document.models.firstIndex(where: { $0.name == selfTest.model }) {
            let vectors = selfTest.vectors
            document.models[index].selfTest = .init(
                vectors: .init(sha256: Self.hash(vectors), length: vectors.count),
                slowdown: slowdown
            )
            files["/b/sha256/" + Self.hash(vectors)] = vectors
        }
        let bytes = try document.bytes()
        let target = Target(path: document.target, bytes: bytes)
        if vouches { try publishMetadata { $0.set(target) } }
        files["/v1/trust/\(Self.team)/targets/\(target.location(hasConsistentSnapshots: true))"] = bytes
        references[number] = ReleaseReference(
            number: number,
            counter: document.counter,
            target: document.target,
            sha256: Self.hash(bytes),
            length: bytes.count
        )
    }

    /// Publishes the next policy.
    package mutating func publishPolicy(
        signedBy signer: UpdateFramework.SigningKey? = nil,
        version: Int? = nil,
        issued: UTCTime = start,
        lifetime: Int64 = 86_400,
        _ edit: (inout Policy) -> Void
    ) throws {
        policyVersion = version ?? policyVersion + 1
        var policy = Policy(
            version: policyVersion,
            issued: PolicyDate(secondsSince1970: Int(issued.secondsSince1970)),
            expires: PolicyDate(secondsSince1970: Int(issued.secondsSince1970 + lifetime)),
            app: Self.app,
            environment: Self.environment,
            collection: Self.collection,
            deployment: "deployment-\(policyVersion)"
        )
        policy.releases = references.values.sorted { $0.number < $1.number }
        edit(&policy)
        let text = String(decoding: try policy.bytes(), as: UTF8.self)
        var document = try SignedDocument(
            parsing: Array("{\"signatures\":[],\"signed\":\(text)}".utf8),
            role: "policy"
        )
        try document.sign(with: signer ?? director)
        files[Self.policyPath] = document.bytes
    }

    /// Publishes a policy that gives everybody one release.
    package mutating func deploy(_ number: Int) throws {
        try publishPolicy { $0.fallback = Serving(.release(number)) }
    }

    // MARK: Clients

    /// The app's bundled configuration, as a file in `folder`.
    package func configuration(
        in folder: String,
        server: String = "http://sample",
        created: UTCTime? = nil
    ) throws -> DeploymentConfiguration {
        var members = [
            "\"format\":1", "\"server\":\"\(server)\"", "\"team\":\"\(Self.team)\"", "\"app\":\"\(Self.app)\"",
            "\"environment\":\"\(Self.environment)\"", "\"root\":\"\(Data(firstRoot).base64EncodedString())\"",
        ]
        if let created { members.append("\"created\":\"\(created)\"") }
        let path = folder + "/ModelDeployment.json"
        try Data("{\(members.joined(separator: ","))}".utf8).write(to: URL(fileURLWithPath: path))
        return try DeploymentConfiguration(contentsOf: path)
    }

    package static func hash(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    /// An archive of a folder with one large file and a small one.
    package static func archive(
        named name: String,
        weights: [UInt8],
        in folder: String
    ) throws -> [UInt8] {
        let source = "\(folder)/source-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: source) }
        try Data(weights).write(to: URL(fileURLWithPath: source + "/compiled.bin"))
        try Data("[{}]".utf8).write(to: URL(fileURLWithPath: source + "/metadata.json"))
        let path = source + ".mlarchive"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try ArchiveWriter.write(
            source,
            to: path,
            model: ArchiveHeader.Model(name: name),
            created: "2026-11-23T14:00:00Z"
        )
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The delta between two archives.
    /// - Parameter key: of encrypted ones.
    package static func delta(
        from old: [UInt8],
        to new: [UInt8],
        key: ModelKey? = nil,
        in folder: String
    ) throws -> [UInt8] {
        let scratch = "\(folder)/delta-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        func model(_ bytes: [UInt8], _ name: String) throws -> DeltaWriter.Model {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(scratch)/\(name)"))
            let archive = try ModelArchive("\(scratch)/\(name)")
            guard let key, let record = try archive.record else {
                return DeltaWriter.Model(archive, contents: archive.contents)
            }
            let contentKey = try record.contentKey(key)
            let contents = try EncryptedFolder(record, contentKey: contentKey, stored: archive.files)
            return DeltaWriter.Model(archive, contents: contents, contentKey: contentKey)
        }
        let path = scratch + "/x.mldelta"
        _ = try DeltaWriter.write(from: model(old, "old"), to: model(new, "new"), path: path, share: .infinity)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// An archive of a model that is encrypted for the holder of a key.
    package static func encryptedArchive(
        named name: String,
        weights: [UInt8],
        key: ModelKey,
        in folder: String
    ) throws -> [UInt8] {
        let source = "\(folder)/source-\(UInt64.random(in: .min ... .max))"
        for part in ["clear", "sealed"] {
            try FileManager.default.createDirectory(atPath: "\(source)/\(part)", withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: source) }
        try Data(weights).write(to: URL(fileURLWithPath: source + "/clear/compiled.bin"))
        try Data("[{}]".utf8).write(to: URL(fileURLWithPath: source + "/clear/metadata.json"))
        let contentKey = try FolderEncryption.encrypt(source + "/clear", into: source + "/sealed", with: key)
        let path = source + "/a.mlarchive"
        try ArchiveWriter.write(source + "/sealed", to: path, model: .init(name: name), contentKey: contentKey)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Bytes that follow from a seed.
    package static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}
