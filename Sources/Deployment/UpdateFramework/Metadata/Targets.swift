/// Targets metadata: the files to be trusted, and the roles that may vouch for some (TUF specification, section 4.5).
public struct Targets: RoleMetadata {
    /// The type `targets`.
    public static let type = MetadataType.targets

    /// The members that all roles have in common.
    public var header: Header
    /// The files by path.
    public private(set) var targets: [Name: Target]
    /// The roles that this one delegates to; `nil` for none.
    public private(set) var delegations: Delegations?
    private var other: [Name: MetadataValue] = [:]

    /// Creates targets metadata without files.
    public init(header: Header) {
        self.header = header
        targets = [:]
    }

    /// Reads the `signed` part of targets metadata; throws `malformed`, `wrongType` or `unsupportedKey`.
    public init(_ signed: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(signed, role: role, place: "signed")
        header = try Header(&fields, type: .targets)
        targets = [:]
        for (path, value) in try fields.object("targets") {
            targets[path] = try Target(path: path.text, value, role: role)
        }
        if let value = fields.take("delegations") { delegations = try Delegations(value, role: role) }
        other = fields.rest
    }

    /// The `signed` part of the targets metadata.
    public var signed: MetadataValue {
        var members = other.merging(header.members(.targets)) { $1 }
        members["targets"] = .object(targets.mapValues(\.json))
        members["delegations"] = delegations?.json
        return .object(members)
    }

    /// The file with a path; `nil` when this role does not list it.
    public func target(_ path: String) -> Target? { targets[Name(path)] }

    /// The keys and threshold of a role that this one delegates to; `nil` when it does not.
    public func keys(ofDelegated name: String) -> RoleKeys? { delegations?.keys(of: name) }

    // MARK: Editing

    /// Adds a file, replacing an older one with the same path.
    public mutating func set(_ target: Target) { targets[Name(target.path)] = target }

    /// Removes the file with a path.
    public mutating func removeTarget(_ path: String) { targets[Name(path)] = nil }

    /// Delegates to a role, replacing an older delegation with the same name, else after all others.
    ///
    /// - Parameters:
    ///   - name: the role's name, which is not one of the top-level roles.
    ///   - keys: the keys that may sign for it.
    ///   - threshold: the number of keys that must sign.
    ///   - paths: the targets that it is trusted for.
    ///   - isTerminating: whether no later role is asked about these paths.
    /// - Throws: `invalidEdit` for an impossible name, or fewer keys than must sign.
    public mutating func delegate(
        to name: String,
        keys: [PublicKey],
        threshold: Int,
        paths: DelegatedPaths,
        isTerminating: Bool
    ) throws(UpdateError) {
        var delegations = self.delegations ?? Delegations()
        try delegations.set(name, keys: keys, threshold: threshold, paths: paths, isTerminating: isTerminating)
        self.delegations = delegations
    }

    /// Removes the delegation to a role.
    public mutating func removeDelegation(to name: String) { delegations?.remove(name) }
}

/// The targets that a role is trusted for.
public enum DelegatedPaths: Sendable {
    /// Patterns whose `*`, `?` and `[…]` match within one component of a path.
    case patterns([String])
    /// The first hexadecimal digits of the SHA-256 of a path.
    case hashPrefixes([String])

    /// Whether a path is among them.
    public func contain(_ path: String) -> Bool {
        switch self {
        case .patterns(let patterns): return patterns.contains { PathPattern.matches(path, $0) }
        case .hashPrefixes(let prefixes):
            let digits = FileHashes(of: Array(path.utf8)).first.utf8
            return prefixes.contains { digits.starts(with: $0.utf8) }
        }
    }
}

/// The roles that targets metadata delegates to, in the order in which they are asked.
public struct Delegations: Sendable {
    /// A role that is delegated to.
    public struct Role: Sendable {
        /// The role's name, unique among the delegations.
        public let name: String
        /// The targets that the role is trusted for.
        public let paths: DelegatedPaths
        /// Whether no later role is asked about its paths.
        public let isTerminating: Bool
        fileprivate let entry: RoleEntry

        fileprivate init(name: String, paths: DelegatedPaths, isTerminating: Bool, entry: RoleEntry) {
            self.name = name
            self.paths = paths
            self.isTerminating = isTerminating
            self.entry = entry
        }

        fileprivate init(_ value: MetadataValue, role: String) throws(UpdateError) {
            var fields = try Fields(value, role: role, place: "a delegation")
            name = try fields.string("name")
            isTerminating = try fields.bool("terminating")
            switch (fields.rest["paths"] != nil, fields.rest["path_hash_prefixes"] != nil) {
            case (true, false): paths = .patterns(try fields.strings("paths"))
            case (false, true): paths = .hashPrefixes(try fields.strings("path_hash_prefixes"))
            default: throw .malformed(role, "a delegation needs either paths or path_hash_prefixes")
            }
            entry = try RoleEntry(&fields)
        }

        fileprivate var json: MetadataValue {
            var members = entry.members
            members["name"] = .string(name)
            members["terminating"] = .bool(isTerminating)
            switch paths {
            case .patterns(let patterns): members["paths"] = .array(patterns.map { .string($0) })
            case .hashPrefixes(let prefixes): members["path_hash_prefixes"] = .array(prefixes.map { .string($0) })
            }
            return .object(members)
        }
    }

    /// The roles in the order in which they are asked.
    public private(set) var roles: [Role] = []
    private var keys: [Name: PublicKey] = [:]
    private var other: [Name: MetadataValue] = [:]

    init() {}

    init(_ value: MetadataValue, role: String) throws(UpdateError) {
        var fields = try Fields(value, role: role, place: "delegations")
        guard fields.rest["succinct_roles"] == nil else {
            throw .malformed(role, "hash bins by name (succinct_roles, TAP 15) are not part of the specification")
        }
        keys = try Root.keys(try fields.object("keys"), role: role)
        var names: Set<Name> = []
        for value in try fields.array("roles") {
            let delegated = try Role(value, role: role)
            guard Self.isName(delegated.name), names.insert(Name(delegated.name)).inserted else {
                throw .malformed(role, "\"\(delegated.name.prefix(80))\" cannot be delegated to, or is so twice")
            }
            roles.append(delegated)
        }
        other = fields.rest
    }

    /// Whether a role may have a name: only root appoints the top-level roles.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !MetadataType.allCases.contains { Name($0.rawValue) == Name(name) }
    }

    var json: MetadataValue {
        .object(
            other.merging([
                "keys": .object(keys.mapValues(\.json)), "roles": .array(roles.map(\.json)),
            ]) { $1 }
        )
    }

    /// The keys and threshold of a role; `nil` when it is not delegated to.
    public func keys(of name: String) -> RoleKeys? {
        roles.first { Name($0.name) == Name(name) }.map { $0.entry.roleKeys($0.name, keys) }
    }

    /// The roles that are trusted for a path, in order, up to the first that terminates.
    func roles(for path: String) -> (roles: [Role], isTerminated: Bool) {
        var found: [Role] = []
        for role in roles where role.paths.contain(path) {
            found.append(role)
            if role.isTerminating { return (found, true) }
        }
        return (found, false)
    }

    mutating func set(
        _ name: String,
        keys newKeys: [PublicKey],
        threshold: Int,
        paths: DelegatedPaths,
        isTerminating: Bool
    ) throws(UpdateError) {
        guard Self.isName(name) else {
            throw UpdateError(.invalidEdit, name, "a role cannot have this name", remedy: "Choose another name")
        }
        let place = roles.firstIndex { Name($0.name) == Name(name) }
        let kept = place.map { roles[$0].entry }
        let entry = try RoleEntry(newKeys, threshold: threshold, into: &keys, kept: kept, role: name)
        let role = Role(name: name, paths: paths, isTerminating: isTerminating, entry: entry)
        if let place { roles[place] = role } else { roles.append(role) }
        dropUnusedKeys()
    }

    mutating func remove(_ name: String) {
        roles.removeAll { Name($0.name) == Name(name) }
        dropUnusedKeys()
    }

    private mutating func dropUnusedKeys() {
        let used = Set(roles.flatMap { $0.entry.keyIDs.map { Name($0) } })
        keys = keys.filter { used.contains($0.key) }
    }
}
