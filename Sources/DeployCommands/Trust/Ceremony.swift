import DeploymentClient
import Foundation
import UpdateFramework

/// A change of keys on its way among those who sign it: a folder of drafts, which go round on a stick or in a repository.
struct Ceremony {
    let folder: String
    /// The root that the new one follows, and whose keys have to sign it, too.
    let trustedRoot: SignedDocument
    private(set) var drafts: [String: SignedDocument]
    private(set) var plan: Plan

    struct Plan: Codable {
        let format: Int
        let server: String
        let team: String
    }

    private static let trustedName = "trusted-root.json"
    private static let planName = "ceremony.json"

    // MARK: Beginning

    /// Who gets which role.
    struct Appointments {
        var root: [PublicKey] = []
        var rootThreshold = 1
        var targets: [PublicKey] = []
        var targetsThreshold = 1
        /// Publishers by the roles of collections, `app.collection`.
        var publishers: [String: [PublicKey]] = [:]
        var rootDays = 365
        var targetsDays = 180
    }

    /// Drafts the next root, and the targets metadata of whoever gets other keys.
    init(_ repository: TrustRepository, _ wish: Appointments, folder: String, at now: UTCTime) throws {
        let metadata = try repository.metadata()
        self.folder = folder
        trustedRoot = repository.root
        plan = Plan(
            format: 1,
            server: repository.configuration.server.absoluteString,
            team: repository.configuration.team
        )
        drafts = [:]
        drafts["root"] = try metadata.rootDraft(expires: now + UTCTime.days(wish.rootDays)) {
            root throws(UpdateError) in
            if !wish.root.isEmpty { try root.setKeys(wish.root, threshold: wish.rootThreshold, of: .root) }
            if !wish.targets.isEmpty { try root.setKeys(wish.targets, threshold: wish.targetsThreshold, of: .targets) }
        }
        guard !wish.targets.isEmpty || !wish.publishers.isEmpty else { return }
        let expires = now + UTCTime.days(wish.targetsDays)
        drafts["targets"] = try metadata.targetsDraft(expires: expires) { targets throws(UpdateError) in
            for (role, keys) in wish.publishers.sorted(by: { $0.key < $1.key }) {
                let parts = role.split(separator: ".", maxSplits: 1)
                guard parts.count == 2 else {
                    throw UpdateError(.invalidEdit, role, "it is no role of a collection", remedy: "Say app.collection")
                }
                try targets.delegate(
                    to: role,
                    keys: keys,
                    threshold: 1,
                    paths: .patterns(["apps/\(parts[0])/collections/\(parts[1])/*"]),
                    isTerminating: true
                )
            }
        }
        for role in wish.publishers.keys {
            drafts[role] = try metadata.targetsDraft(role, expires: expires)
        }
    }

    /// Reads a ceremony that was begun.
    init(folder: String) throws {
        func read(_ name: String) throws -> Data {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw Failure("\(folder) is no folder of coreml trust ceremony begin: it has no \(name).")
            }
            return data
        }
        self.folder = folder
        do { plan = try JSONDecoder().decode(Plan.self, from: try read(Self.planName)) } catch let error
            as DecodingError
        {
            throw Failure("\(folder)/\(Self.planName) cannot be read: \(error)")
        }
        guard plan.format == 1 else { throw Failure("\(folder) was begun by a newer version.") }
        trustedRoot = try SignedDocument(parsing: Array(try read(Self.trustedName)), role: "root")
        drafts = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".draft.json") {
            let role = String(name.dropLast(11))
            drafts[role] = try SignedDocument(parsing: Array(try read(name)), role: role)
        }
        guard drafts["root"] != nil else { throw Failure("\(folder) has no draft of a root.") }
    }

    func write() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        var files = [(Self.planName, try encoder.encode(plan)), (Self.trustedName, Data(trustedRoot.bytes))]
        for (role, draft) in drafts { files.append(("\(role).draft.json", Data(draft.bytes))) }
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: "\(folder)/\(name)"), options: .atomic) }
    }

    // MARK: Signing

    /// What a draft still lacks, delegator by delegator.
    struct Lack {
        let role: String
        /// Whose keys: those of the root before, or those that the drafts name.
        let whose: String
        let keys: RoleKeys
        let signers: [String]
        var missing: Int { max(0, keys.threshold - signers.count) }
    }

    /// Whose signatures each draft needs.
    func lacks() throws -> [Lack] {
        guard let draft = drafts["root"] else { return [] }
        let (old, new) = (try Root(trustedRoot.signed, role: "root"), try Root(draft.signed, role: "root"))
        var lacks: [Lack] = []
        func add(_ role: String, _ whose: String, _ keys: RoleKeys) throws {
            guard let draft = drafts[role] else { return }
            lacks.append(Lack(role: role, whose: whose, keys: keys, signers: try draft.signers(keys)))
        }
        try add("root", "of the root before", old.keys(of: .root))
        try add("root", "of the new root", new.keys(of: .root))
        try add("targets", "of the new root's targets", new.keys(of: .targets))
        let targets = try drafts["targets"].map { try Targets($0.signed, role: "targets") }
        for role in drafts.keys.sorted() where !["root", "targets"].contains(role) {
            guard let keys = targets?.keys(ofDelegated: role) else { continue }
            try add(role, "of its publisher", keys)
        }
        return lacks
    }

    /// Signs every draft that the key may sign.
    /// - Returns: the roles.
    mutating func sign(with key: SigningKey) throws -> [String] {
        let id = try key.publicKey.id
        let roles = Set(try lacks().filter { $0.keys.keyIDs.contains(id) }.map(\.role)).sorted()
        guard !roles.isEmpty else { throw Failure("The key \(id.prefix(16)) has no part in this ceremony.") }
        for role in roles { try drafts[role]?.sign(with: key) }
        return roles
    }

    /// The files to upload, and what is missing that the server cannot add: it may hold keys of the root before alone.
    func finished() throws -> [String: Data] {
        for lack in try lacks() where lack.missing > 0 && lack.whose != "of the root before" {
            throw Failure("\(lack.role): \(lack.missing) more of the keys \(lack.whose) must sign.")
        }
        return drafts.mapValues { Data($0.bytes) }
    }
}
