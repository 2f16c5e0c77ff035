import DeploymentClient
import Foundation
import UpdateFramework

/// A change of signing keys in progress: a folder of drafts that the key holders pass on to each other to sign.
struct Ceremony {
    let folder: String
    /// The root that the new one follows, whose keys have to sign the new one, too.
    let trustedRoot: SignedDocument
    /// The top-level targets that precede those of the drafts.
    let trustedTargets: SignedDocument?
    private(set) var drafts: [String: SignedDocument]
    private(set) var plan: Plan

    struct Plan: Codable {
        let format: Int
        let server: String
        let team: String
    }

    private static let trustedName = "trusted-root.json"
    private static let trustedTargetsName = "trusted-targets.json"
    private static let planName = "ceremony.json"

    // MARK: Beginning

    /// The keys and thresholds to give to each role.
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

    /// Drafts the next root, and the targets metadata of the roles that get other keys.
    init(_ repository: TrustRepository, _ wish: Appointments, folder: String, at now: UTCTime) throws {
        let metadata = try repository.metadata()
        self.folder = folder
        trustedRoot = repository.root
        trustedTargets = repository.targets["targets"]
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
                    throw UpdateError(
                        .invalidEdit,
                        role,
                        "it is not a role of a collection",
                        remedy: "Say app.collection"
                    )
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

    /// Makes a ceremony of the drafts that wait on the server for the holders of root and targets keys.
    ///
    /// It throws when the drafts do not follow the metadata that devices trust.
    init(_ repository: TrustRepository, waiting: [PendingDraft], folder: String) throws {
        self.folder = folder
        trustedRoot = repository.root
        trustedTargets = repository.targets["targets"]
        plan = Plan(
            format: 1,
            server: repository.configuration.server.absoluteString,
            team: repository.configuration.team
        )
        drafts = [:]
        let metadata = try repository.metadata()
        for draft in waiting where ["root", "targets"].contains(draft.role) {
            let document = try SignedDocument(parsing: Array(draft.document), role: draft.role)
            let (version, old) =
                draft.role == "root"
                ? (try Root(document.signed, role: "root").version, try metadata.rootMetadata.version)
                : (
                    try Targets(document.signed, role: "targets").version,
                    try metadata.targetsMetadata("targets")?.version ?? 0
                )
            guard version == old + 1 else {
                throw Failure(
                    "The server's draft of \(draft.role) is version \(version), which does not follow \(old)."
                )
            }
            drafts[draft.role] = document
        }
        guard !drafts.isEmpty else { throw Failure("No draft waits for the holders of root or targets.") }
    }

    /// Reads a ceremony that was started.
    init(folder: String) throws {
        func read(_ name: String) throws -> Data {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw Failure("\(folder) is not a folder made by coreml trust ceremony begin: it has no \(name).")
            }
            return data
        }
        self.folder = folder
        do { plan = try JSONDecoder().decode(Plan.self, from: try read(Self.planName)) } catch let error
            as DecodingError
        {
            throw Failure("\(folder)/\(Self.planName) cannot be read: \(error)")
        }
        guard plan.format == 1 else { throw Failure("\(folder) was started by a newer version.") }
        trustedRoot = try SignedDocument(parsing: Array(try read(Self.trustedName)), role: "root")
        trustedTargets = try FileManager.default.contents(atPath: folder + "/" + Self.trustedTargetsName).map {
            try SignedDocument(parsing: Array($0), role: "targets")
        }
        drafts = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".draft.json") {
            let role = String(name.dropLast(11))
            drafts[role] = try SignedDocument(parsing: Array(try read(name)), role: role)
        }
        guard !drafts.isEmpty else { throw Failure("\(folder) has no drafts.") }
    }

    func write() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        var files = [(Self.planName, try encoder.encode(plan)), (Self.trustedName, Data(trustedRoot.bytes))]
        if let trustedTargets { files.append((Self.trustedTargetsName, Data(trustedTargets.bytes))) }
        for (role, draft) in drafts { files.append(("\(role).draft.json", Data(draft.bytes))) }
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: "\(folder)/\(name)"), options: .atomic) }
    }

    /// The root that devices trust and the one that follows it; both are the same when no new one is drafted.
    func roots() throws -> (old: Root, new: Root) {
        let old = try Root(trustedRoot.signed, role: "root")
        return (old, try drafts["root"].map { try Root($0.signed, role: "root") } ?? old)
    }

    /// The delegations of the drafted targets that are new or have other keys, as text.
    func delegationChanges() throws -> [String] {
        guard let draft = drafts["targets"] else { return [] }
        let new = try Targets(draft.signed, role: "targets")
        let old = try trustedTargets.map { try Targets($0.signed, role: "targets") }
        func names(_ keys: RoleKeys?) -> String {
            keys?.keyIDs.map { String($0.prefix(16)) }.joined(separator: " ") ?? ""
        }
        let changed = (new.delegations?.roles ?? []).compactMap { role -> String? in
            let (before, after) = (old?.keys(ofDelegated: role.name), new.keys(ofDelegated: role.name))
            if before?.keyIDs == after?.keyIDs, before?.threshold == after?.threshold { return nil }
            guard case .patterns(let patterns) = role.paths else {
                return "\(role.name): hashed paths, which are not supported"
            }
            let paths = patterns.joined(separator: " ")
            return before == nil
                ? "\(role.name) (\(paths)): new, signed by \(names(after))"
                : "\(role.name) (\(paths)): \(names(before)) → \(names(after))"
        }
        let kept = Set(new.delegations?.roles.map(\.name) ?? [])
        return changed
            + (old?.delegations?.roles.map(\.name) ?? []).filter { !kept.contains($0) }.map { "\($0): REMOVED" }
    }

    // MARK: Signing

    /// The signatures that a draft still lacks from the keys of one delegator.
    struct MissingSignatures {
        let role: String
        /// The owners of the keys: those of the previous root, or those that the drafts name.
        let whose: String
        let keys: RoleKeys
        let signers: [String]
        var missing: Int { max(0, keys.threshold - signers.count) }
    }

    /// The signatures that each draft needs.
    func missingSignatures() throws -> [MissingSignatures] {
        let (old, new) = try roots()
        var missingSignatures: [MissingSignatures] = []
        func add(_ role: String, _ whose: String, _ keys: RoleKeys) throws {
            guard let draft = drafts[role] else { return }
            missingSignatures.append(
                MissingSignatures(role: role, whose: whose, keys: keys, signers: try draft.signers(keys))
            )
        }
        try add("root", "of the previous root", old.keys(of: .root))
        try add("root", "of the new root", new.keys(of: .root))
        try add("targets", "of the new root's targets", new.keys(of: .targets))
        let targets = try (drafts["targets"] ?? trustedTargets).map { try Targets($0.signed, role: "targets") }
        for role in drafts.keys.sorted() where !["root", "targets"].contains(role) {
            guard let keys = targets?.keys(ofDelegated: role) else { continue }
            try add(role, "of its publisher", keys)
        }
        return missingSignatures
    }

    /// Signs every draft that the key may sign, and returns their roles.
    mutating func sign(with key: SigningKey) throws -> [String] {
        let id = try key.publicKey.id
        let roles = Set(try missingSignatures().filter { $0.keys.keyIDs.contains(id) }.map(\.role)).sorted()
        guard !roles.isEmpty else { throw Failure("The key \(id.prefix(16)) is not part of this ceremony.") }
        for role in roles { try drafts[role]?.sign(with: key) }
        return roles
    }

    /// The files to upload; throws when signatures are missing that the server cannot add.
    ///
    /// The server can add only those of keys of the previous root that it holds.
    func finished() throws -> [String: Data] {
        for lack in try missingSignatures() where lack.missing > 0 && lack.whose != "of the previous root" {
            throw Failure("\(lack.role): \(lack.missing) more of the keys \(lack.whose) must sign.")
        }
        return drafts.mapValues { Data($0.bytes) }
    }
}
